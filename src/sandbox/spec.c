/* Reads what a warden is told. Everything is checked here, once: texts without NUL, absolute paths
 * without "..", names fit for files and cgroups, numbers in range. */

#include "sandbox/spec.h"

#include <inttypes.h>
#include <limits.h>

/* Reading goes on after the first mistake, which is the one told. */
struct reader {
    struct arena *a;
    struct err *e;
    bool bad;
};

__attribute__((format(printf, 3, 4))) static void wrong(struct reader *r, const char *field,
                                                        const char *fmt, ...)
{
    va_list ap;

    if (r->bad)
        return;
    r->bad = true;
    va_start(ap, fmt);
    str why = arena_vprintf(r->a, fmt, ap);
    va_end(ap);
    err_set(r->e, ERR_INVALID, "%s: %" PRI_STR, field, STR_ARG(why));
}

static const char *text(struct reader *r, jv v, const char *field)
{
    if (jv_is_null(v))
        return NULL;
    str s = jv_str(v, STR_NONE);
    if (!jv_is(v, JV_STR) || (s.n && memchr(s.p, 0, s.n))) {
        wrong(r, field, "must be a text without NUL");
        return NULL;
    }
    return arena_z(r->a, s);
}

static bool climbs(const char *path)
{
    for (str rest = str_of(path); rest.p;)
        if (str_eqz(str_cut(&rest, '/'), ".."))
            return true;
    return false;
}

/* Absolute, and short enough for the kernel. An empty one is none. */
static const char *path(struct reader *r, jv v, const char *field)
{
    const char *p = text(r, v, field);

    if (!p || !*p)
        return NULL;
    if (*p != '/' || climbs(p) || strlen(p) >= PATH_MAX) {
        wrong(r, field, "must be an absolute path without '..'");
        return NULL;
    }
    return p;
}

static int64_t number(struct reader *r, jv v, const char *field, int64_t least, int64_t most,
                      int64_t fallback)
{
    if (jv_is_null(v))
        return fallback;
    int64_t i = jv_int(v, 0);
    if (!jv_is(v, JV_INT) || i < least || i > most) {
        wrong(r, field, "must be a number from %" PRId64 " to %" PRId64, least, most);
        return fallback;
    }
    return i;
}

static str name(struct reader *r, jv v, const char *field)
{
    str s = jv_str(v, STR_NONE);
    bool fit = s.n > 0 && s.n < WARDEN_NAME_BYTES && s.p[0] != '-';

    for (size_t i = 0; fit && i < s.n; i++)
        fit = (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
              (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '-';
    if (!fit)
        wrong(r, field, "must be letters, digits and '-', at most 63");
    return arena_str(r->a, fit ? s : S("x"));
}

/* ["NAME=value"], or [{name, value}] as Kubernetes writes them. */
static struct warden_list list(struct reader *r, jv v, const char *field)
{
    struct warden_list l = { 0 };

    if (!jv_is_null(v) && !jv_is(v, JV_ARR))
        wrong(r, field, "must be a list");
    l.at = ARENA_ARRAY(r->a, const char *, jv_len(v) + 1);
    for (struct jv_iter it = jv_iter(v); jv_is(v, JV_ARR) && jv_next(&it);) {
        const char *s = jv_is(it.value, JV_OBJ) ? NULL : text(r, it.value, field);
        if (jv_is(it.value, JV_OBJ)) {
            const char *key = text(r, jv_at(it.value, "name"), field);
            const char *value = text(r, jv_at(it.value, "value"), field);
            s = arena_printf(r->a, "%s=%s", key ? key : "", value ? value : "").p;
        }
        if (s)
            l.at[l.n++] = s;
    }
    return l;
}

static struct warden_mount *mounts(struct reader *r, jv v, size_t *n)
{
    struct warden_mount *ms = ARENA_ARRAY(r->a, struct warden_mount, jv_len(v) + 1);

    *n = 0;
    JV_EACH (it, v) {
        struct warden_mount m = { .from = path(r, jv_at(it.value, "from"), "mounts[].from"),
                                  .to = path(r, jv_at(it.value, "to"), "mounts[].to"),
                                  .subpath =
                                      text(r, jv_at(it.value, "subpath"), "mounts[].subpath"),
                                  .ro = jv_bool(jv_at(it.value, "ro"), false) };
        if (m.subpath && !*m.subpath)
            m.subpath = NULL;
        if (m.subpath && (*m.subpath == '/' || climbs(m.subpath)))
            wrong(r, "mounts[].subpath", "must be a relative path without '..'");
        if (!m.from || !m.to || m.to[strspn(m.to, "/")] == 0)
            wrong(r, "mounts[]", "needs from, and to that is not the root");
        else
            ms[(*n)++] = m;
    }
    return ms;
}

static struct warden_rlimit *rlimits(struct reader *r, jv v, size_t *n)
{
    static const struct {
        const char *name;
        int what;
    } known[] = {
        { "as", RLIMIT_AS },         { "core", RLIMIT_CORE },
        { "cpu", RLIMIT_CPU },       { "data", RLIMIT_DATA },
        { "fsize", RLIMIT_FSIZE },   { "memlock", RLIMIT_MEMLOCK },
        { "nofile", RLIMIT_NOFILE }, { "nproc", RLIMIT_NPROC },
        { "stack", RLIMIT_STACK },   { "sigpending", RLIMIT_SIGPENDING },
    };
    struct warden_rlimit *ls = ARENA_ARRAY(r->a, struct warden_rlimit, COUNT(known));

    *n = 0;
    for (size_t i = 0; i < COUNT(known); i++) {
        jv at = jv_get(v, str_of(known[i].name));
        if (jv_is_null(at))
            continue;
        jv soft = jv_is(at, JV_ARR) ? jv_index(at, 0) : at;
        jv hard = jv_is(at, JV_ARR) ? jv_index(at, 1) : at;
        int64_t s = number(r, soft, "rlimits", -1, INT64_MAX, -1);
        int64_t h = number(r, hard, "rlimits", -1, INT64_MAX, -1);
        ls[(*n)++] = (struct warden_rlimit){
            .what = known[i].what,
            .to = { s < 0 ? RLIM_INFINITY : (rlim_t)s, h < 0 ? RLIM_INFINITY : (rlim_t)h },
        };
    }
    return ls;
}

static struct warden_list homes(struct reader *r, jv v)
{
    struct warden_list l = { .at = ARENA_ARRAY(r->a, const char *, jv_len(v) + 1) };

    JV_EACH (it, v) {
        const char *p = path(r, it.value, "over.homes");
        if (p && p[strspn(p, "/")])
            l.at[l.n++] = p;
    }
    return l;
}

static void sandbox_over(struct reader *r, jv v, struct warden_sandbox *s)
{
    s->over_disk = jv_bool(jv_at(v, "disk"), false);
    s->over_bytes = number(r, jv_at(v, "bytes"), "over.bytes", 0, INT64_MAX, 0);
    s->homes = homes(r, jv_at(v, "homes"));
}

static void sandbox_net(struct reader *r, jv v, struct warden_sandbox *s)
{
    s->host_net = jv_bool(jv_at(v, "host"), false);
    s->net_ns = path(r, jv_at(v, "ns"), "net.ns");
    s->user_ns = path(r, jv_at(v, "user_ns"), "net.user_ns");
    s->ip = arena_str(r->a, jv_str(jv_at(v, "ip"), STR_NONE));
}

int warden_sandbox_read(struct arena *a, jv v, struct warden_sandbox *s, struct err *e)
{
    struct reader r = { .a = a, .e = e };
    str level = jv_str(jv_at(v, "isolation"), S("namespaces"));
    jv cg = jv_at(v, "cgroup");

    *s = (struct warden_sandbox){
        .uid = name(&r, jv_at(v, "uid"), "uid"),
        .shared = str_eqz(level, "shared"),
        .with_node = jv_bool(jv_at(v, "with_node"), false),
        .hostname = text(&r, jv_at(v, "hostname"), "hostname"),
        .tmp = path(&r, jv_at(v, "tmp"), "tmp"),
        .preload = path(&r, jv_at(v, "preload"), "preload"),
        .env = list(&r, jv_at(v, "env"), "env"),
        .rootfs = path(&r, jv_at(v, "rootfs"), "rootfs"),
        .cgroup2 = path(&r, jv_at(cg, "v2"), "cgroup.v2"),
        .cgroup1_cpu = path(&r, jv_at(cg, "v1", "cpu"), "cgroup.v1.cpu"),
        .cgroup1_memory = path(&r, jv_at(cg, "v1", "memory"), "cgroup.v1.memory"),
        .cgroup1_pids = path(&r, jv_at(cg, "v1", "pids"), "cgroup.v1.pids"),
        .shm_bytes = number(&r, jv_at(v, "shm_bytes"), "shm_bytes", 0, INT64_MAX, 0),
        .pids = number(&r, jv_at(v, "pids"), "pids", 0, INT32_MAX, 0),
    };
    if (!s->shared && !str_eqz(level, "namespaces"))
        wrong(&r, "isolation", "must be namespaces or shared");
    if (s->hostname && strlen(s->hostname) > 64)
        wrong(&r, "hostname", "must have at most 64 bytes");
    sandbox_net(&r, jv_at(v, "net"), s);
    sandbox_over(&r, jv_at(v, "over"), s);
    s->mounts = mounts(&r, jv_at(v, "mounts"), &s->nmounts);
    s->rlimits = rlimits(&r, jv_at(v, "rlimits"), &s->nrlimits);
    jv t = jv_at(v, "tmpfs");
    s->tmpfs = ARENA_ARRAY(a, struct warden_tmpfs, jv_len(t) + 1);
    JV_EACH (it, t) {
        const char *p = path(&r, jv_at(it.value, "path"), "tmpfs[].path");
        if (!p)
            wrong(&r, "tmpfs[]", "needs a path");
        s->tmpfs[s->ntmpfs++] = (struct warden_tmpfs){
            .path = p,
            .size_bytes =
                number(&r, jv_at(it.value, "size_bytes"), "tmpfs[].size_bytes", 0, INT64_MAX, 0),
        };
    }
    return r.bad ? -1 : 0;
}

/* "log": "/path", or {path, max_bytes, files}. */
static void start_log(struct reader *r, jv v, struct warden_start *s)
{
    s->log = path(r, jv_is(v, JV_OBJ) ? jv_at(v, "path") : v, "log");
    s->log_bytes = number(r, jv_at(v, "max_bytes"), "log.max_bytes", 4096, INT64_MAX, 10 << 20);
    s->log_files = number(r, jv_at(v, "files"), "log.files", 1, 100, 5);
}

static void start_ids(struct reader *r, jv v, struct warden_start *s)
{
    jv groups = jv_at(v, "groups");

    s->uid = number(r, jv_at(v, "uid"), "uid", 0, UINT32_MAX - 1, -1);
    s->gid = number(r, jv_at(v, "gid"), "gid", 0, UINT32_MAX - 1, -1);
    s->umask = number(r, jv_at(v, "umask"), "umask", 0, 0777, 022);
    s->groups = ARENA_ARRAY(r->a, gid_t, jv_len(groups) + 1);
    JV_EACH (it, groups)
        s->groups[s->ngroups++] = (gid_t)number(r, it.value, "groups", 0, UINT32_MAX - 1, 0);
}

int warden_start_read(struct arena *a, jv v, struct warden_start *s, struct err *e)
{
    struct reader r = { .a = a, .e = e };
    jv limits = jv_at(v, "limits");

    *s = (struct warden_start){
        .name = name(&r, jv_at(v, "name"), "name"),
        .attempt = number(&r, jv_at(v, "attempt"), "attempt", 0, INT32_MAX, 0),
        .argv = list(&r, jv_at(v, "argv"), "argv"),
        .env = list(&r, jv_at(v, "env"), "env"),
        .cwd = path(&r, jv_at(v, "cwd"), "workingDir"),
        .rootfs = path(&r, jv_at(v, "rootfs"), "rootfs"),
        .oom_score_adj =
            number(&r, jv_at(v, "oom_score_adj"), "oom_score_adj", -1000, 1000, 0),
        .privileged = jv_bool(jv_at(v, "privileged"), false),
        .any_path = jv_bool(jv_at(v, "any_path"), true),
        .input = jv_bool(jv_at(v, "stdin"), false),
        .tty = jv_bool(jv_at(v, "tty"), false),
        .term_from = path(&r, jv_at(v, "termination_log"), "termination_log"),
        .term_to = path(&r, jv_at(v, "termination_path"), "terminationMessagePath"),
        .limits = {
            .cpu_milli = number(&r, jv_at(limits, "cpu_milli"), "cpu_milli", 0, INT32_MAX, 0),
            .cpu_shares = number(&r, jv_at(limits, "cpu_shares"), "cpu_shares", 0, 262144, 0),
            .memory_bytes =
                number(&r, jv_at(limits, "memory_bytes"), "memory_bytes", 0, INT64_MAX, 0),
            .pids = number(&r, jv_at(limits, "pids"), "pids", 0, INT32_MAX, 0),
        },
    };
    start_log(&r, jv_at(v, "log"), s);
    start_ids(&r, v, s);
    s->mounts = mounts(&r, jv_at(v, "mounts"), &s->nmounts);
    s->rlimits = rlimits(&r, jv_at(v, "rlimits"), &s->nrlimits);
    if (s->argv.n == 0 || !*s->argv.at[0])
        wrong(&r, "argv", "must name a program");
    return r.bad ? -1 : 0;
}

int warden_exec_read(struct arena *a, jv v, struct warden_exec *x, struct err *e)
{
    struct reader r = { .a = a, .e = e };

    *x = (struct warden_exec){
        .id = number(&r, jv_at(v, "id"), "id", 0, INT64_MAX, 0),
        .container = name(&r, jv_at(v, "container"), "container"),
        .argv = list(&r, jv_at(v, "argv"), "argv"),
        .env = list(&r, jv_at(v, "env"), "env"),
        .cwd = path(&r, jv_at(v, "cwd"), "cwd"),
        .tty = jv_bool(jv_at(v, "tty"), false),
        .rows = number(&r, jv_at(v, "rows"), "rows", 0, 65535, 0),
        .cols = number(&r, jv_at(v, "cols"), "cols", 0, 65535, 0),
    };
    if (x->argv.n == 0 || !*x->argv.at[0])
        wrong(&r, "argv", "must name a program");
    return r.bad ? -1 : 0;
}
