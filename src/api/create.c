/* create: POST of a new object. */

#include "api/create.h"
#include "api/admit.h"
#include "api/auth/access.h"
#include "api/auth/reviews.h"
#include "api/control/addresses.h"
#include "api/control/crds.h"
#include "api/control/namespaces.h"
#include "api/decode.h"
#include "api/strategy.h"
#include "api/subresource.h"
#include "api/table.h"
#include "api/update.h"
#include "base/limits.h"
#include "kube/meta.h"
#include "loop/fiber.h"

enum { NAME_TRIES = 8 };

struct create {
    struct change_op op;
    struct api_req *r;
    struct quota_hold hold;
    jv sent; /* as decoded */
    jv obj;  /* as it is to be stored */
    int tries;
    bool generated; /* the name was: take another one if it exists */
    struct update *applied;
    int code;
};

static void done(struct change_op *op, enum change_kind kind, struct blob *stored,
                 const struct err *e)
{
    struct create *c = op->ctx;

    (void)kind;
    quota_hold_release(&c->hold);
    if (e || op->dry_run)
        addresses_release(op->api->addresses, op->res, c->obj);
    if (e)
        answer_err(c->r, e);
    else if (op->dry_run)
        answer_object(c->r, c->code,
                      jv_without(c->r->a, parse_stored(op->api->loop, c->r->a, op->res, stored),
                                 "metadata", "resourceVersion"));
    else
        answer_stored(c->r, c->code, stored);
}

static void start(struct create *c);

static int decide(struct change_op *op, struct arena *a, jv live, struct change *out)
{
    struct create *c = op->ctx;

    (void)a;
    if (!jv_exists(live)) {
        *out = (struct change){ CHANGE_PUT, c->obj };
        return 0;
    }
    quota_hold_release(&c->hold);
    addresses_release(op->api->addresses, op->res, c->obj);
    if (c->generated && c->tries < NAME_TRIES) {
        start(c);
        return -1;
    }
    if (c->applied) {
        update_start(c->applied);
        return -1;
    }
    fail_exists(c->r, meta_name(c->obj), meta_being_deleted(live));
    return -1;
}

struct filling {
    const struct write_ctx *w;
    struct create *c;
    struct problems *ps;
    jv checked;
};

static void fill(void *arg)
{
    const struct filling *f = arg;

    f->c->obj = strategy_fill(f->w, f->c->r->ns, f->c->sent);
}

static void check(void *arg)
{
    struct filling *f = arg;

    f->checked = strategy_create(f->w, f->c->obj, f->ps);
}

static bool may_create_here(struct api_req *r, jv obj)
{
    str ns = meta_namespace(obj);

    if (r->res->namespaced && ns.n && !str_eq(ns, r->ns)) {
        fail_bad_request(r, "the namespace of the provided object does not match the namespace "
                            "sent on the request");
        return false;
    }
    if (r->res->namespaced && !namespaces_admit(r, meta_name(obj)))
        return false;
    return crds_admit(r, meta_name(obj));
}

/* The namespace may have gone. */
static int confirm(struct change_op *op)
{
    struct create *c = op->ctx;

    if (may_create_here(c->r, c->obj))
        return 0;
    quota_hold_release(&c->hold);
    addresses_release(op->api->addresses, op->res, c->obj);
    return -1;
}

static void start(struct create *c)
{
    struct api_req *r = c->r;
    struct problems ps = { .a = r->a };
    struct write_ctx w = { .a = r->a,
                           .api = r->api,
                           .res = r->res,
                           .manager = query_manager(r),
                           .sent_managed = r->sent_managed,
                           .is_apply = c->applied != NULL,
                           .now_ms = wall_now_ms() };

    c->tries++;
    c->generated = !meta_name(c->sent).n;
    struct filling f = { .w = &w, .c = c, .ps = &ps };
    fiber_offload(r->api->loop, fill, &f);
    if (admit_grant(r, c->obj, JV_ABSENT) < 0 || admit_create(r, &c->obj) < 0)
        return;
    check_object(r->api->loop, check, &f, &ps);
    c->obj = f.checked;
    if (!ps.n && c->tries == 1)
        admit_warn(r, c->obj, JV_ABSENT);
    if (!ps.n && admit_limits(r, c->obj, JV_ABSENT, &c->hold) < 0)
        return;
    if (!ps.n)
        c->obj = addresses_take(r->api->addresses, r->a, r->res, c->obj, JV_ABSENT, &ps);
    if (ps.n) {
        quota_hold_release(&c->hold);
        fail_invalid(r, r->res->kind, r->res->error_group, meta_name(c->obj), &ps);
        return;
    }
    c->op = (struct change_op){ .api = r->api,
                                .res = r->res,
                                .key = resource_key(r->a, r->res, r->ns, meta_name(c->obj)),
                                .dry_run = r->q.dry_run,
                                .large = http_body(r->http).n > LIMIT_LOOP_BYTES,
                                .decide = decide,
                                .confirm = confirm,
                                .done = done,
                                .ctx = c };
    change_start(&c->op);
}

void create_object(struct api_req *r, jv obj, struct update *applied)
{
    struct create *c = ARENA_NEW(r->a, struct create);

    if (r->verb != VERB_CREATE && !access_check_verb(r, S("create")))
        return;
    if (!may_create_here(r, obj))
        return;
    if (meta_resource_version(obj).n && !str_eqz(meta_resource_version(obj), "0")) {
        fail_plain(r, 500, "resourceVersion should not be set on objects to be created");
        return;
    }
    obj = admit_owners(r, r->a, obj);
    *c = (struct create){ .r = r, .sent = obj, .applied = applied, .code = 201 };
    start(c);
}

void verb_create(struct api_req *r)
{
    jv obj;

    if (bind_all_run(r))
        return;
    if (table_check(r) < 0 || body_object(r, r->res, &obj) < 0)
        return;
    if (!r->res->coll)
        review_run(r, obj);
    else
        create_object(r, obj, NULL);
}
