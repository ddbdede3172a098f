/* Usage by kind: pods by what they ask for, services by their ports, claims by their storage, all
 * else by number. */

#include "builtin/quota_usage.h"

#include "builtin/check.h"
#include "builtin/pod.h"
#include "builtin/pod_amounts.h"
#include "builtin/resources.h"

#define BY_CLASS ".storageclass.storage.k8s.io/"

static str count_name(struct arena *a, str resource)
{
    return arena_cat(a, S("count/"), resource);
}

/* ---- pods */

static const char *const pod_names[] = { "count/pods",
                                         "cpu",
                                         "memory",
                                         "ephemeral-storage",
                                         "requests.cpu",
                                         "requests.memory",
                                         "requests.ephemeral-storage",
                                         "limits.cpu",
                                         "limits.memory",
                                         "limits.ephemeral-storage",
                                         "pods",
                                         NULL };

static bool pod_counts(str name)
{
    return one_of(name, pod_names) || str_starts(name, S("hugepages-")) ||
           str_starts(name, S("requests.hugepages-")) ||
           (!resource_is_native(name) && str_starts(name, S("requests.")));
}

static bool is_compute(str name)
{
    static const char *const names[] = { "cpu", "memory", "ephemeral-storage", NULL };

    return one_of(name, names);
}

/* Requests count by their plain name and as requests.NAME, limits as limits.NAME only. */
void quota_add_compute(struct amounts *to, const struct amounts *requests,
                       const struct amounts *limits)
{
    amounts_set_int(to, S("pods"), 1);
    for (size_t i = 0; i < requests->n; i++) {
        const struct amount *r = &requests->at[i];
        if (is_compute(r->name) || resource_is_hugepage(r->name))
            amounts_set(to, r->name, &r->q);
        else if (!resource_is_extended(r->name))
            continue;
        amounts_set(to, arena_cat(to->a, S("requests."), r->name), &r->q);
    }
    for (size_t i = 0; i < limits->n; i++)
        if (is_compute(limits->at[i].name))
            amounts_set(to, arena_cat(to->a, S("limits."), limits->at[i].name), &limits->at[i].q);
}

static struct amounts pod_usage(struct arena *a, jv pod)
{
    struct amounts use = amounts_new(a);
    str phase = FIELD_STR(FIELD(pod, "status"), "phase");

    amounts_set_int(&use, S("count/pods"), 1);
    if (str_eqz(phase, "Failed") || str_eqz(phase, "Succeeded"))
        return use;
    struct amounts requests = pod_amounts(a, pod, POD_REQUESTS, POD_OVERHEAD | POD_USE_STATUS);
    struct amounts limits = pod_amounts(a, pod, POD_LIMITS, POD_OVERHEAD | POD_USE_STATUS);
    quota_add_compute(&use, &requests, &limits);
    return use;
}

/* ---- services */

static const char *const service_names[] = { "count/services", "services", "services.nodeports",
                                             "services.loadbalancers", NULL };

static struct amounts service_usage(struct arena *a, jv svc)
{
    struct amounts use = amounts_new(a);
    jv spec = FIELD(svc, "spec");
    bool balanced = str_eqz(FIELD_STR(spec, "type"), "LoadBalancer");
    bool has_ports = balanced || str_eqz(FIELD_STR(spec, "type"), "NodePort");
    bool only_given = balanced && !jv_bool(FIELD(spec, "allocateLoadBalancerNodePorts"), true);
    int64_t ports = 0;

    JV_EACH (it, FIELD(spec, "ports"))
        ports += has_ports && (!only_given || FIELD_INT(it.value, "nodePort") != 0);
    amounts_set_int(&use, S("count/services"), 1);
    amounts_set_int(&use, S("services"), 1);
    amounts_set_int(&use, S("services.nodeports"), ports);
    amounts_set_int(&use, S("services.loadbalancers"), balanced);
    return use;
}

/* ---- claims */

static const char *const claim_names[] = { "count/persistentvolumeclaims", "persistentvolumeclaims",
                                           "requests.storage", NULL };

static bool claim_counts(str name)
{
    return one_of(name, claim_names) || str_ends(name, S(BY_CLASS "persistentvolumeclaims")) ||
           str_ends(name, S(BY_CLASS "requests.storage"));
}

static str storage_class(jv claim)
{
    str by_annotation = jv_str(
        jv_get(meta_annotations(claim), S("volume.beta.kubernetes.io/storage-class")), S(""));

    return by_annotation.n ? by_annotation : FIELD_STR(FIELD(claim, "spec"), "storageClassName");
}

static struct amounts claim_usage(struct arena *a, jv claim)
{
    struct amounts use = amounts_new(a);
    str class = storage_class(claim);
    jv asked = jv_at(claim, "spec", "resources", "requests", "storage");

    amounts_set_int(&use, S("count/persistentvolumeclaims"), 1);
    amounts_set_int(&use, S("persistentvolumeclaims"), 1);
    if (class.n)
        amounts_set_int(&use, arena_cat(a, class, S(BY_CLASS "persistentvolumeclaims")), 1);
    if (!jv_exists(asked))
        return use;
    struct quantity q = quantity_of_jv(asked);
    struct quantity given = quantity_of_jv(jv_at(claim, "status", "allocatedResources", "storage"));
    if (quantity_cmp(&given, &q) > 0)
        q = given;
    quantity_round_up(&q, 0);
    amounts_set(&use, S("requests.storage"), &q);
    if (class.n)
        amounts_set(&use, arena_cat(a, class, S(BY_CLASS "requests.storage")), &q);
    return use;
}

/* ---- all else: by number, some by a name of old as well */

static bool has_old_name(str resource)
{
    static const char *const names[] = { "configmaps", "resourcequotas", "replicationcontrollers",
                                         "secrets", NULL };

    return one_of(resource, names);
}

static struct amounts plain_usage(struct arena *a, str resource)
{
    struct amounts use = amounts_new(a);

    amounts_set_int(&use, count_name(a, resource), 1);
    if (has_old_name(resource))
        amounts_set_int(&use, resource, 1);
    return use;
}

bool quota_counts_only(str resource)
{
    static const char *const others[] = { "pods", "services", "persistentvolumeclaims", NULL };

    return !one_of(resource, others);
}

struct amounts quota_usage(struct arena *a, str resource, jv obj)
{
    if (str_eqz(resource, "pods"))
        return pod_usage(a, obj);
    if (str_eqz(resource, "services"))
        return service_usage(a, obj);
    if (str_eqz(resource, "persistentvolumeclaims"))
        return claim_usage(a, obj);
    return plain_usage(a, resource);
}

bool quota_counts(struct arena *a, str resource, str name)
{
    if (str_eqz(resource, "pods"))
        return pod_counts(name);
    if (str_eqz(resource, "services"))
        return one_of(name, service_names);
    if (str_eqz(resource, "persistentvolumeclaims"))
        return claim_counts(name);
    if (str_eqz(resource, "events") || str_eqz(resource, "events.events.k8s.io"))
        return false; /* have never been */
    return str_eq(name, count_name(a, resource)) ||
           (has_old_name(resource) && str_eq(name, resource));
}

/* ---- scopes */

/* In, NotIn, Exists, DoesNotExist over the texts an object has for a scope. */
static bool matches(jv expression, const str *have, size_t n)
{
    str op = FIELD_STR(expression, "operator");
    bool in = false;

    if (str_eqz(op, "Exists"))
        return n > 0;
    if (str_eqz(op, "DoesNotExist"))
        return n == 0;
    if (str_eqz(op, "NotIn") && n == 0)
        return true;
    for (size_t i = 0; i < n; i++) {
        in = str_list_has(FIELD(expression, "values"), have[i]);
        if (in == str_eqz(op, "In"))
            return true;
    }
    return false;
}

static bool has_far_term(jv terms, bool weighted)
{
    JV_EACH (it, terms) {
        jv term = weighted ? FIELD(it.value, "podAffinityTerm") : it.value;
        if (jv_len(FIELD(term, "namespaces")) || !jv_is_null(FIELD(term, "namespaceSelector")))
            return true;
    }
    return false;
}

static bool looks_at_other_namespaces(jv pod)
{
    static const char *const kinds[] = { "podAffinity", "podAntiAffinity" };

    for (size_t i = 0; i < COUNT(kinds); i++) {
        jv terms = jv_get(jv_at(pod, "spec", "affinity"), str_of(kinds[i]));
        if (has_far_term(FIELD(terms, "requiredDuringSchedulingIgnoredDuringExecution"), false) ||
            has_far_term(FIELD(terms, "preferredDuringSchedulingIgnoredDuringExecution"), true))
            return true;
    }
    return false;
}

static bool pod_in_scope(struct arena *a, jv expression, jv pod)
{
    str scope = FIELD_STR(expression, "scopeName");
    jv spec = FIELD(pod, "spec");
    str qos = FIELD_STR(FIELD(pod, "status"), "qosClass");
    str class = FIELD_STR(spec, "priorityClassName");
    bool ends = jv_int(FIELD(spec, "activeDeadlineSeconds"), -1) >= 0;
    bool best_effort = str_eqz(qos.n ? qos : str_of(pod_qos(a, spec)), "BestEffort");

    return str_eqz(scope, "Terminating")                 ? ends
           : str_eqz(scope, "NotTerminating")            ? !ends
           : str_eqz(scope, "BestEffort")                ? best_effort
           : str_eqz(scope, "NotBestEffort")             ? !best_effort
           : str_eqz(scope, "PriorityClass")             ? matches(expression, &class, class.n > 0)
           : str_eqz(scope, "CrossNamespacePodAffinity") ? looks_at_other_namespaces(pod)
                                                         : false;
}

static bool claim_in_scope(jv expression, jv claim)
{
    jv status = FIELD(claim, "status");
    str all[] = { FIELD_STR(FIELD(claim, "spec"), "volumeAttributesClassName"),
                  FIELD_STR(status, "currentVolumeAttributesClassName"),
                  FIELD_STR(FIELD(status, "modifyVolumeStatus"),
                            "targetVolumeAttributesClassName") };
    str have[COUNT(all)];
    size_t n = 0;

    for (size_t i = 0; i < COUNT(all); i++)
        if (all[i].n)
            have[n++] = all[i];
    return str_eqz(FIELD_STR(expression, "scopeName"), "VolumeAttributesClass") &&
           matches(expression, have, n);
}

static bool in_scope(struct arena *a, jv expression, str resource, jv obj)
{
    if (str_eqz(resource, "pods"))
        return pod_in_scope(a, expression, obj);
    return str_eqz(resource, "persistentvolumeclaims") && claim_in_scope(expression, obj);
}

bool quota_covers(struct arena *a, jv spec, str resource, jv obj)
{
    JV_EACH (it, FIELD(spec, "scopes")) {
        jv expression = jobj(a, { "scopeName", it.value }, { "operator", jstrz(a, "Exists") });
        if (!in_scope(a, expression, resource, obj))
            return false;
    }
    JV_EACH (it, jv_at(spec, "scopeSelector", "matchExpressions"))
        if (!in_scope(a, it.value, resource, obj))
            return false;
    return true;
}
