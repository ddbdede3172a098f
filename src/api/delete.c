/* delete and deletecollection. */

#include "api/delete.h"

#include "api/admit.h"
#include "api/crds.h"
#include "api/decode.h"
#include "api/list.h"
#include "api/namespaces.h"
#include "api/select.h"
#include "api/strategy.h"
#include "api/table.h"
#include "builtin/types.h"
#include "kube/meta.h"

#include <stdlib.h>

/* ---- deciding */

static bool is_one_of(const struct resource *res, const char *const *names)
{
    for (; *names; names++)
        if (res->builtin && str_eqz(res->group_resource, *names))
            return true;
    return false;
}

/* Their dependents are left alone unless the request says otherwise: an old promise. */
static bool orphans_by_default(const struct resource *res)
{
    static const char *const names[] = { "jobs.batch", "replicationcontrollers", NULL };

    return is_one_of(res, names);
}

static jv finalizers_for(struct arena *a, const struct resource *res, jv obj, enum propagation p)
{
    struct jbuild b = jb_arr(a);
    jv now = jv_at(obj, "metadata", "finalizers");
    bool orphan = p == PROPAGATE_ORPHAN;
    bool foreground = p == PROPAGATE_FOREGROUND;

    if (p == PROPAGATE_DEFAULT) {
        orphan = meta_has_finalizer(obj, S("orphan")) ||
                 (orphans_by_default(res) && !meta_has_finalizer(obj, S("foregroundDeletion")));
        foreground = !orphan && meta_has_finalizer(obj, S("foregroundDeletion"));
    }
    for (struct jv_iter it = jv_iter(now); jv_next(&it);) {
        str f = jv_str(it.value, STR_NONE);
        if (!str_eqz(f, "orphan") && !str_eqz(f, "foregroundDeletion"))
            jb_push(&b, it.value);
    }
    if (orphan)
        jb_push(&b, jstrz(a, "orphan"));
    if (foreground)
        jb_push(&b, jstrz(a, "foregroundDeletion"));
    return jb_done(&b);
}

/* Pods get time to end, unless they never ran or are over. */
static int64_t grace_of(const struct resource *res, jv obj, int64_t asked)
{
    if (!res->builtin || !(res->builtin->flags & KIND_GRACEFUL))
        return 0;
    str phase = jv_str(jv_at(obj, "status", "phase"), STR_NONE);
    int64_t grace =
        asked >= 0 ? asked : jv_int(jv_at(obj, "spec", "terminationGracePeriodSeconds"), 30);
    if (!jv_str(jv_at(obj, "spec", "nodeName"), STR_NONE).n || str_eqz(phase, "Succeeded") ||
        str_eqz(phase, "Failed"))
        return 0;
    return grace < 0 ? 1 : grace;
}

/* Kinds with a grace period show their end, even when it is now. */
static jv as_removed(struct arena *a, const struct resource *res, jv obj, int64_t now_ms)
{
    int64_t generation = jv_int(jv_at(obj, "metadata", "generation"), 0);

    if (!res->builtin || !(res->builtin->flags & KIND_GRACEFUL))
        return obj;
    if (generation > 0 && !meta_being_deleted(obj))
        obj = jv_with(a, obj, jint(a, generation + 1), "metadata", "generation");
    obj = jv_with(a, obj, time_value(a, now_ms), "metadata", "deletionTimestamp");
    return jv_with(a, obj, jint(a, 0), "metadata", "deletionGracePeriodSeconds");
}

/* Kinds that only begin to end when they are deleted: what is first made of them, and what else
 * than metadata.finalizers keeps them. */
static const struct ending {
    const char *what;
    jv (*mark)(struct arena *a, jv obj, int64_t now_ms);
    bool (*is_held)(jv obj); /* NULL: by nothing else */
} endings[] = {
    { "namespaces", namespace_marked_for_deletion, namespace_is_held },
    { "customresourcedefinitions.apiextensions.k8s.io", crd_marked_for_deletion, NULL },
};

static const struct ending *ending_of(const struct resource *res)
{
    for (size_t i = 0; res->builtin && i < COUNT(endings); i++)
        if (str_eqz(res->group_resource, endings[i].what))
            return &endings[i];
    return NULL;
}

static bool is_held(const struct resource *res, jv obj)
{
    const struct ending *own = ending_of(res);

    return own && own->is_held && own->is_held(obj);
}

bool delete_is_over(const struct resource *res, jv obj)
{
    bool graceful = res->builtin && (res->builtin->flags & KIND_GRACEFUL);

    return meta_being_deleted(obj) && jv_len(jv_at(obj, "metadata", "finalizers")) == 0 &&
           (!graceful || jv_int(jv_at(obj, "metadata", "deletionGracePeriodSeconds"), 0) == 0) &&
           !is_held(res, obj);
}

struct change delete_decide(struct arena *a, const struct resource *res, jv obj,
                            const struct delete_opts *o, int64_t now_ms)
{
    const struct ending *own = ending_of(res);

    if (own && !meta_being_deleted(obj))
        return (struct change){ CHANGE_PUT, own->mark(a, obj, now_ms) };
    if (is_held(res, obj))
        return (struct change){ CHANGE_NONE, obj };
    jv finalizers = finalizers_for(a, res, obj, o->propagation);
    bool already = meta_being_deleted(obj);
    int64_t grace = grace_of(res, obj, o->grace_s);
    int64_t before = jv_int(jv_at(obj, "metadata", "deletionGracePeriodSeconds"), 0);
    int64_t generation = jv_int(jv_at(obj, "metadata", "generation"), 0);

    if (already && (o->grace_s < 0 || grace >= before))
        grace = before; /* a second deletion can only make it sooner */
    if (!jv_len(finalizers) && grace == 0)
        return (struct change){ CHANGE_REMOVE, as_removed(a, res, obj, now_ms) };
    jv out = jv_with(a, obj, jv_len(finalizers) ? finalizers : JV_ABSENT, "metadata", "finalizers");
    if (!already || grace < before) {
        out =
            jv_with(a, out, time_value(a, now_ms + grace * 1000), "metadata", "deletionTimestamp");
        out = jv_with(a, out, jint(a, grace), "metadata", "deletionGracePeriodSeconds");
        if (generation > 0 && !already)
            out = jv_with(a, out, jint(a, generation + 1), "metadata", "generation");
    }
    bool same = jv_equal(out, obj);
    return (struct change){ same ? CHANGE_NONE : CHANGE_PUT, out };
}

/* ---- options of a request: from the body, or else the query */

static int check_policy(struct api_req *r, str policy, bool orphan_given, bool orphan,
                        enum propagation *out)
{
    static const char *const known[] = { "Foreground", "Background", "Orphan", "nil", NULL };
    struct problems ps = { .a = r->a };
    struct path p = path_field(NULL, S("propagationPolicy"));

    *out = str_eqz(policy, "Foreground")   ? PROPAGATE_FOREGROUND
           : str_eqz(policy, "Background") ? PROPAGATE_BACKGROUND
           : str_eqz(policy, "Orphan")     ? PROPAGATE_ORPHAN
           : orphan_given                  ? (orphan ? PROPAGATE_ORPHAN : PROPAGATE_BACKGROUND)
                                           : PROPAGATE_DEFAULT;
    if (policy.n && orphan_given)
        problem_invalid(&ps, &p, jstr(r->a, policy),
                        "orphanDependents and deletionPropagation cannot be both set");
    else if (policy.n && *out == PROPAGATE_DEFAULT)
        problem_not_supported(&ps, &p, jstr(r->a, policy), known);
    if (!ps.n)
        return 0;
    fail_invalid(r, S("DeleteOptions"), S("meta.k8s.io"), STR_NONE, &ps);
    return -1;
}

static jv parse_protobuf(struct api_req *r, const struct body_type *t, struct err *e)
{
    struct protobuf_body body;

    return protobuf_open(http_body(r->http), &body, e) < 0 ? JV_ABSENT
                                                           : body_from_protobuf(r->a, t, &body, e);
}

/* The body in its form, not yet decoded. */
static int parse_form(struct api_req *r, jv *out)
{
    static const struct body_type type = { S_INIT("DeleteOptions"),
                                           { NULL, 0 },
                                           &meta_DeleteOptions };
    struct strict s = { 0 };
    struct err e = { 0 };

    switch (body_form(r)) {
    case BODY_YAML:
        return body_parse(r, &type, &s, out);
    case BODY_PROTOBUF:
        *out = parse_protobuf(r, &type, &e);
        break;
    case BODY_JSON:
        *out = json_parse(r->a, http_body(r->http), NULL, &e);
        if (!jv_exists(*out))
            err_wrap(&e, "couldn't get version/kind; json parse error");
        break;
    case BODY_UNKNOWN:
        body_refuse_form(r, false);
        return -1;
    }
    if (jv_exists(*out))
        return 0;
    fail_plain(r, 500, "%s", e.msg);
    return -1;
}

static int parse_body(struct api_req *r, jv *out)
{
    struct err e = { 0 };
    jv v;

    if (!str_trim(http_body(r->http)).n) {
        *out = JV_EMPTY_OBJ;
        return 0;
    }
    if (parse_form(r, &v) < 0)
        return -1;
    str kind = jv_str(jv_at(v, "kind"), S("DeleteOptions"));
    if (!str_eqz(kind, "DeleteOptions")) {
        fail_plain(r, 500,
                   "no kind \"%" PRI_STR "\" is registered for version \"%" PRI_STR
                   "\" in scheme \"pkg/runtime/scheme.go:110\"",
                   STR_ARG(kind), STR_ARG(jv_str(jv_at(v, "apiVersion"), S("v1"))));
        return -1;
    }
    *out = schema_decode(r->a, &meta_DeleteOptions, v, NULL, &e);
    if (jv_exists(*out))
        return 0;
    fail_plain(r, 500, "%s", e.msg);
    return -1;
}

static bool is_job(const struct resource *res)
{
    return res->builtin && str_eqz(res->group_resource, "jobs.batch");
}

static int read_options(struct api_req *r, struct delete_opts *o)
{
    jv v;

    if (parse_body(r, &v) < 0)
        return -1;
    bool in_body = str_trim(http_body(r->http)).n > 0; /* then the query does not count */
    if (in_body)
        r->q.dry_run = false;
    str policy = in_body ? jv_str(jv_at(v, "propagationPolicy"), STR_NONE) : r->q.propagation;
    bool orphan_given = in_body ? jv_exists(jv_at(v, "orphanDependents")) : r->q.orphan_given;
    bool orphan = in_body ? jv_bool(jv_at(v, "orphanDependents"), false) : r->q.orphan;
    int64_t none = r->q.grace_given ? r->q.grace_s : -1;

    for (struct jv_iter it = jv_iter(jv_at(v, "dryRun")); jv_next(&it);) {
        if (str_eqz(jv_str(it.value, STR_NONE), "All")) {
            r->q.dry_run = true;
            continue;
        }
        static const char *const all[] = { "All", NULL };
        struct problems ps = { .a = r->a };
        struct path p = path_field(NULL, S("dryRun"));
        problem_not_supported(&ps, &p, jv_at(v, "dryRun"), all);
        fail_invalid(r, S("DeleteOptions"), S("meta.k8s.io"), STR_NONE, &ps);
        return -1;
    }
    o->grace_s = in_body ? jv_int(jv_at(v, "gracePeriodSeconds"), none) : none;
    if ((in_body ? jv_exists(jv_at(v, "gracePeriodSeconds")) : r->q.grace_given) && o->grace_s < 0)
        o->grace_s = 1;
    o->uid = jv_str(jv_at(v, "preconditions", "uid"), STR_NONE);
    o->resource_version = jv_str(jv_at(v, "preconditions", "resourceVersion"), STR_NONE);
    if (!policy.n && !orphan_given && is_job(r->res))
        request_warn(r, "child pods are preserved by default when jobs are deleted; set "
                        "propagationPolicy=Background to remove them or set "
                        "propagationPolicy=Orphan to suppress this warning");
    return check_policy(r, policy, orphan_given, orphan, &o->propagation);
}

/* ---- one object */

struct deletion {
    struct change_op op;
    struct api_req *r;
    struct delete_opts o;
};

static int decide_one(struct change_op *op, struct arena *a, jv live, struct change *out)
{
    struct deletion *d = op->ctx;
    struct api_req *r = d->r;

    if (!jv_exists(live)) {
        fail_not_found(r, r->res, r->name);
        return -1;
    }
    if (d->o.uid.n && !str_eq(d->o.uid, meta_uid(live))) {
        fail_precondition(r, r->name,
                          "the UID in the precondition (%" PRI_STR
                          ") does not match the UID in record (%" PRI_STR
                          "). The object might have been deleted and then recreated",
                          STR_ARG(d->o.uid), STR_ARG(meta_uid(live)));
        return -1;
    }
    if (d->o.resource_version.n && !str_eq(d->o.resource_version, meta_resource_version(live))) {
        fail_precondition(r, r->name,
                          "the ResourceVersion in the precondition (%" PRI_STR
                          ") does not match the ResourceVersion in record (%" PRI_STR
                          "). The object might have been modified",
                          STR_ARG(d->o.resource_version), STR_ARG(meta_resource_version(live)));
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
                                         NULL };

    return is_one_of(res, names);
}

static void done_one(struct change_op *op, enum change_kind kind, struct blob *stored,
                     const struct err *e)
{
    struct deletion *d = op->ctx;
    struct api_req *r = d->r;

    if (e) {
        answer_err(r, e);
    } else if (kind == CHANGE_REMOVE && !shows_deleted(r->res)) {
        jv obj = resource_parse(r->a, op->res, stored);
        answer_deleted(r, meta_name(obj), meta_uid(obj));
    } else {
        answer_stored(r, 200, stored);
    }
}

void verb_delete(struct api_req *r)
{
    struct deletion *d = ARENA_NEW(r->a, struct deletion);

    d->r = r;
    if (table_check(r) < 0 || read_options(r, &d->o) < 0)
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

struct sweep {
    struct api_req *r;
    struct delete_opts o;
    struct store_item *items;
    size_t n;
    size_t left;
    struct err e; /* the first failure */
};

struct swept {
    struct change_op op;
    struct sweep *s;
};

static int decide_swept(struct change_op *op, struct arena *a, jv live, struct change *out)
{
    struct swept *w = op->ctx;

    if (jv_exists(live))
        *out = delete_decide(a, op->res, live, &w->s->o, wall_now_ms());
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
    if (s->e.code != ERR_OK) {
        answer_err(r, &s->e);
        return;
    }
    answer_list(r, (struct list_meta){ .rev = store_rev(r->api->store) }, s->items, s->n);
}

void verb_delete_collection(struct api_req *r)
{
    struct sweep *s = ARENA_NEW(r->a, struct sweep);
    struct selection sel;
    struct store_snapshot snap;
    struct err e = { 0 };

    s->r = r;
    if (table_check(r) < 0 || read_options(r, &s->o) < 0 || selection_of(r, &sel) < 0)
        return;
    if (store_snapshot(r->res->coll, r->a, 0, sel.prefix, STR_NONE, &snap, &e) < 0) {
        answer_err(r, &e);
        return;
    }
    s->items = arena_alloc(r->a, (snap.n + 1) * sizeof(*s->items));
    for (size_t i = 0; i < snap.n; i++)
        if (selection_has_stored(&sel, snap.items[i].key, snap.items[i].value))
            s->items[s->n++] = snap.items[i];
    s->left = s->n + 1;
    struct swept *all = ARENA_ARRAY(r->a, struct swept, s->n + 1);
    for (size_t i = 0; i < s->n; i++) {
        all[i].s = s;
        all[i].op = (struct change_op){ .api = r->api,
                                        .res = r->res,
                                        .key = s->items[i].key,
                                        .dry_run = r->q.dry_run,
                                        .decide = decide_swept,
                                        .done = done_swept,
                                        .ctx = &all[i] };
        change_start(&all[i].op);
    }
    /* one count was held back so that the answer comes last, also when there was nothing to do */
    struct swept *last = &all[s->n];
    last->s = s;
    last->op.ctx = last;
    done_swept(&last->op, CHANGE_NONE, NULL, NULL);
}

/* ---- our own */

struct quiet {
    struct change_op op;
    struct arena *a;
    struct resource *res;
    str uid;
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

    if (jv_exists(live) && (!q->uid.n || str_eq(q->uid, meta_uid(live))))
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

void delete_in_background(struct api *api, struct resource *res, str key, str uid,
                          enum propagation propagation)
{
    struct arena *a = arena_new();
    struct quiet *q = ARENA_NEW(a, struct quiet);

    q->a = a;
    q->res = resource_ref(res);
    q->uid = arena_str(a, uid);
    q->o = (struct delete_opts){ .grace_s = -1, .propagation = propagation };
    q->op = (struct change_op){ .api = api,
                                .res = res,
                                .key = arena_str(a, key),
                                .decide = decide_quiet,
                                .done = done_quiet,
                                .ctx = q };
    change_start(&q->op);
}
