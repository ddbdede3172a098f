/* A whole API server in a test program: store in memory, asked from within. */
#pragma once

#include "api/inproc.h"
#include "kube/meta.h"
#include "tap.h"

#include <unistd.h>
#include <uv.h>

struct box {
    struct loop *loop;
    struct store *store;
    struct api *api;
    struct kube_api *kube;
    bool is_ready;
};

static const struct kube_resource box_maps = { "", "v1", "configmaps", "ConfigMap", false };
static const struct kube_resource box_spaces = { "", "v1", "namespaces", "Namespace", true };

static void box_turn(struct box *b)
{
    uv_run(loop_uv(b->loop), UV_RUN_NOWAIT);
}

/* Without waiting in the loop, which a deferred call that sets the flag would not end. */
static void box_until(struct box *b, const bool *flag)
{
    for (box_turn(b); !*flag; box_turn(b))
        usleep(50);
}

static void box_on_ready(void *ctx, const struct err *e)
{
    struct box *b = ctx;

    if (e) {
        printf("Bail out! %s\n", e->msg);
        exit(1);
    }
    b->is_ready = true;
}

/* path: of the database; NULL: in memory. more: options besides loop and store; may be NULL. */
static void box_open(struct box *b, const char *path, const struct api_opts *more)
{
    struct api_opts o = more ? *more : (struct api_opts){ 0 };
    struct err e = { 0 };

    *b = (struct box){ .loop = loop_new() };
    if (store_open(&b->store, b->loop, path ? path : ":memory:", NULL, &e) < 0) {
        printf("Bail out! %s\n", e.msg);
        exit(1);
    }
    o.loop = b->loop;
    o.store = b->store;
    b->api = api_new(&o, box_on_ready, b);
    box_until(b, &b->is_ready);
    b->kube = api_inproc_new(b->api, "test", "system:muster:test", "system:masters");
}

static void box_close(struct box *b)
{
    api_inproc_free(b->kube);
    api_stop(b->api);
    loop_stop(b->loop);
    loop_run(b->loop);
    store_close(b->store);
    api_free(b->api);
    loop_free(b->loop);
}

/* ---- one request, waited for */

struct box_answer {
    bool done;
    struct arena *a;
    struct kube_answer ans; /* a copy */
};

static void box_on_answer(void *ctx, const struct kube_answer *ans)
{
    struct box_answer *w = ctx;

    w->ans = *ans;
    w->ans.obj = jv_copy(w->a, ans->obj);
    w->ans.message = arena_str(w->a, ans->message);
    w->done = true;
}

__attribute__((unused)) static struct kube_answer box_ask(struct box *b, struct arena *a,
                                                          const struct kube_request *r)
{
    struct box_answer w = { .a = a };

    kube_send(b->kube, r, box_on_answer, &w);
    if (w.done)
        printf("Bail out! answered from within kube_send\n");
    box_until(b, &w.done);
    return w.ans;
}

/* A value written with single quotes. */
__attribute__((unused)) static jv box_value(struct arena *a, const char *quoted)
{
    AUTO(jdoc) struct jdoc *d = J(quoted);

    return jv_copy(a, jdoc_root(d));
}

/* ---- a database on disk */

__attribute__((unused)) static const char *box_path(const char *dir)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/muster.db", dir);
    return path;
}

__attribute__((unused)) static void box_remove(const char *dir)
{
    static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
    char path[300];

    for (size_t i = 0; i < COUNT(ends); i++) {
        snprintf(path, sizeof(path), "%s%s", box_path(dir), ends[i]);
        unlink(path);
    }
    if (rmdir(dir) < 0)
        printf("# %s is not empty\n", dir);
}
