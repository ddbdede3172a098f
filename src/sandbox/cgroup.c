/* cgroups: made by name, limited through their files, removed when empty. */

#include "sandbox/cgroup.h"

#include "base/buf.h"
#include "sys/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { V2, V1_CPU, V1_MEMORY, V1_PIDS };
enum { PERIOD_US = 100 * 1000, LEAST_QUOTA_US = 1000 };
enum { RETRY_NS = 5 * 1000 * 1000 };

static char *join(const char *dir, str name)
{
    char *out = NULL;

    if (!dir)
        return NULL;
    if (asprintf(&out, name.n ? "%s/%" PRI_STR : "%s%" PRI_STR, dir, STR_ARG(name)) < 0)
        abort();
    return out;
}

struct warden_cgroup warden_cgroup_of(const struct warden_sandbox *s, str name)
{
    if (s->cgroup_flat && name.n)
        return (struct warden_cgroup){ 0 };
    return (struct warden_cgroup){
        .flat = s->cgroup_flat,
        .dirs = { [V2] = join(s->cgroup2, name),
                  [V1_CPU] = join(s->cgroup1_cpu, name),
                  [V1_MEMORY] = join(s->cgroup1_memory, name),
                  [V1_PIDS] = join(s->cgroup1_pids, name) },
        .v2 = s->cgroup2 != NULL,
    };
}

void warden_cgroup_done(struct warden_cgroup *c)
{
    for (int i = 0; i < WARDEN_CGROUPS; i++)
        free(TAKE(c->dirs[i]));
}

static int put(const char *dir, const char *file, const char *text)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    return sys_write_file(AT_FDCWD, path, text);
}

/* Those below the pod's and its parent's get their controllers; a container's own holds processes,
 * and so must not pass them on. */
static void delegate(const char *dir, bool flat)
{
    static const char *const wanted[] = { "+memory", "+cpu", "+pids" };
    char parent[PATH_MAX];

    snprintf(parent, sizeof(parent), "%.*s", (int)(strrchr(dir, '/') - dir), dir);
    for (size_t i = 0; i < COUNT(wanted); i++) { /* as far as there are, and as we may */
        put(parent, "cgroup.subtree_control", wanted[i]);
        if (!flat)
            put(dir, "cgroup.subtree_control", wanted[i]);
    }
}

int warden_cgroup_make(const struct warden_cgroup *c, bool pod, struct err *e)
{
    for (int i = 0; i < WARDEN_CGROUPS; i++)
        if (c->dirs[i] && sys_mkdirs(c->dirs[i], 0755) < 0)
            return err_sys(e, "make cgroup %s", c->dirs[i]);
    if (c->dirs[V2] && pod)
        delegate(c->dirs[V2], c->flat);
    return 0;
}

static int put_number(const char *dir, const char *file, int64_t n, struct err *e)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRId64, n);
    return put(dir, file, text) < 0 ? err_sys(e, "set %s", file) : 0;
}

int warden_cgroup_join(const struct warden_cgroup *c, pid_t pid, struct err *e)
{
    for (int i = 0; i < WARDEN_CGROUPS; i++)
        if (c->dirs[i] && put_number(c->dirs[i], "cgroup.procs", pid, e) < 0)
            return -1;
    return 0;
}

static bool has(const char *dir, const char *file)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    return access(path, W_OK) == 0;
}

static int limit_memory(const struct warden_cgroup *c, int64_t bytes, bool *kept, struct err *e)
{
    static const struct {
        int dir;
        const char *file;
    } at[] = { { V2, "memory.max" }, { V1_MEMORY, "memory.limit_in_bytes" } };

    for (size_t i = 0; bytes && i < COUNT(at); i++) {
        const char *dir = c->dirs[at[i].dir];
        if (!dir || !has(dir, at[i].file))
            continue;
        if (put_number(dir, at[i].file, bytes, e) < 0)
            return -1;
        if (at[i].dir == V2) {
            put(dir, "memory.oom.group", "1"); /* as kubelet: the whole container, not one */
            put(dir, "memory.swap.max", "0");
        }
        *kept = true;
    }
    return 0;
}

static int limit_cpu(const struct warden_cgroup *c, const struct warden_limits *l, struct err *e)
{
    char text[64];
    int64_t quota = l->cpu_milli * PERIOD_US / 1000;
    /* as kubelet maps shares, 2 to 262144, to weights, 1 to 10000 */
    int64_t weight = l->cpu_shares ? 1 + (l->cpu_shares - 2) * 9999 / 262142 : 0;

    quota = quota && quota < LEAST_QUOTA_US ? LEAST_QUOTA_US : quota;
    if (c->dirs[V2] && quota && has(c->dirs[V2], "cpu.max")) {
        snprintf(text, sizeof(text), "%" PRId64 " %d", quota, PERIOD_US);
        if (put(c->dirs[V2], "cpu.max", text) < 0)
            return err_sys(e, "set cpu.max");
    }
    if (c->dirs[V2] && weight > 0 && has(c->dirs[V2], "cpu.weight"))
        put_number(c->dirs[V2], "cpu.weight", weight, NULL);
    if (c->dirs[V1_CPU] && quota &&
        (put_number(c->dirs[V1_CPU], "cpu.cfs_period_us", PERIOD_US, e) < 0 ||
         put_number(c->dirs[V1_CPU], "cpu.cfs_quota_us", quota, e) < 0))
        return -1;
    if (c->dirs[V1_CPU] && l->cpu_shares)
        put_number(c->dirs[V1_CPU], "cpu.shares", l->cpu_shares, NULL);
    return 0;
}

int warden_cgroup_limit(const struct warden_cgroup *c, const struct warden_limits *l, bool *memory,
                        struct err *e)
{
    *memory = false;
    if (limit_memory(c, l->memory_bytes, memory, e) < 0 || limit_cpu(c, l, e) < 0)
        return -1;
    if (l->pids && c->dirs[V2] && has(c->dirs[V2], "pids.max") &&
        put_number(c->dirs[V2], "pids.max", l->pids, e) < 0)
        return -1;
    if (l->pids && c->dirs[V1_PIDS])
        return put_number(c->dirs[V1_PIDS], "pids.max", l->pids, e);
    return 0;
}

void warden_cgroup_open(const struct warden_cgroup *c, int fds[WARDEN_CGROUPS])
{
    for (int i = 0; i < WARDEN_CGROUPS; i++) {
        char path[PATH_MAX];
        fds[i] = -1;
        if (!c->dirs[i])
            continue;
        snprintf(path, sizeof(path), "%s/cgroup.procs", c->dirs[i]);
        fds[i] = open(path, O_WRONLY | O_CLOEXEC);
    }
}

static bool counts(const char *dir, const char *file, const char *key)
{
    char path[PATH_MAX];
    char text[4096];

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    if (sys_read_file(AT_FDCWD, path, text, sizeof(text)) < 0)
        return false;
    for (str rest = str_of(text); rest.p;) {
        str line = str_cut(&rest, '\n');
        str word = str_cut(&line, ' ');
        if (str_eqz(word, key))
            return line.n && !str_eqz(line, "0");
    }
    return false;
}

bool warden_cgroup_oom(const struct warden_cgroup *c)
{
    return (c->dirs[V2] && counts(c->dirs[V2], "memory.events", "oom_kill")) ||
           (c->dirs[V1_MEMORY] && counts(c->dirs[V1_MEMORY], "memory.oom_control", "oom_kill"));
}

void warden_cgroup_kill(const struct warden_cgroup *c)
{
    if (c->dirs[V2])
        put(c->dirs[V2], "cgroup.kill", "1");
}

static void remove_tree(const char *dir, int depth)
{
    DIR *d = depth < 8 ? opendir(dir) : NULL;

    for (struct dirent *at; d && (at = readdir(d));) {
        char path[PATH_MAX];
        if (at->d_type != DT_DIR || at->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%.3000s/%s", dir, at->d_name);
        remove_tree(path, depth + 1);
    }
    if (d)
        closedir(d);
    /* A dead process may be counted for a moment longer. */
    for (int i = 0; rmdir(dir) < 0 && errno == EBUSY && i < 200; i++)
        nanosleep(&(struct timespec){ .tv_nsec = RETRY_NS }, NULL);
}

void warden_cgroup_remove(const struct warden_cgroup *c)
{
    for (int i = 0; i < WARDEN_CGROUPS; i++)
        if (c->dirs[i])
            remove_tree(c->dirs[i], 0);
}
