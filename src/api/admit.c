/* Admission: the few built-in plugins that users notice. */

#include "api/admit.h"

#include "builtin/limits.h"
#include "builtin/pod_admission.h"
#include "kube/meta.h"

static bool is(const struct resource *res, const char *group_resource)
{
    return res->builtin && str_eqz(res->group_resource, group_resource);
}

/* The class a pod names, or the one marked as the default; absent: neither. */
static jv priority_class(struct api_req *r, str name)
{
    struct resource *res =
        registry_find(&r->api->registry, S("scheduling.k8s.io"), S("v1"), S("priorityclasses"));

    if (name.n) {
        struct store_obj *o = store_get(res->coll, name);
        return o ? resource_parse_value(r->a, res, o->value) : JV_ABSENT;
    }
    for (struct store_obj *o = store_seek(res->coll, STR_NONE); o; o = store_next(res->coll, o)) {
        jv c = resource_parse_value(r->a, res, o->value);
        if (jv_bool(jv_at(c, "globalDefault"), false))
            return c;
    }
    return JV_ABSENT;
}

static int set_priority(struct api_req *r, jv *pod)
{
    str name = jv_str(jv_at(*pod, "spec", "priorityClassName"), STR_NONE);
    jv c = priority_class(r, name);
    struct err e = { 0 };

    if (name.n && !jv_exists(c)) {
        fail_forbidden(r, meta_name(*pod), "no PriorityClass with name %" PRI_STR " was found",
                       STR_ARG(name));
        return -1;
    }
    if (pod_resolve_priority(r->a, *pod, c, pod, &e) == 0)
        return 0;
    fail_forbidden(r, meta_name(*pod), "%s", e.msg);
    return -1;
}

/* What its RuntimeClass says of a pod. */
static int set_runtime_class(struct api_req *r, jv *pod)
{
    struct resource *res =
        registry_find(&r->api->registry, S("node.k8s.io"), S("v1"), S("runtimeclasses"));
    jv named = jv_at(*pod, "spec", "runtimeClassName");
    str name = jv_str(named, S(""));
    struct err e = { 0 };
    jv c = JV_ABSENT;

    if (!jv_is_null(named)) {
        struct store_obj *o = name.n ? store_get(res->coll, name) : NULL;
        if (!o) {
            fail_forbidden(r, meta_name(*pod),
                           "pod rejected: RuntimeClass \"%" PRI_STR "\" not found", STR_ARG(name));
            return -1;
        }
        c = resource_parse_value(r->a, res, o->value);
        if (r->api->o.pods)
            request_warn(r,
                         "RuntimeClass %" PRI_STR
                         " has no effect: this server runs all pods in the same way",
                         STR_ARG(name));
    }
    if (pod_apply_runtime_class(r->a, *pod, c, pod, &e) == 0)
        return 0;
    fail_forbidden(r, meta_name(*pod), "%s", e.msg);
    return -1;
}

/* A claim that names no class gets the default one. */
static void set_storage_class(struct api_req *r, jv *claim)
{
    struct resource *res =
        registry_find(&r->api->registry, S("storage.k8s.io"), S("v1"), S("storageclasses"));

    if (!jv_is_null(jv_at(*claim, "spec", "storageClassName")))
        return;
    for (struct store_obj *o = store_seek(res->coll, STR_NONE); o; o = store_next(res->coll, o)) {
        jv c = resource_parse_value(r->a, res, o->value);
        if (str_eqz(jv_str(jv_at(c, "metadata", "annotations",
                                 "storageclass.kubernetes.io/is-default-class"),
                           STR_NONE),
                    "true"))
            *claim = jv_with(r->a, *claim, jstr(r->a, meta_name(c)), "spec", "storageClassName");
    }
}

/* What is in use does not go before whoever uses it: a controller takes the finalizer away. */
static void protect(struct api_req *r, jv *obj, str finalizer)
{
    struct jbuild b = jb_arr(r->a);

    if (!r->api->o.protect_storage || meta_has_finalizer(*obj, finalizer))
        return;
    JV_EACH (it, jv_at(*obj, "metadata", "finalizers"))
        jb_push(&b, it.value);
    jb_push(&b, jstr(r->a, finalizer));
    *obj = jv_with(r->a, *obj, jb_done(&b), "metadata", "finalizers");
}

/* The LimitRanges of the namespace. */
static jv limit_ranges(struct api_req *r)
{
    struct resource *res = registry_find(&r->api->registry, S(""), S("v1"), S("limitranges"));
    struct jbuild b = jb_arr(r->a);

    if (!store_coll_count(res->coll))
        return JV_EMPTY_ARR;
    str prefix = arena_printf(r->a, "%" PRI_STR "/", STR_ARG(r->ns));
    for (struct store_obj *o = store_seek(res->coll, prefix); o && str_starts(o->key, prefix);
         o = store_next(res->coll, o))
        jb_push(&b, resource_parse_value(r->a, res, o->value));
    return jb_done(&b);
}

jv admit_owners(struct api_req *r, struct arena *a, jv obj)
{
    AUTO(buf) struct buf twice = { 0 };

    obj = meta_owners_once(a, obj, &twice);
    if (twice.n)
        request_warn(r,
                     ".metadata.ownerReferences contains duplicate entries%s; API server dedups "
                     "owner references in 1.20+, and may reject such requests as early as 1.24; "
                     "please fix your requests; duplicate UID(s) observed: %" PRI_STR,
                     r->verb == VERB_PATCH ? " after mutating admission happens" : "",
                     STR_ARG(buf_str(&twice)));
    return obj;
}

int admit_create(struct api_req *r, jv *obj)
{
    if (is(r->res, "pods")) {
        if (admit_account(r, obj) < 0)
            return -1;
        *obj = limits_apply(r->a, limit_ranges(r), *obj);
        return set_priority(r, obj) < 0 ? -1 : set_runtime_class(r, obj);
    }
    if (is(r->res, "persistentvolumeclaims")) {
        set_storage_class(r, obj);
        protect(r, obj, S("kubernetes.io/pvc-protection"));
    } else if (is(r->res, "persistentvolumes")) {
        protect(r, obj, S("kubernetes.io/pv-protection"));
    }
    return 0;
}

static bool has_deadline(jv pod)
{
    return jv_int(jv_at(pod, "spec", "activeDeadlineSeconds"), -1) >= 0;
}

/* Changes that can break a limit: most of a pod never changes, and of most kinds only their number
 * counts. */
static bool is_limited(struct api_req *r, jv live)
{
    bool is_update = jv_exists(live);

    if (is(r->res, "pods"))
        return r->sub.n ? str_eqz(r->sub, "resize") : !is_update;
    return !r->sub.n && is(r->res, "persistentvolumeclaims") && !meta_being_deleted(live);
}

static bool is_charged(struct api_req *r, jv obj, jv live)
{
    if (is(r->res, "pods"))
        return !jv_exists(live) || str_eqz(r->sub, "resize") ||
               (!r->sub.n && has_deadline(obj) != has_deadline(live));
    return !jv_exists(live) ||
           (!r->sub.n && (is(r->res, "services") || is(r->res, "persistentvolumeclaims")));
}

int admit_limits(struct api_req *r, jv obj, jv live, struct quota_hold *h)
{
    if (is_limited(r, live)) {
        jv ranges = limit_ranges(r);
        str why = is(r->res, "pods") ? limits_check_pod(r->a, ranges, obj)
                                     : limits_check_claim(r->a, ranges, obj);
        if (why.n) {
            fail_forbidden(r, meta_name(obj), "%" PRI_STR, STR_ARG(why));
            return -1;
        }
    }
    return is_charged(r, obj, live) ? quotas_admit(r, obj, live, h) : 0;
}

static void warn_of_definition(struct api_req *r, jv obj, jv live)
{
    jv said = crd_definition_warnings(r->a, obj, live);

    JV_EACH (it, said)
        request_warn(r, "%" PRI_STR, STR_ARG(jv_str(it.value, STR_NONE)));
}

/* By those who know what a custom resource means. */
static void warn_of_custom(struct api_req *r, jv obj)
{
    const struct api_opts *o = &r->api->o;

    for (size_t i = 0; i < o->n_checks; i++) {
        const struct api_check *c = &o->checks[i];
        if (!c->advise || !str_eqz(r->res->group, c->group) ||
            !str_eqz(r->res->plural, c->resource))
            continue;
        str text = c->advise(c->ctx, r->a, obj);
        if (text.n)
            request_warn(r, "%" PRI_STR, STR_ARG(text));
    }
}

/* Pods run here, and nobody makes them of these; one that has an owner is some controller's. */
static void warn_of_idle(struct api_req *r, jv obj)
{
    static const char *const idle[] = {
        "deployments.apps", "replicasets.apps", "statefulsets.apps",     "daemonsets.apps",
        "jobs.batch",       "cronjobs.batch",   "replicationcontrollers"
    };

    for (size_t i = 0; i < COUNT(idle); i++)
        if (is(r->res, idle[i]) && !jv_len(jv_at(obj, "metadata", "ownerReferences")))
            request_warn(r, "%" PRI_STR "s are stored but not run by this server",
                         STR_ARG(r->res->kind));
}

void admit_warn(struct api_req *r, jv obj, jv live)
{
    struct warnings w = { .a = r->a };

    if (r->sub.n)
        return;
    if (!r->res->builtin) {
        warn_of_custom(r, obj);
        return;
    }
    if (is(r->res, "customresourcedefinitions.apiextensions.k8s.io"))
        warn_of_definition(r, obj, live);
    if (r->api->o.pods && !jv_exists(live))
        warn_of_idle(r, obj);
    if (!r->res->builtin->warn)
        return;
    r->res->builtin->warn(&w, obj, live);
    for (size_t i = 0; i < w.n; i++)
        request_warn(r, "%" PRI_STR, STR_ARG(w.at[i]));
}

int admit_delete(struct api_req *r, jv obj)
{
    static const char *const lasting[] = { "default", "kube-system", "kube-public" };
    str name = meta_name(obj);

    if (!is(r->res, "namespaces"))
        return 0;
    for (size_t i = 0; i < COUNT(lasting); i++)
        if (str_eqz(name, lasting[i])) {
            fail_forbidden(r, name, "this namespace may not be deleted");
            return -1;
        }
    return 0;
}
