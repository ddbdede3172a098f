/* How fast the store is on this disk: store_bench [DIR]. Run by hand. */

#include "loop/loop.h"
#include "store/store.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

enum { VALUE = 2000 };

struct run {
    struct loop *l;
    struct store *s;
    struct store_coll *c;
    int next;
    int until;
    int done;
    int keys; /* written over and over */
};

static double now_s(clockid_t which)
{
    struct timespec t = { 0 };

    clock_gettime(which, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void on_put(void *ctx, const struct err *e);

static void put_next(struct run *r)
{
    char key[32];
    char *room = NULL;
    struct blob *b = blob_new_room(VALUE, &room);

    memset(room, 'x', VALUE);
    int n = snprintf(key, sizeof(key), "default/pod-%05d", (int)(r->next++ * 7919L % r->keys));
    struct store_op op = {
        .coll = r->c, .key = { key, (size_t)n }, .rev = store_take_rev(r->s), .value = b
    };
    store_commit(r->s, &op, 1, on_put, r);
}

static void on_put(void *ctx, const struct err *e)
{
    struct run *r = ctx;

    if (e) {
        fprintf(stderr, "%s\n", e->msg);
        exit(1);
    }
    r->done++;
    if (r->next < r->until)
        put_next(r);
}

static void measure(struct run *r, const char *what, int n, int in_flight)
{
    double wall = now_s(CLOCK_MONOTONIC);
    double cpu = now_s(CLOCK_PROCESS_CPUTIME_ID);

    r->until = r->next + n;
    int goal = r->done + n;
    for (int i = 0; i < in_flight; i++)
        put_next(r);
    while (r->done < goal)
        uv_run(loop_uv(r->l), UV_RUN_ONCE);
    wall = now_s(CLOCK_MONOTONIC) - wall;
    cpu = now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("%-28s %8.0f/s  %5.1f us CPU each\n", what, n / wall, cpu / n * 1e6);
}

struct eye {
    struct store_watch *w;
    long *seen;
};

static void on_wake(void *ctx)
{
    struct eye *eye = ctx;
    bool lost = false;

    while (store_watch_peek(eye->w, &lost)) {
        ++*eye->seen;
        store_watch_advance(eye->w);
    }
    if (lost) {
        fprintf(stderr, "a watcher was lost\n");
        exit(1);
    }
}

static void measure_watchers(struct run *r, int n)
{
    struct eye *eyes = calloc((size_t)n, sizeof(*eyes));
    long seen = 0;

    for (int i = 0; i < n; i++) {
        eyes[i].seen = &seen;
        eyes[i].w = store_watch_start(r->c, store_rev(r->s), on_wake, &eyes[i], NULL);
    }
    double cpu = now_s(CLOCK_PROCESS_CPUTIME_ID);
    measure(r, "same, all watched", 1000, 100);
    cpu = now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("%d watchers saw %ld events, %.0f ns CPU each\n", n, seen, cpu / (double)seen * 1e9);
    for (int i = 0; i < n; i++)
        store_watch_stop(eyes[i].w);
    free(eyes);
}

static long resident_kb(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (!f || fscanf(f, "%*d %ld", &pages) != 1) /* NOLINT(cert-err34-c): the kernel's own file */
        pages = 0;
    if (f)
        fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void reopen(struct run *r, const char *path)
{
    struct err e = { 0 };
    double start = now_s(CLOCK_MONOTONIC);

    if (store_open(&r->s, r->l, path, NULL, &e) < 0) {
        fprintf(stderr, "%s\n", e.msg);
        exit(1);
    }
    r->c = store_coll(r->s, S("pods"));
    printf("open, %6zu objects          %8.1f ms, %ld KB resident\n", store_coll_count(r->c),
           (now_s(CLOCK_MONOTONIC) - start) * 1e3, resident_kb());
}

static void remove_all(const char *dir)
{
    static const char *const names[] = { "store_bench.db", "changes", "reserve" };
    char path[512];

    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
        remove(path);
    }
}

int main(int argc, char **argv)
{
    char path[512];
    struct run r = { .l = loop_new(), .keys = 10000 };
    const char *dir = argc > 1 ? argv[1] : ".";

    snprintf(path, sizeof(path), "%s/store_bench.db", dir);
    remove_all(dir);
    reopen(&r, path);
    measure(&r, "create, 100 in flight", 10000, 100);
    measure(&r, "update, 100 in flight", 30000, 100);
    measure(&r, "update, 10 in flight", 10000, 10);
    measure(&r, "update, 1 in flight", 5000, 1);
    measure_watchers(&r, 2000);
    printf("%ld KB resident\n", resident_kb());
    store_close(r.s);
    malloc_trim(0);
    reopen(&r, path);
    store_close(r.s);
    remove_all(dir);
    uv_run(loop_uv(r.l), UV_RUN_NOWAIT);
    loop_free(r.l);
    return 0;
}
