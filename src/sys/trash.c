/* One work item removes the whole directory. What is put there meanwhile goes with it, or with the
 * next one. */

#include "sys/trash.h"

#include "base/mem.h"
#include "base/vec.h"
#include "loop/log.h"
#include "loop/watchdog.h"
#include "sys/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

enum { LAST_MS = 2000 };

struct paths {
    VEC(char *);
};

struct tree_trash {
    uv_work_t work;
    struct loop *loop;
    char *dir;
    struct paths in_place; /* what could not be moved: the disk is full, say */
    struct paths going;    /* the same, while it is removed */
    bool running;
    bool again; /* something came while it was running */
    bool freed;
    atomic_int_fast64_t until_ms; /* by boot_now_ms */
    int rc;
    struct err err;
    char told[sizeof(((struct err *)0)->msg)]; /* the error that was logged last */
};

static bool is_over(void *ctx)
{
    struct tree_trash *t = ctx;

    return boot_now_ms() > atomic_load(&t->until_ms);
}

static void empty(uv_work_t *w)
{
    struct tree_trash *t = w->data;

    t->rc = tree_remove_until(AT_FDCWD, t->dir, is_over, t, &t->err);
    for (size_t i = 0; i < t->going.n; i++)
        if (tree_remove_until(AT_FDCWD, t->going.at[i], is_over, t, &t->err) < 0)
            t->rc = -1;
}

static void drop_paths(struct paths *paths)
{
    for (size_t i = 0; i < paths->n; i++)
        free(paths->at[i]);
    vec_done(paths);
    *paths = (struct paths){ 0 };
}

static void destroy(struct tree_trash *t)
{
    drop_paths(&t->in_place);
    free(t->dir);
    free(t);
}

static void start(struct tree_trash *t);

static void on_emptied(uv_work_t *w, int status)
{
    LOOP_TURN();
    struct tree_trash *t = w->data;

    (void)status;
    t->running = false;
    drop_paths(&t->going);
    if (t->freed && (!t->again || is_over(t))) {
        destroy(t);
        return;
    }
    if (t->rc < 0 && !t->again && strcmp(t->told, t->err.msg) != 0) {
        log_warn("cannot remove files of pods", KVZ("error", t->err.msg));
        snprintf(t->told, sizeof(t->told), "%s", t->err.msg);
    }
    if (t->again)
        start(t);
}

static void start(struct tree_trash *t)
{
    t->again = t->running;
    if (t->running)
        return;
    t->work.data = t;
    t->going = t->in_place;
    t->in_place = (struct paths){ 0 };
    t->running = uv_queue_work(loop_uv(t->loop), &t->work, empty, on_emptied) == 0;
}

struct tree_trash *tree_trash_new(struct loop *l, const char *dir)
{
    struct tree_trash *t = mem_new(sizeof(*t));

    t->loop = l;
    t->dir = mem_or_abort(strdup(dir));
    atomic_store(&t->until_ms, INT64_MAX);
    if (access(dir, F_OK) == 0)
        start(t);
    return t;
}

void tree_trash_free(struct tree_trash *t)
{
    if (!t)
        return;
    t->freed = true;
    atomic_store(&t->until_ms, boot_now_ms() + LAST_MS);
    if (!t->running)
        destroy(t);
}

static bool move(struct tree_trash *t, const char *path, const char *to)
{
    for (int i = 0; i < 3; i++) { /* the directory may go at any moment */
        if (mkdir(t->dir, 0700) < 0 && errno != EEXIST)
            return false;
        if (rename(path, to) == 0)
            return true;
        if (errno != ENOENT)
            return false;
    }
    return false;
}

void tree_trash_put(struct tree_trash *t, const char *path)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char *to = NULL, id[37];

    if (access(path, F_OK) < 0 && errno == ENOENT)
        return;
    random_uuid(id); /* of those that were left by others, too, none has that name */
    if (asprintf(&to, "%s/%s.%s", t->dir, name, id) < 0)
        abort();
    if (!move(t, path, to))
        vec_push(&t->in_place, mem_or_abort(strdup(path)));
    free(to);
    start(t);
}
