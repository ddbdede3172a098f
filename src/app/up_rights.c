#include "app/up_rights.h"

#include "job/rights.h"

struct grant {
    const char *group, *resources, *verbs; /* lists with a space between words */
};

static const struct grant node_rights[] = {
    { "", "pods", "list watch delete" },
    { "", "pods/status", "patch" },
    { "", "nodes", "get list watch create patch" },
    { "", "nodes/status", "patch" },
    { "", "configmaps endpoints persistentvolumeclaims persistentvolumes secrets services",
      "list watch" },
    { "discovery.k8s.io", "endpointslices", "list watch" },
    { "", "serviceaccounts/token", "create" },
    { "", "events", "create patch" },
    { "coordination.k8s.io", "leases", "create patch" },
};

/* Pods to nodes, and claims to volumes. */
static const struct grant scheduler_rights[] = {
    { "", "nodes namespaces", "list watch" },
    { "", "pods", "list watch" },
    { "", "bindings pods/binding", "create" },
    { "kubeflow.org", "*", "list watch" },
    { "scheduling.volcano.sh", "podgroups", "list watch patch" },
    { "scheduling.volcano.sh", "queues", "list watch" },
    { "scheduling.volcano.sh", "queues/status", "patch" },
    { "scheduling.x-k8s.io", "podgroups", "list watch" },
    { "scheduling.x-k8s.io", "podgroups/status", "patch" },
    { "scheduling.k8s.io", "priorityclasses", "list watch" },
    { "", "resourcequotas", "list watch" },
    { "", "pods/status", "patch" },
    { "", "persistentvolumes", "list watch get create patch delete" },
    { "", "persistentvolumeclaims", "list watch get patch" },
    { "", "persistentvolumeclaims/status persistentvolumes/status", "patch" },
    { "storage.k8s.io", "storageclasses", "list watch create" },
    { "", "events", "create" },
};

static const struct grant preemption_rights[] = { { "", "pods", "delete" } };
static const struct grant kube_group_rights[] = {
    { "scheduling.k8s.io", "podgroups", "list watch" },
    { "scheduling.k8s.io", "podgroups/status", "patch" },
};

static jv words(struct arena *a, const char *list)
{
    struct jbuild b = jb_arr(a);

    for (str rest = str_of(list); rest.p;)
        jb_push(&b, jstr(a, str_cut(&rest, ' ')));
    return jb_done(&b);
}

static jv rule(struct arena *a, const struct grant *r)
{
    return jobj(a, { "verbs", words(a, r->verbs) },
                { "apiGroups", jarr(a, jstr(a, str_of(r->group))) },
                { "resources", words(a, r->resources) });
}

static void add_rules(struct jbuild *b, const struct grant *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        jb_push(b, rule(b->a, &at[i]));
}

jv up_operator_rules(struct arena *a, const struct planner *const *planners, size_t n,
                     enum gang_mode gang)
{
    struct right rights[RIGHTS_MAX];
    struct jbuild b = jb_arr(a);

    n = rights_of(rights, planners, n, gang);
    for (size_t i = 0; i < n; i++) {
        const struct right *r = &rights[i];
        str name = arena_printf(a, "%s%s%s", r->res->plural, *r->sub ? "/" : "", r->sub);
        str verbs = arena_printf(a, "%s%s", r->is_watched ? "list watch " : "", r->verbs);

        jb_push(&b, rule(a, &(struct grant){ r->res->group, name.p, verbs.p }));
    }
    return jb_done(&b);
}

struct api_role up_node_role(struct arena *a)
{
    struct jbuild b = jb_arr(a);

    add_rules(&b, node_rights, COUNT(node_rights));
    return (
        struct api_role){ .name = "system:node", .group = UP_NODES_GROUP, .rules = jb_done(&b) };
}

struct api_role up_scheduler_role(struct arena *a, const struct up_scheduler_may *may)
{
    struct jbuild b = jb_arr(a);

    add_rules(&b, scheduler_rights, COUNT(scheduler_rights));
    if (may->delete_pods)
        add_rules(&b, preemption_rights, COUNT(preemption_rights));
    if (may->kube_groups)
        add_rules(&b, kube_group_rights, COUNT(kube_group_rights));
    return (struct api_role){ .name = UP_SCHEDULER_USER,
                              .user = UP_SCHEDULER_USER,
                              .rules = jb_done(&b) };
}
