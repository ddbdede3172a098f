/* Logs of jobs that are over: kept for whoever looks later, up to limits. Looked at in a thread of
 * the pool when the node starts and after every so many new ones; the oldest go first. */

#include "node/logs.h"

#include "base/mem.h"
#include "base/vec.h"
#include "loop/log.h"
#include "loop/watchdog.h"
#include "node/volumes.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <uv.h>

struct heap { /* the logs of a job: DIR/NAMESPACE/JOB */
    char *path;
    int64_t bytes;
    int64_t files;
    int64_t changed_s;
};

struct sweep {
    uv_work_t work;
    char *dir;
    struct log_limits most;
    struct {
        VEC(struct heap);
    } heaps;
    int64_t removed;
};

static void each(const char *dir, void (*fn)(void *ctx, const char *path), void *ctx)
{
    DIR *d = opendir(dir);

    for (struct dirent *x; d && (x = readdir(d));) {
        char *path = NULL;
        if (x->d_name[0] == '.' || asprintf(&path, "%s/%s", dir, x->d_name) < 0)
            continue;
        fn(ctx, path);
        free(path);
    }
    if (d)
        closedir(d);
}

static void measure(void *ctx, const char *path)
{
    struct heap *h = ctx;
    struct stat st;

    if (lstat(path, &st) < 0)
        return;
    if (st.st_mtim.tv_sec > h->changed_s)
        h->changed_s = st.st_mtim.tv_sec;
    if (S_ISDIR(st.st_mode)) {
        each(path, measure, h);
    } else {
        h->bytes += st.st_size;
        h->files++;
    }
}

static void add_job(void *ctx, const char *path)
{
    struct sweep *s = ctx;
    struct heap h = { .path = mem_or_abort(strdup(path)) };

    measure(&h, path);
    vec_push(&s->heaps, h);
}

static void add_namespace(void *ctx, const char *path)
{
    each(path, add_job, ctx);
}

static int by_age(const void *x, const void *y)
{
    const struct heap *a = x, *b = y;

    return a->changed_s < b->changed_s ? -1 : a->changed_s > b->changed_s;
}

/* Pure but for what it removes. Those that changed in the last hour may be written to. */
void log_sweep(const char *dir, const struct log_limits *most, int64_t now_s, int64_t *removed)
{
    struct sweep s = { 0 };
    int64_t bytes = 0, files = 0;

    each(dir, add_namespace, &s);
    if (s.heaps.n)
        qsort(s.heaps.at, s.heaps.n, sizeof(s.heaps.at[0]), by_age);
    for (size_t i = 0; i < s.heaps.n; i++) {
        bytes += s.heaps.at[i].bytes;
        files += s.heaps.at[i].files;
    }
    *removed = 0;
    for (size_t i = 0; i < s.heaps.n; i++) {
        const struct heap *h = &s.heaps.at[i];
        bool over = bytes > most->bytes || files > most->files;
        if (over && h->changed_s < now_s - most->young_s && volumes_remove(h->path, NULL) == 0) {
            bytes -= h->bytes;
            files -= h->files;
            (*removed)++;
        }
        free(h->path);
    }
    vec_done(&s.heaps);
}

static void run(uv_work_t *w)
{
    struct sweep *s = w->data;

    log_sweep(s->dir, &s->most, wall_now_ms() / 1000, &s->removed);
}

static void done(uv_work_t *w, int status)
{
    LOOP_TURN();
    struct sweep *s = w->data;

    (void)status;
    if (s->removed)
        log_info("logs of old jobs removed", KVI("jobs", s->removed));
    free(s->dir);
    free(s);
}

void log_sweep_start(struct loop *l, str data)
{
    struct sweep *s = mem_new(sizeof(*s));

    if (asprintf(&s->dir, "%" PRI_STR "/logs", STR_ARG(data)) < 0)
        abort();
    s->most = (struct log_limits){ .bytes = NODE_LOG_BYTES,
                                   .files = NODE_LOG_FILES,
                                   .young_s = NODE_LOG_YOUNG_S };
    s->work.data = s;
    if (uv_queue_work(loop_uv(l), &s->work, run, done) != 0) {
        free(s->dir);
        free(s);
    }
}
