/* Pods that start together are bound together: POST of a BindingList, a kind that only our own
 * scheduler knows. One transaction of the store, so nobody ever sees a part of it. */

#include "api/auth/access.h"
#include "api/body.h"
#include "api/subresource.h"
#include "api/write.h"
#include "base/limits.h"
#include "builtin/pod_admission.h"
#include "builtin/types/types.h"
#include "kube/meta.h"
#include "loop/fiber.h"

#include <stdlib.h>

struct bind_item {
    jv binding;
    str name;
    str key;
    struct encoding now;
};

struct bind_all {
    struct api_req *r;
    struct resource *pods;
    struct bind_item *at;
    size_t n;
};

/* ---- the request */

static int compare_keys(const void *x, const void *y)
{
    const struct bind_item *i = x, *k = y;

    return str_cmp(i->key, k->key);
}

struct decoding {
    struct bind_all *b;
    jv items;
    struct err e;
};

/* Into the shape of a Binding: what is of another type must not get into pods. */
static void decode(void *arg)
{
    struct decoding *d = arg;
    struct bind_all *b = d->b;

    JV_EACH (it, d->items) {
        struct bind_item *to = &b->at[b->n];
        to->binding = schema_decode(b->r->a, &core_Binding, it.value, NULL, &d->e);
        if (!jv_exists(to->binding))
            return;
        b->n++;
    }
}

static int read_item(struct bind_all *b, struct bind_item *to)
{
    struct api_req *r = b->r;
    struct problems ps = { .a = r->a };
    jv item = to->binding;
    str ns = meta_namespace(item);

    to->name = meta_name(item);
    binding_check(&ps, item);
    if (ps.n || !name_ok(to->name, name_dns1123_subdomain) || (ns.n && !str_eq(ns, r->ns))) {
        str what =
            ps.n ? problems_text(r->a, &ps) : S("metadata must name a pod of this namespace");
        fail_bad_request(r, "items[%td]: %" PRI_STR, to - b->at, STR_ARG(what));
        return -1;
    }
    const struct access need = { .on_resource = true,
                                 .verb = S("create"),
                                 .resource = S("pods"),
                                 .sub = S("binding"),
                                 .ns = r->ns,
                                 .name = to->name };
    if (!access_allowed(r->api, &r->user, &need)) {
        access_forbid(r, &need);
        return -1;
    }
    to->key = resource_key(r->a, b->pods, r->ns, to->name);
    return 0;
}

static int read_items(struct bind_all *b, jv list)
{
    struct decoding d = { .b = b, .items = jv_get(list, S("items")) };
    size_t n = jv_len(d.items);

    if (!jv_is(d.items, JV_ARR) || !n || n > LIMIT_BINDINGS) {
        fail_bad_request(b->r, "items: must be a list of at least 1 and at most %d Bindings",
                         LIMIT_BINDINGS);
        return -1;
    }
    b->at = ARENA_ARRAY(b->r->a, struct bind_item, n);
    fiber_offload(b->r->api->loop, decode, &d);
    if (b->n < n) {
        fail_bad_request(b->r, "items[%zu]: %s", b->n, d.e.msg);
        return -1;
    }
    for (size_t i = 0; i < n; i++)
        if (read_item(b, &b->at[i]) < 0)
            return -1;
    qsort(b->at, b->n, sizeof(*b->at), compare_keys);
    for (size_t i = 1; i < b->n; i++)
        if (str_eq(b->at[i - 1].key, b->at[i].key)) {
            fail_bad_request(b->r, "items: pod \"%" PRI_STR "\" is named twice",
                             STR_ARG(b->at[i].name));
            return -1;
        }
    return 0;
}

/* ---- the transaction */

static void on_committed(void *ctx, const struct err *e)
{
    struct bind_all *b = ctx;

    if (e)
        answer_err(b->r, e);
    else
        answer_created(b->r);
}

struct encoding_work {
    struct bind_all *b;
    struct bind_item *item;
    struct arena *a;
    jv pod;
};

static void encode(void *arg)
{
    struct encoding_work *w = arg;

    resource_encode(w->a, w->b->pods, w->pod, &w->item->now);
}

/* -1: it was answered why not. */
static int decide_item(struct bind_all *b, struct bind_item *item)
{
    AUTO(arena) struct arena *a = arena_new();
    struct loop *l = b->r->api->loop;
    struct kind_ctx c = { .a = a, .now_ms = wall_now_ms() };
    struct store_obj *o = store_get(b->pods->coll, item->key);
    jv bound = JV_ABSENT;

    if (!o) {
        fail_not_found(b->r, b->pods, item->name);
        return -1;
    }
    AUTO(blob) struct blob *stored = value_blob(o->value);
    jv live = parse_stored(l, a, b->pods, stored);
    str why = pod_bind(&c, live, item->binding, &bound);
    if (why.n) {
        bind_conflict(b->r, item->name, why);
        return -1;
    }
    struct encoding_work w = { b, item, a, bound };
    fiber_offload(l, encode, &w);
    if (item->now.text.n <= LIMIT_OBJECT_BYTES)
        return 0;
    struct err e = { 0 };
    err_set(&e, ERR_TOO_LARGE, "etcdserver: request is too large");
    answer_err(b->r, &e);
    return -1;
}

static void commit(struct bind_all *b)
{
    struct store *s = b->r->api->store;
    struct store_op *ops = ARENA_ARRAY(b->r->a, struct store_op, b->n);

    for (size_t i = 0; i < b->n; i++) {
        int64_t rev = store_take_rev(s);
        ops[i] = (struct store_op){ .coll = b->pods->coll,
                                    .key = b->at[i].key,
                                    .rev = rev,
                                    .value = encoding_blob(&b->at[i].now, rev) };
    }
    store_commit(s, ops, b->n, on_committed, b);
}

static void decide_all(void *ctx)
{
    struct bind_all *b = ctx;
    bool held = fiber_is_inside(b->r->api->loop);
    int rc = 0;

    resource_schema(b->pods); /* compiled here if it is not */
    for (size_t i = 0; i < b->n && held; i++)
        store_hold(b->pods->coll, b->at[i].key);
    for (size_t i = 0; i < b->n && rc == 0; i++)
        rc = decide_item(b, &b->at[i]);
    for (size_t i = 0; i < b->n && held; i++)
        store_release(b->pods->coll, b->at[i].key);
    if (rc == 0 && b->r->q.dry_run)
        answer_created(b->r);
    else if (rc == 0)
        commit(b);
    for (size_t i = 0; i < b->n; i++)
        buf_done(&b->at[i].now.text);
}

static void attempt(void *ctx)
{
    struct bind_all *b = ctx;
    struct store_coll *coll = b->pods->coll;
    size_t bytes = 0;

    for (size_t i = 0; i < b->n; i++) {
        if (store_is_busy(coll, b->at[i].key)) {
            store_when_free(coll, b->at[i].key, attempt, b);
            return;
        }
        const struct store_obj *o = store_get(coll, b->at[i].key);
        bytes += o ? value_size(o->value) : 0;
    }
    if (bytes > LIMIT_LOOP_BYTES)
        fiber_run(b->r->api->loop, FIBER_LARGE, decide_all, b);
    else
        decide_all(b);
}

bool bind_all_run(struct api_req *r)
{
    struct bind_all *b;
    struct err e = { 0 };

    if (r->res->coll || !str_eqz(r->res->kind, "Binding") ||
        !str_contains(http_body(r->http), S("\"BindingList\"")))
        return false;
    jv list = body_json(r, NULL, &e);
    if (!str_eqz(jv_str(jv_get(list, S("kind")), S("")), "BindingList"))
        return false;
    b = ARENA_NEW(r->a, struct bind_all);
    b->r = r;
    b->pods = registry_find(&r->api->registry, S(""), S("v1"), S("pods"));
    if (read_items(b, list) == 0)
        attempt(b);
    return true;
}
