/* Admission: the few built-in plugins that users notice. */

#include "api/admit.h"

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

int admit_create(struct api_req *r, jv *obj)
{
    if (is(r->res, "pods"))
        return set_priority(r, obj);
    if (is(r->res, "persistentvolumeclaims"))
        set_storage_class(r, obj);
    return 0;
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
