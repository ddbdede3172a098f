/* The one way objects get into the store. */

#include "api/write.h"

#include "base/limits.h"
#include "kube/meta.h"
#include "loop/fiber.h"

enum { REVISION_BYTES = 22 }; /* at most, in quotes */

static void finish(struct change_op *op, const struct err *e)
{
    AUTO(arena) struct arena *a = op->a;
    AUTO(blob) struct blob *stored = op->stored;

    op->a = NULL;
    op->stored = NULL;
    op->done(op, op->kind, stored, e);
}

static void finish_well(void *op)
{
    finish(op, NULL);
}

static void on_committed(void *ctx, const struct err *e)
{
    struct change_op *op = ctx;

    if (!e && blob_str(op->stored).n > LIMIT_LOOP_BYTES)
        fiber_run(op->api->loop, FIBER_LARGE, finish_well, op);
    else
        finish(op, e);
}

static void refuse_size(struct change_op *op)
{
    struct err e = { 0 };

    err_set(&e, ERR_TOO_LARGE, "etcdserver: request is too large");
    op->stored = NULL;
    finish(op, &e);
}

/* What is to be written, worked out beside the loop. */
struct encoded {
    const struct change_op *op;
    const struct change *c;
    jv live;
    bool fits;
    struct encoding now;
    struct encoding last; /* of a removal: what watchers are shown */
};

static void encode(void *arg)
{
    struct encoded *w = arg;
    const struct change_op *op = w->op;

    /* before it is printed: values share, so there is no limit to its text */
    w->fits = json_fits(w->c->obj, (size_t)2 * LIMIT_OBJECT_BYTES);
    if (!w->fits)
        return;
    resource_encode(op->a, op->res, w->c->obj, &w->now);
    if (w->c->kind == CHANGE_REMOVE)
        resource_encode(op->a, op->res, w->live, &w->last);
}

static void commit(struct change_op *op, const struct change *c, const struct encoded *w)
{
    struct store *s = op->api->store;
    bool removes = c->kind == CHANGE_REMOVE;
    int64_t rev = store_take_rev(s);

    op->stored = encoding_blob(&w->now, rev);
    struct store_op write = { .coll = op->res->coll,
                              .key = op->key,
                              .rev = rev,
                              .value =
                                  removes ? encoding_blob(&w->last, rev) : blob_ref(op->stored),
                              .is_delete = removes,
                              .is_ending = meta_being_deleted(c->obj) };
    store_commit(s, &write, 1, on_committed, op);
}

struct parsing {
    struct arena *a;
    const struct resource *res;
    struct blob *stored;
    jv out;
};

static void parse(void *arg)
{
    struct parsing *w = arg;

    w->out = resource_parse(w->a, w->res, w->stored);
}

jv parse_stored(struct loop *l, struct arena *a, const struct resource *res, struct blob *stored)
{
    struct parsing w = { a, res, stored, JV_ABSENT };

    if (!res->raw)
        resource_schema(res); /* compiled here if it is not */
    fiber_offload(l, parse, &w);
    return w.out;
}

static void carry_out(struct change_op *op, const struct change *c, jv live,
                      const struct store_obj *o, const struct encoded *w)
{
    op->kind = c->kind;
    if (c->kind == CHANGE_NONE) {
        op->stored = o ? value_blob(o->value) : NULL;
        finish(op, NULL);
    } else if (!w->fits || (c->kind == CHANGE_PUT && !op->dry_run &&
                            w->now.text.n + REVISION_BYTES > LIMIT_OBJECT_BYTES)) {
        refuse_size(op);
    } else if (op->dry_run) {
        /* as it would be stored, at the revision it has (none when it is new) */
        int64_t rev = 0;
        str_to_int(meta_resource_version(live), &rev);
        op->stored = encoding_blob(&w->now, rev);
        finish(op, NULL);
    } else {
        commit(op, c, w);
    }
}

static void decide(void *ctx)
{
    struct change_op *op = ctx;
    struct store_coll *coll = op->res->coll;
    struct loop *l = op->api->loop;
    struct arena *a = op->a = arena_new();
    bool held = fiber_is_inside(l);
    str key = arena_str(a, op->key); /* op may be gone once it gave up */

    if (held)
        store_hold(coll, key);
    struct store_obj *o = store_get(coll, key);
    AUTO(blob) struct blob *b = o ? value_blob(o->value) : NULL;
    jv live = o ? parse_stored(l, a, op->res, b) : JV_ABSENT;
    struct change c = { .kind = CHANGE_NONE, .obj = live };
    struct encoded w = { .op = op, .c = &c, .live = live };
    int rc = op->decide(op, a, live, &c);
    if (rc == 0 && c.kind != CHANGE_NONE) {
        resource_schema(op->res); /* compiled here if it is not */
        fiber_offload(l, encode, &w);
    }
    if (rc == 0 && held && op->confirm)
        rc = op->confirm(op);
    if (held)
        store_release(coll, key);
    if (rc == 0) {
        carry_out(op, &c, live, o, &w);
    } else {
        if (op->a == a) /* else it was started anew already */
            op->a = NULL;
        arena_free(a);
    }
    buf_done(&w.now.text);
    buf_done(&w.last.text);
}

static void attempt(void *ctx)
{
    struct change_op *op = ctx;
    struct store_coll *coll = op->res->coll;

    if (store_is_busy(coll, op->key)) {
        store_when_free(coll, op->key, attempt, op);
        return;
    }
    const struct store_obj *o = store_get(coll, op->key);
    if (op->large || (o && value_size(o->value) > LIMIT_LOOP_BYTES))
        fiber_run(op->api->loop, FIBER_LARGE, decide, op);
    else if (op->res->crdv)
        fiber_run(op->api->loop, FIBER_SMALL, decide, op); /* whose rules may take long */
    else
        decide(op);
}

void check_object(struct loop *l, void (*check)(void *arg), void *arg, struct problems *ps)
{
    ps->brief = fiber_is_small(l);
    fiber_offload(l, check, arg);
    if (!ps->cut)
        return;
    ps->brief = ps->cut = false;
    problems_clear(ps);
    if (ps->waived)
        problems_clear(ps->waived);
    fiber_offload_long(l, check, arg);
}

void change_start(struct change_op *op)
{
    attempt(op);
}
