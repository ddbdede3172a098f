/* Which file a run of a container writes to: DATA/logs/NAMESPACE/JOB/REPLICA/ATTEMPT.log, counted
 * over restarts and over pods that come after each other. DATA/pods/UID/log.CONTAINER.RUN is a
 * link to it, so that it is found again whatever becomes of the pod's labels. */

#include "node/logs.h"
#include "sys/tree.h"

#include "kube/meta.h"
#include "node/volumes.h"
#include "plan/logs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INDEX_MOST = 64 * 1024, INDEX_READ = 2 * INDEX_MOST };

static str link_path(struct arena *a, const struct log_of *of)
{
    return arena_printf(a, "%" PRI_STR "/pods/%" PRI_STR "/log.%" PRI_STR ".%lld",
                        STR_ARG(of->data), STR_ARG(meta_uid(of->pod)), STR_ARG(of->container),
                        (long long)of->run);
}

str log_find(struct arena *a, const struct log_of *of)
{
    static const char up[] = "../../";
    char to[PATH_MAX];
    ssize_t n = readlink(link_path(a, of).p, to, sizeof(to) - 1);

    if (n <= (ssize_t)strlen(up) || strncmp(to, up, strlen(up)) != 0)
        return STR_NONE;
    to[n] = 0;
    return arena_printf(a, "%" PRI_STR "/%s", STR_ARG(of->data), to + strlen(up));
}

str node_log_path(struct arena *a, str data, jv pod, str container, int64_t attempt)
{
    struct log_of of = { .data = data, .pod = pod, .container = container, .run = attempt };

    return log_find(a, &of);
}

/* ---- of pods that are gone: jobs' pods are called JOB-REPLICA */

static str read_index(struct arena *a, const char *dir)
{
    const char *path = arena_printf(a, "%s/" LOGS_INDEX, dir).p;
    char *text = arena_alloc(a, INDEX_READ);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, INDEX_READ);

    if (fd >= 0)
        close(fd);
    return (str){ text, n > 0 ? (size_t)n : 0 };
}

static str find_in(struct arena *a, const char *dir, const struct node_log_opts *o)
{
    str text = read_index(a, dir), found = STR_NONE;
    struct logs_run r;

    while (text.n) {
        if (!logs_run_read(str_cut(&text, '\n'), &r) || !str_eq(r.pod_uid, o->uid) ||
            (o->run >= 0 && r.run != o->run) ||
            (o->container.n ? !str_eq(r.container, o->container) : !r.is_main))
            continue;
        found = arena_printf(a, "%s/%lld%s%" PRI_STR ".log", dir, (long long)r.attempt,
                             r.is_main ? "" : ".", STR_ARG(r.is_main ? STR_NONE : r.container));
    }
    return found;
}

/* They come from outside, and nothing has been stored under them perhaps. */
static bool is_plain(str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] == '/' || name.p[i] == 0)
            return false;
    return name.n && name.n < NAME_MAX && name.p[0] != '.';
}

str log_find_gone(struct arena *a, str data, const struct node_log_opts *o)
{
    if (!is_plain(o->ns) || !is_plain(o->name))
        return STR_NONE;
    str dir = arena_printf(a, "%" PRI_STR "/logs/%" PRI_STR, STR_ARG(data), STR_ARG(o->ns));
    str found = find_in(
        a,
        arena_printf(a, "%s/%" PRI_STR "/%" PRI_STR, dir.p, STR_ARG(o->name), STR_ARG(o->name)).p,
        o);

    for (size_t i = 1; i < o->name.n && !found.n; i++)
        if (o->name.p[i] == '-')
            found = find_in(a,
                            arena_printf(a, "%s/%.*s/%" PRI_STR, dir.p, (int)i, o->name.p,
                                         STR_ARG(str_sub(o->name, i + 1, o->name.n)))
                                .p,
                            o);
    return found;
}

/* ---- */

/* One more than any that is there; those that were kept long enough go. */
static int64_t next_attempt(const char *dir, str container)
{
    DIR *d = opendir(dir);
    int64_t next = 0;

    for (struct dirent *x; d && (x = readdir(d));) {
        int64_t n = logs_attempt(str_of(x->d_name), container);
        next = n >= next ? n + 1 : next;
    }
    if (d)
        rewinddir(d);
    for (struct dirent *x; d && (x = readdir(d));) {
        int64_t n = logs_attempt(str_of(x->d_name), container);
        if (n >= 0 && n <= next - NODE_LOG_ATTEMPTS)
            unlinkat(dirfd(d), x->d_name, 0);
    }
    if (d)
        closedir(d);
    return next;
}

/* Its last half, from a line's start on. */
static void shorten(struct arena *a, const char *path, int fd)
{
    char *text = arena_alloc(a, INDEX_MOST / 2);
    off_t size = lseek(fd, 0, SEEK_END);
    ssize_t n = pread(fd, text, INDEX_MOST / 2, size - INDEX_MOST / 2);
    const char *from = n > 0 ? memchr(text, '\n', (size_t)n) : NULL;
    const char *tmp = arena_printf(a, "%s.tmp", path).p;
    int out = from ? open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640) : -1;

    if (out < 0)
        return;
    ssize_t left = text + n - (from + 1);
    if (write(out, from + 1, (size_t)left) == left)
        rename(tmp, path);
    close(out);
}

static int note(struct arena *a, const char *dir, const struct logs_run *run, struct err *e)
{
    const char *path = arena_printf(a, "%s/" LOGS_INDEX, dir).p;
    AUTO(buf) struct buf b = { 0 };
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0640);

    if (fd < 0)
        return err_sys(e, "open %s", path);
    logs_run_print(&b, run);
    ssize_t n = write(fd, b.p, b.n);
    if (n == (ssize_t)b.n && lseek(fd, 0, SEEK_END) > INDEX_MOST)
        shorten(a, path, fd);
    if (n != (ssize_t)b.n)
        err_sys(e, "write %s", path);
    close(fd);
    return n == (ssize_t)b.n ? 0 : -1;
}

static str owner_of(jv pod)
{
    JV_EACH (it, jv_at(pod, "metadata", "ownerReferences"))
        if (jv_bool(jv_at(it.value, "controller"), false))
            return jv_str(jv_at(it.value, "uid"), STR_NONE);
    return STR_NONE;
}

int log_make(struct arena *a, const struct log_of *of, int64_t now_ms, str *path, struct err *e)
{
    str link = link_path(a, of), place = logs_place(a, of->pod);
    str dir = arena_printf(a, "%" PRI_STR "/logs/%" PRI_STR, STR_ARG(of->data), STR_ARG(place));
    bool alone = logs_is_main(of->pod, of->container);

    *path = log_find(a, of);
    if (path->n)
        return 0; /* as when a node starts again what its last one had begun with */
    const char *links = arena_z(a, str_sub(link, 0, (size_t)str_rfind(link, '/')));
    if (tree_make(a, dir.p, 0755, e) < 0 || tree_make(a, links, 0755, e) < 0)
        return -1;
    struct logs_run run = { .attempt = next_attempt(dir.p, alone ? STR_NONE : of->container),
                            .container = of->container,
                            .is_main = alone,
                            .pod_uid = meta_uid(of->pod),
                            .run = of->run,
                            .owner_uid = owner_of(of->pod),
                            .start_ms = now_ms };
    str name = logs_name(a, of->pod, of->container, run.attempt);
    const char *file = arena_printf(a, "%s/%s", dir.p, name.p).p;
    int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (fd < 0)
        return err_sys(e, "open %s", file);
    close(fd);
    if (note(a, dir.p, &run, e) < 0)
        return -1;
    const char *to = arena_printf(a, "../../logs/%" PRI_STR "/%s", STR_ARG(place), name.p).p;
    if (symlink(to, link.p) < 0)
        return err_sys(e, "link %s", link.p);
    *path = str_of(file);
    return 0;
}
