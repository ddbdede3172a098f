/* What was in a deleted volume stays in DIR/.trash for a while. Its name there says until when:
 * "1767225600000.pvc-...". Trees are removed beside the loop. */

#include "binder/internal.h"

#include "base/mem.h"
#include "loop/log.h"
#include "loop/watchdog.h"
#include "sys/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

enum { DAY_MS = 24 * 3600 * 1000, SOON_MS = 1000 };

struct removal {
    uv_work_t work;
    int rc;
    struct err err;
    char path[];
};

static void remove_it(uv_work_t *w)
{
    struct removal *r = w->data;

    r->rc = tree_remove(AT_FDCWD, r->path, &r->err);
}

static void on_removed(uv_work_t *w, int status)
{
    LOOP_TURN();
    struct removal *r = w->data;

    if (status == 0 && r->rc < 0)
        log_warn("cannot remove a deleted volume's files", KVZ("error", r->err.msg));
    free(r);
}

static void remove_later(struct binder *b, str path)
{
    struct removal *r = mem_new(sizeof(*r) + path.n + 1);

    memcpy(r->path, path.p, path.n);
    r->work.data = r;
    if (uv_queue_work(loop_uv(b->loop), &r->work, remove_it, on_removed) < 0)
        free(r);
}

static str trash_dir(const struct binder *b, struct arena *a)
{
    return arena_printf(a, "%s/.trash", b->dir);
}

static void on_due(void *arg)
{
    struct binder *b = arg;

    loop_timer_stop(TAKE(b->trash));
    trash_sweep(b);
}

static void wait_for(struct binder *b, int64_t ms)
{
    loop_timer_stop(b->trash);
    b->trash = loop_timer_start(b->loop, ms > SOON_MS ? ms : SOON_MS, 0, on_due, b);
}

void trash_sweep(struct binder *b)
{
    AUTO(arena) struct arena *a = arena_new();
    str dir = trash_dir(b, a);
    DIR *d = opendir(dir.p);
    int64_t next = INT64_MAX, now = b->o.wall_ms();

    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));) {
        str rest = str_of(e->d_name), path;
        int64_t until;
        if (!str_to_int(str_cut(&rest, '.'), &until))
            continue;
        path = arena_printf(a, "%s/%s", dir.p, e->d_name);
        if (until <= now)
            remove_later(b, path);
        else if (until < next)
            next = until;
    }
    closedir(d);
    if (next != INT64_MAX)
        wait_for(b, next - now);
}

void trash_put(struct binder *b, str path)
{
    AUTO(arena) struct arena *a = arena_new();
    str dir = trash_dir(b, a);
    const char *from = arena_z(a, path);
    int64_t until = b->o.wall_ms() + (b->o.trash_ms ? b->o.trash_ms : DAY_MS);
    str to = arena_printf(a, "%s/%lld.%s", dir.p, (long long)until, strrchr(from, '/') + 1);

    if (access(from, F_OK) < 0)
        return; /* never used, or put aside before */
    if (mkdir(dir.p, 0700) < 0 && errno != EEXIST)
        log_warn("cannot move a volume to the trash: disk full", KVZ("path", dir.p),
                 KVI("errno", errno));
    else if (rename(from, to.p) < 0)
        log_warn("cannot move a deleted volume to the trash", KVZ("path", from),
                 KVI("errno", errno));
    trash_sweep(b);
}
