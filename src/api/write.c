/* The one way objects get into the store. */

#include "api/write.h"

#include "base/limits.h"
#include "kube/meta.h"
#include "loop/fiber.h"

static void finish(struct change_op *op, const struct err *e)
{
    AUTO(arena) struct arena *a = op->a;
    AUTO(blob) struct blob *stored = op->stored;

    op->a = NULL;
    op->stored = NULL;
    op->done(op, op->kind, stored, e);
}

static void on_committed(void *ctx, const struct err *e)
{
    finish(ctx, e);
}

static void refuse_size(struct change_op *op)
{
    struct err e = { 0 };

    err_set(&e, ERR_TOO_LARGE, "etcdserver: request is too large");
    op->stored = NULL;
    finish(op, &e);
}

static void commit(struct change_op *op, const struct change *c, jv live)
{
    struct store *s = op->api->store;
    int64_t rev = store_take_rev(s);

    op->stored = resource_encode(op->a, op->res, c->obj, rev);
    if (c->kind == CHANGE_PUT && blob_str(op->stored).n > LIMIT_OBJECT_BYTES) {
        blob_unref(op->stored);
        refuse_size(op);
        return;
    }
    bool removes = c->kind == CHANGE_REMOVE;
    struct store_op write = { .coll = op->res->coll,
                              .key = op->key,
                              .rev = rev,
                              .value = removes ? resource_encode(op->a, op->res, live, rev)
                                               : blob_ref(op->stored),
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

static jv parse_live(const struct change_op *op, const struct store_obj *o)
{
    AUTO(blob) struct blob *b = o ? value_blob(o->value) : NULL;
    struct parsing w = { op->a, op->res, b, JV_ABSENT };

    if (!o)
        return JV_ABSENT;
    resource_schema(op->res); /* compiled here if it is not */
    fiber_offload(op->api->loop, parse, &w);
    return w.out;
}

static void carry_out(struct change_op *op, const struct change *c, jv live,
                      const struct store_obj *o)
{
    op->kind = c->kind;
    if (c->kind == CHANGE_NONE) {
        op->stored = o ? value_blob(o->value) : NULL;
        finish(op, NULL);
    } else if (!json_fits(c->obj, (size_t)2 * LIMIT_OBJECT_BYTES)) {
        refuse_size(op); /* before it is printed: values share, so there is no limit to its text */
    } else if (op->dry_run) {
        /* as it would be stored, at the revision it has (none when it is new) */
        int64_t rev = 0;
        str_to_int(meta_resource_version(live), &rev);
        op->stored = resource_encode(op->a, op->res, c->obj, rev);
        finish(op, NULL);
    } else {
        commit(op, c, live);
    }
}

static void decide(void *ctx)
{
    struct change_op *op = ctx;
    struct store_coll *coll = op->res->coll;
    struct arena *a = op->a = arena_new();
    bool held = fiber_is_inside(op->api->loop);
    str key = arena_str(a, op->key); /* op may be gone once it gave up */

    if (held)
        store_hold(coll, key);
    struct store_obj *o = store_get(coll, key);
    jv live = parse_live(op, o);
    struct change c = { .kind = CHANGE_NONE, .obj = live };
    int rc = op->decide(op, a, live, &c);
    if (held)
        store_release(coll, key);
    if (rc == 0) {
        carry_out(op, &c, live, o);
        return;
    }
    if (op->a == a) /* else it was started anew already */
        op->a = NULL;
    arena_free(a);
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
        fiber_run(op->api->loop, decide, op);
    else
        decide(op);
}

void change_start(struct change_op *op)
{
    attempt(op);
}
