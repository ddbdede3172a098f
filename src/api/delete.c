/* delete and deletecollection. */

#include "api/delete.h"

#include "api/admit.h"
#include "api/list.h"
#include "api/table.h"
#include "kube/meta.h"

/* ---- one object */

struct deletion {
    struct change_op op;
    struct api_req *r;
    struct delete_opts o;
};

str delete_other_than_meant(struct arena *a, const struct delete_opts *o, jv live)
{
    if (o->uid.n && !str_eq(o->uid, meta_uid(live)))
        return arena_printf(a,
                            "the UID in the precondition (%" PRI_STR
                            ") does not match the UID in record (%" PRI_STR
                            "). The object might have been deleted and then recreated",
                            STR_ARG(o->uid), STR_ARG(meta_uid(live)));
    if (o->resource_version.n && !str_eq(o->resource_version, meta_resource_version(live)))
        return arena_printf(a,
                            "the ResourceVersion in the precondition (%" PRI_STR
                            ") does not match the ResourceVersion in record (%" PRI_STR
                            "). The object might have been modified",
                            STR_ARG(o->resource_version), STR_ARG(meta_resource_version(live)));
    return STR_NONE;
}

static int decide_one(struct change_op *op, struct arena *a, jv live, struct change *out)
{
    struct deletion *d = op->ctx;
    struct api_req *r = d->r;

    if (!jv_exists(live)) {
        fail_not_found(r, r->res, r->name);
        return -1;
    }
    str other = delete_other_than_meant(r->a, &d->o, live);
    if (other.n) {
        fail_precondition(r, r->name, "%" PRI_STR, STR_ARG(other));
        return -1;
    }
    if (admit_delete(r, live) < 0)
        return -1;
    *out = delete_decide(a, r->res, live, &d->o, wall_now_ms());
    return 0;
}

/* Most kinds answer a deletion with a Status, these with what was deleted. */
static bool shows_deleted(const struct resource *res)
{
    static const char *const names[] = { "pods",
                                         "services",
                                         "serviceaccounts",
                                         "podtemplates",
                                         "resourcequotas",
                                         "persistentvolumes",
                                         "persistentvolumeclaims",
                                         "storageclasses.storage.k8s.io",
                                         "csidrivers.storage.k8s.io",
                                         "csinodes.storage.k8s.io",
                                         "volumeattachments.storage.k8s.io",
                                         "csistoragecapacities.storage.k8s.io",
                                         "volumeattributesclasses.storage.k8s.io",
                                         "deviceclasses.resource.k8s.io",
                                         "resourceclaims.resource.k8s.io",
                                         "resourceclaimtemplates.resource.k8s.io",
                                         "resourceslices.resource.k8s.io",
                                         NULL };

    return resource_is_one_of(res, names);
}

static void done_one(struct change_op *op, enum change_kind kind, struct blob *stored,
                     const struct err *e)
{
    struct deletion *d = op->ctx;
    struct api_req *r = d->r;

    if (e) {
        answer_err(r, e);
    } else if (kind == CHANGE_REMOVE && !shows_deleted(r->res)) {
        jv obj = parse_stored(op->api->loop, r->a, op->res, stored);
        answer_deleted(r, meta_name(obj), meta_uid(obj));
    } else {
        answer_stored(r, 200, stored);
    }
}

void verb_delete(struct api_req *r)
{
    struct deletion *d = ARENA_NEW(r->a, struct deletion);

    d->r = r;
    if (table_check(r) < 0 || delete_read_options(r, &d->o) < 0)
        return;
    d->op = (struct change_op){ .api = r->api,
                                .res = r->res,
                                .key = resource_key(r->a, r->res, r->ns, r->name),
                                .dry_run = r->q.dry_run,
                                .decide = decide_one,
                                .done = done_one,
                                .ctx = d };
    change_start(&d->op);
}

/* ---- many */

enum { SWEPT_BYTES = 4096 }; /* what a deletion costs besides reading the object, as bytes of one */

struct sweep {
    struct api_req *r;
    struct delete_opts o;
    struct list_found found;
    struct swept *all;
    size_t begun;
    size_t left;
    struct err e; /* the first failure */
    str name;     /* of the first that was not the one meant, */
    str other;    /* and why; empty: none */
};

struct swept {
    struct change_op op;
    struct sweep *s;
};

static int decide_swept(struct change_op *op, struct arena *a, jv live, struct change *out)
{
    struct sweep *s = ((struct swept *)op->ctx)->s;
    str other = jv_exists(live) ? delete_other_than_meant(s->r->a, &s->o, live) : STR_NONE;

    if (other.n && !s->other.n) {
        s->name = arena_str(s->r->a, meta_name(live));
        s->other = other;
    }
    if (jv_exists(live) && !other.n)
        *out = delete_decide(a, op->res, live, &s->o, wall_now_ms());
    return 0;
}

static void done_swept(struct change_op *op, enum change_kind kind, struct blob *stored,
                       const struct err *e)
{
    struct sweep *s = ((struct swept *)op->ctx)->s;
    struct api_req *r = s->r;

    (void)kind;
    (void)stored;
    if (e && s->e.code == ERR_OK)
        s->e = *e;
    if (--s->left)
        return;
    if (s->e.code != ERR_OK)
        answer_err(r, &s->e);
    else if (s->other.n)
        fail_precondition(r, s->name, "%" PRI_STR, STR_ARG(s->other));
    else
        answer_list(r, s->found.meta, s->found.items, s->found.n);
}

static void begin_some(void *arg)
{
    struct sweep *s = arg;
    struct api_req *r = s->r;
    size_t n = s->found.n;

    for (size_t cost = 0; s->begun < n && cost < LIST_SLICE_BYTES;) {
        struct swept *x = &s->all[s->begun];
        x->s = s;
        x->op = (struct change_op){ .api = r->api,
                                    .res = r->res,
                                    .key = s->found.items[s->begun].key,
                                    .dry_run = r->q.dry_run,
                                    .decide = decide_swept,
                                    .done = done_swept,
                                    .ctx = x };
        cost += SWEPT_BYTES + value_size(s->found.items[s->begun].value);
        s->begun++;
        change_start(&x->op);
    }
    if (s->begun < n) {
        loop_defer(r->api->loop, begin_some, s);
        return;
    }
    /* one count was held back so that the answer comes last, also when there was nothing to do */
    struct swept *last = &s->all[n];
    last->s = s;
    last->op.ctx = last;
    done_swept(&last->op, CHANGE_NONE, NULL, NULL);
}

static void on_found(void *ctx)
{
    struct sweep *s = ctx;

    s->left = s->found.n + 1;
    s->all = ARENA_ARRAY(s->r->a, struct swept, s->found.n + 1);
    begin_some(s);
}

void verb_delete_collection(struct api_req *r)
{
    struct sweep *s = ARENA_NEW(r->a, struct sweep);

    s->r = r;
    if (table_check(r) == 0 && delete_read_options(r, &s->o) == 0)
        list_find(r, &s->found, on_found, s);
}

/* ---- our own */

struct quiet {
    struct change_op op;
    struct arena *a;
    struct resource *res;
    struct delete_opts o;
};

static void quiet_free(struct quiet *q)
{
    resource_unref(q->res);
    arena_free(q->a);
}

static int decide_quiet(struct change_op *op, struct arena *a, jv live, struct change *out)
{
    struct quiet *q = op->ctx;

    if (jv_exists(live))
        *out = delete_decide(a, op->res, live, &q->o, wall_now_ms());
    return 0;
}

static void done_quiet(struct change_op *op, enum change_kind kind, struct blob *stored,
                       const struct err *e)
{
    (void)kind;
    (void)stored;
    (void)e;
    quiet_free(op->ctx);
}

void delete_in_background(struct api *api, struct resource *res, str key)
{
    struct arena *a = arena_new();
    struct quiet *q = ARENA_NEW(a, struct quiet);

    q->a = a;
    q->res = resource_ref(res);
    q->o = (struct delete_opts){ .grace_s = -1, .propagation = PROPAGATE_BACKGROUND };
    q->op = (struct change_op){ .api = api,
                                .res = res,
                                .key = arena_str(a, key),
                                .decide = decide_quiet,
                                .done = done_quiet,
                                .ctx = q };
    change_start(&q->op);
}
