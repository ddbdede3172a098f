#include "app/up_rights.h"

struct right {
    const char *group, *resources, *verbs; /* lists with a space between words */
};

static const struct right node_rights[] = {
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
static const struct right scheduler_rights[] = {
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
    { "", "pods", "delete" }, /* the last: with --preemption only */
};

static jv words(struct arena *a, const char *list)
{
    struct jbuild b = jb_arr(a);

    for (str rest = str_of(list); rest.p;)
        jb_push(&b, jstr(a, str_cut(&rest, ' ')));
    return jb_done(&b);
}

static jv rule(struct arena *a, const struct right *r)
{
    return jobj(a, { "verbs", words(a, r->verbs) },
                { "apiGroups", jarr(a, jstr(a, str_of(r->group))) },
                { "resources", words(a, r->resources) });
}

static jv rules(struct arena *a, const struct right *at, size_t n)
{
    struct jbuild b = jb_arr(a);

    for (size_t i = 0; i < n; i++)
        jb_push(&b, rule(a, &at[i]));
    return jb_done(&b);
}

static void allow(struct jbuild *b, const struct kube_resource *res, const char *sub, str verbs)
{
    str name = arena_printf(b->a, "%s%s%s", res->plural, *sub ? "/" : "", sub);

    jb_push(b, rule(b->a, &(struct right){ res->group, name.p, verbs.p }));
}

jv up_operator_rules(struct arena *a, const struct planner *const *planners, size_t n,
                     const struct planner_needed *needed)
{
    struct jbuild b = jb_arr(a);

    for (size_t i = 0; i < n; i++) {
        const struct planner *p = planners[i];
        allow(&b, p->res, "", S("get list watch patch delete"));
        allow(&b, p->res, "status", S("patch"));
        for (const struct planner_owned *o = p->owned; o && o->res; o++)
            allow(&b, o->res, "", arena_printf(a, "list watch %s", o->verbs));
        for (const struct planner_grant *g = p->grants; g && g->res; g++)
            allow(&b, g->res, g->sub, arena_str(a, str_of(g->verbs)));
    }
    for (; needed && needed->res; needed++)
        allow(&b, needed->res, "",
              arena_printf(a, "list watch%s%s", needed->verbs ? " " : "",
                           needed->verbs ? needed->verbs : ""));
    allow(&b, &kube_pods, "", S("get list watch create delete"));
    allow(&b, &kube_services, "", S("get list watch create delete patch"));
    allow(&b, &kube_events, "", S("create"));
    return jb_done(&b);
}

struct api_role up_node_role(struct arena *a)
{
    return (struct api_role){ .name = "system:node",
                              .group = UP_NODES_GROUP,
                              .rules = rules(a, node_rights, COUNT(node_rights)) };
}

struct api_role up_scheduler_role(struct arena *a, bool preempts)
{
    return (struct api_role){ .name = UP_SCHEDULER_USER,
                              .user = UP_SCHEDULER_USER,
                              .rules =
                                  rules(a, scheduler_rights, COUNT(scheduler_rights) - !preempts) };
}
