/* update: PUT of a whole object; and what every change of one goes through. */

#include "api/update.h"

#include "api/admit.h"
#include "api/control/addresses.h"
#include "api/create.h"
#include "api/decode.h"
#include "api/delete.h"
#include "api/strategy.h"
#include "api/table.h"
#include "base/limits.h"
#include "kube/meta.h"
#include "loop/fiber.h"

static void done(struct change_op *op, enum change_kind kind, struct blob *stored,
                 const struct err *e)
{
    struct update *u = op->ctx;

    quota_hold_release(&u->hold);
    if (e)
        answer_err(u->r, e);
    else if (u->answer)
        u->answer(u, stored, parse_stored(op->api->loop, u->r->a, op->res, stored));
    else if (op->dry_run && kind != CHANGE_NONE)
        answer_object(u->r, 200, parse_stored(op->api->loop, u->r->a, op->res, stored));
    else
        answer_stored(u->r, 200, stored);
}

/* Where kube-apiserver keeps an object in etcd: some of its messages show it. */
static str etcd_key(struct arena *a, const struct resource *res, str ns, str name)
{
    static const struct {
        const char *what, *where;
    } rows[] = {
        { "nodes", "minions" },
        { "services", "services/specs" },
        { "endpoints", "services/endpoints" },
        { "replicationcontrollers", "controllers" },
        { "ingresses.networking.k8s.io", "ingress" },
        { "customresourcedefinitions.apiextensions.k8s.io",
          "apiextensions.k8s.io/customresourcedefinitions" },
    };
    str where = res->builtin ? res->plural : store_coll_name(res->coll);

    for (size_t i = 0; res->builtin && i < COUNT(rows); i++)
        if (str_eqz(res->group_resource, rows[i].what))
            where = str_of(rows[i].where);
    return arena_printf(a, "/registry/%" PRI_STR "/%" PRI_STR, STR_ARG(where),
                        STR_ARG(resource_key(a, res, ns, name)));
}

static void fail_other_uid(struct api_req *r, str asked, str live)
{
    fail_conflict(r, r->name,
                  "StorageError: invalid object, Code: 4, Key: %" PRI_STR
                  ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                  "precondition: %" PRI_STR ", UID in object meta: %" PRI_STR,
                  STR_ARG(etcd_key(r->a, r->res, r->ns, r->name)), STR_ARG(asked), STR_ARG(live));
}

/* For PUT and patches: 409 unless uid and resourceVersion are empty or the live ones. */
static bool update_is_current(struct api_req *r, jv obj, jv live)
{
    str uid = meta_uid(obj);
    str rv = meta_resource_version(obj);
    int64_t rev = 0;

    if (uid.n && r->verb == VERB_UPDATE && !str_eq(uid, meta_uid(live))) {
        fail_other_uid(r, uid, meta_uid(live));
        return false;
    }
    if (rv.n && (!str_to_int(rv, &rev) || rev < 0)) {
        fail_plain(r, 500, "strconv.ParseUint: parsing \"%" PRI_STR "\": invalid syntax",
                   STR_ARG(rv));
        return false;
    }
    if (rv.n && rev != 0 && !str_eq(rv, meta_resource_version(live))) {
        fail_conflict(
            r, r->name,
            "the object has been modified; please apply your changes to the latest version "
            "and try again");
        return false;
    }
    if ((!rv.n || rev == 0) &&
        !(r->res->builtin && (r->res->builtin->flags & KIND_UNCONDITIONAL))) {
        struct problems ps = { .a = r->a };
        problem_invalid(&ps, AT(ROOT("metadata"), "resourceVersion"), jint(r->a, 0),
                        "must be specified for an update");
        fail_invalid(r, r->res->plural, r->res->group, r->name, &ps); /* not by its kind */
        return false;
    }
    return true;
}

/* There is none, or no longer: the object that an apply makes is made now, not before. */
static void create_instead(struct update *u)
{
    struct api_req *r = u->r;

    if (!u->may_create) {
        fail_not_found(r, r->res, r->name);
        return;
    }
    jv obj = u->is_apply ? u->make(u, r->a, JV_ABSENT) : u->create_with;
    if (!jv_exists(obj))
        return;
    if (!u->is_apply && meta_uid(obj).n)
        fail_other_uid(r, meta_uid(obj), S(""));
    else if (meta_uid(obj).n)
        fail_conflict(r, r->name,
                      "uid mismatch: the provided object specified uid %" PRI_STR
                      ", and no existing object was found",
                      STR_ARG(meta_uid(obj)));
    else
        create_object(r, jv_without(r->a, obj, "metadata", "resourceVersion"),
                      u->is_apply ? u : NULL);
}

struct deciding {
    const struct write_ctx *w;
    struct problems *ps;
    jv obj;
    jv live;
    jv checked;
    bool equal;
};

static void work_out(void *arg)
{
    struct deciding *d = arg;

    d->checked = strategy_update(d->w, d->obj, d->live, d->ps);
    d->equal = jv_equal(d->checked, d->live);
}

static int decide(struct change_op *op, struct arena *a, jv live, struct change *out)
{
    struct update *u = op->ctx;
    struct api_req *r = u->r;
    struct problems waived = { .a = a };
    struct problems ps = { .a = a, .waived = &waived };

    if (!jv_exists(live)) {
        create_instead(u);
        return -1;
    }
    jv obj = u->make(u, a, live);
    if (!jv_exists(obj) || (u->check_rv && !update_is_current(r, obj, live)) ||
        admit_grant(r, obj, live) < 0)
        return -1;
    struct write_ctx w = { .a = a,
                           .api = r->api,
                           .res = r->res,
                           .sub = u->sub,
                           .manager = query_manager(r),
                           .sent_managed = r->sent_managed,
                           .is_apply = u->is_apply,
                           .now_ms = wall_now_ms() };
    struct deciding d = { .w = &w, .ps = &ps, .obj = obj, .live = live };
    check_object(r->api->loop, work_out, &d, &ps);
    obj = d.checked;
    for (size_t i = 0; i < waived.n; i++)
        request_warn(r, "%" PRI_STR ": %" PRI_STR, STR_ARG(waived.at[i].field),
                     STR_ARG(waived.at[i].message));
    if (!ps.n)
        admit_warn(r, obj, live);
    if (!ps.n && admit_limits(r, obj, live, &u->hold) < 0)
        return -1;
    if (!ps.n)
        obj = addresses_take(r->api->addresses, a, r->res, obj, live, &ps);
    if (ps.n) {
        quota_hold_release(&u->hold);
        fail_invalid(r, r->res->kind, r->res->error_group, meta_name(obj), &ps);
        return -1;
    }
    if (delete_is_over(r->res, obj))
        *out = (struct change){ CHANGE_REMOVE, obj };
    else if (obj.node == d.checked.node ? !d.equal : !jv_equal(obj, live))
        *out = (struct change){ CHANGE_PUT, obj };
    return 0;
}

void update_start(struct update *u)
{
    struct api_req *r = u->r;

    u->op = (struct change_op){ .api = r->api,
                                .res = r->res,
                                .key = resource_key(r->a, r->res, r->ns, r->name),
                                .dry_run = r->q.dry_run,
                                .large = http_body(r->http).n > LIMIT_LOOP_BYTES,
                                .decide = decide,
                                .done = done,
                                .ctx = u };
    change_start(&u->op);
}

bool update_is_named(struct api_req *r, jv obj)
{
    str name = meta_name(obj);
    str ns = meta_namespace(obj);

    if (!name.n)
        fail_bad_request(r,
                         "the name of the object (%" PRI_STR
                         " based on URL) was undeterminable: name must be provided",
                         STR_ARG(r->name));
    else if (!str_eq(name, r->name))
        fail_bad_request(r,
                         "the name of the object (%" PRI_STR
                         ") does not match the name on the URL (%" PRI_STR ")",
                         STR_ARG(name), STR_ARG(r->name));
    else if (r->res->namespaced && ns.n && !str_eq(ns, r->ns))
        fail_bad_request(
            r,
            "the namespace of the provided object does not match the namespace sent on the request");
    else
        return true;
    return false;
}

static jv make_from_body(struct update *u, struct arena *a, jv live)
{
    (void)a;
    (void)live;
    return u->create_with;
}

void verb_update(struct api_req *r)
{
    struct update *u = ARENA_NEW(r->a, struct update);
    jv obj;

    if (table_check(r) < 0 || body_object(r, r->res, &obj) < 0)
        return;
    if (!update_is_named(r, obj))
        return;
    obj = admit_owners(r, r->a, obj);
    *u = (struct update){ .r = r,
                          .make = make_from_body,
                          .check_rv = true,
                          .create_with = obj,
                          .sub = r->sub,
                          .may_create = !r->sub.n && r->res->builtin &&
                                        (r->res->builtin->flags & KIND_CREATE_ON_UPDATE) };
    update_start(u);
}
