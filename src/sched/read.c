/* Pods and nodes as the scheduler sees them. */

#include "base/time.h"
#include "builtin/pod_amounts.h"
#include "builtin/resources.h"
#include "plan/planner.h"
#include "sched/internal.h"

/* Sums of thousands of amounts are no greater than an int64_t. No machine has as much (1 Pi), so
 * who asks for more waits for ever either way. */
#define AMOUNT_MOST (INT64_C(1) << 50)

static int64_t in_units(str name, const struct quantity *q)
{
    int64_t n = str_eqz(name, "cpu") ? quantity_milli(q) : quantity_value(q);

    return n > AMOUNT_MOST ? AMOUNT_MOST : n < 0 ? 0 : n;
}

static struct sched_amounts amounts_read(struct arena *a, const struct amounts *l)
{
    struct sched_amount *at = ARENA_ARRAY(a, struct sched_amount, l->n + 1);

    for (size_t i = 0; i < l->n; i++)
        at[i] = (struct sched_amount){ l->at[i].name, in_units(l->at[i].name, &l->at[i].q) };
    return (struct sched_amounts){ at, l->n };
}

static void ports_of(jv containers, struct sched_port *to, size_t *n)
{
    JV_EACH (c, containers)
        JV_EACH (p, FIELD(c.value, "ports")) {
            int64_t port = FIELD_INT(p.value, "hostPort");
            if (port <= 0)
                continue;
            if (to)
                to[*n] = (struct sched_port){ jv_str(FIELD(p.value, "protocol"), S("TCP")),
                                              FIELD_STR(p.value, "hostIP"), port };
            ++*n;
        }
}

/* Init containers that stay have ports beside the others. */
static jv sidecars(struct arena *a, jv spec)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, FIELD(spec, "initContainers"))
        if (str_eqz(FIELD_STR(it.value, "restartPolicy"), "Always"))
            jb_push(&b, it.value);
    return jb_done(&b);
}

static void read_ports(struct arena *a, jv spec, struct sched_pod *p)
{
    jv stay = sidecars(a, spec);
    size_t n = 0;

    ports_of(FIELD(spec, "containers"), NULL, &n);
    ports_of(stay, NULL, &n);
    if (!n)
        return;
    struct sched_port *to = ARENA_ARRAY(a, struct sched_port, n);
    ports_of(FIELD(spec, "containers"), to, &p->n_ports);
    ports_of(stay, to, &p->n_ports);
    p->ports = to;
}

static void read_claims(struct arena *a, jv spec, struct sched_pod *p)
{
    jv volumes = FIELD(spec, "volumes");
    str *to = NULL;

    JV_EACH (it, volumes) {
        str name = FIELD_STR(FIELD(it.value, "persistentVolumeClaim"), "claimName");
        if (!jv_is_null(FIELD(it.value, "ephemeral"))) /* the claim is named after both */
            name = arena_printf(a, "%" PRI_STR "-%" PRI_STR, STR_ARG(p->name),
                                STR_ARG(FIELD_STR(it.value, "name")));
        if (!name.n)
            continue;
        if (!to)
            to = ARENA_ARRAY(a, str, jv_len(volumes));
        to[p->n_claims++] = name;
    }
    p->claims = to;
}

static str lower_case(struct arena *a, str s)
{
    char *to = ARENA_ARRAY(a, char, s.n + 1);

    for (size_t i = 0; i < s.n; i++)
        to[i] = s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] + 32) : s.p[i];
    return (str){ to, s.n };
}

/* The Job that launches an MPIJob is no more than one of its parts. */
static void read_owner(struct arena *a, jv owner, struct sched_pod *p)
{
    str kind = FIELD_STR(owner, "kind"), group = FIELD_STR(owner, "apiVersion");
    str job = jv_str(jv_get(p->labels, S(LABEL_JOB)), STR_NONE);
    str name = FIELD_STR(owner, "name");
    bool launches = str_eqz(kind, "Job") && job.n && str_starts(name, job);

    p->owner_kind = S("pod");
    p->owner_name = p->name;
    if (!kind.n || !name.n)
        return;
    if (launches || str_starts(group, S("kubeflow.org/")))
        p->owner_kind = S("job");
    else
        p->owner_kind = lower_case(a, kind);
    p->owner_name = launches ? job : name;
}

struct sched_pod sched_pod_read(struct arena *a, jv pod)
{
    AUTO(arena) struct arena *sums = arena_new(); /* pods are many, and kept long */
    jv spec = FIELD(pod, "spec");
    struct amounts need = pod_amounts(sums, pod, POD_REQUESTS, POD_OVERHEAD | POD_USE_STATUS);
    int64_t us = 0;

    (void)time_parse(meta_str(pod, S("creationTimestamp")), &us, NULL);
    struct sched_pod p = {
        .ns = meta_namespace(pod),
        .name = meta_name(pod),
        .uid = meta_uid(pod),
        .node = FIELD_STR(spec, "nodeName"),
        .owner = FIELD_STR(meta_controller(pod), "uid"),
        .priority = FIELD_INT(spec, "priority"),
        .created_ms = us / 1000,
        .never_preempts = str_eqz(FIELD_STR(spec, "preemptionPolicy"), "Never"),
        .need = amounts_read(a, &need),
        .labels = meta_labels(pod),
        .selector = FIELD(spec, "nodeSelector"),
        .affinity = FIELD(spec, "affinity"),
        .tolerations = FIELD(spec, "tolerations"),
        .spread = FIELD(spec, "topologySpreadConstraints"),
        .claims_devices = jv_len(FIELD(spec, "resourceClaims")) > 0,
    };
    read_owner(a, meta_controller(pod), &p);
    read_ports(a, spec, &p);
    read_claims(a, spec, &p);
    return p;
}

/* GPUs that other runs of the machine use are taken, not missing: they come free. */
static jv count_gpus(struct arena *a, jv node, struct sched_node *n)
{
    jv allocatable = jv_at(node, "status", "allocatable");
    jv all = jv_at(node, "status", "capacity", "nvidia.com/gpu");
    struct quantity here = quantity_of_jv(jv_get(allocatable, S("nvidia.com/gpu")));
    struct quantity whole = quantity_of_jv(all);
    int64_t elsewhere = quantity_value(&whole) - quantity_value(&here);

    n->gpus_elsewhere =
        jv_str(FIELD(meta_condition(node, S(NODE_GPUS_ELSEWHERE)), "message"), S(""));
    if (elsewhere <= 0)
        return allocatable;
    struct sched_pod *others = ARENA_NEW(a, struct sched_pod);
    struct sched_amount *taken = ARENA_NEW(a, struct sched_amount);
    *taken = (struct sched_amount){ S("nvidia.com/gpu"), elsewhere };
    str which = n->gpus_elsewhere;
    if (str_ends(which, S(OF_ANOTHER_RUN)))
        which.n -= S(OF_ANOTHER_RUN).n;
    *others = (struct sched_pod){ .node = n->name,
                                  .owner_kind = S("another run or server on this machine"),
                                  .owner_name = which,
                                  .priority = INT64_MAX,
                                  .need = { taken, 1 } };
    n->others = others;
    return jv_with_key(a, allocatable, S("nvidia.com/gpu"), all);
}

struct sched_node sched_node_read(struct arena *a, jv node)
{
    struct sched_node n = { .name = meta_name(node),
                            .labels = meta_labels(node),
                            .taints = jv_at(node, "spec", "taints"),
                            .unschedulable = jv_bool(jv_at(node, "spec", "unschedulable"), false),
                            .not_ready = !meta_condition_is(node, S("Ready"), S("True")) };
    jv has = jv_at(node, "status", "allocatable");

    if (meta_condition_is(node, S(NODE_GPUS_ELSEWHERE), S("True")))
        has = count_gpus(a, node, &n);
    struct amounts amounts = amounts_of(a, has);
    n.has = amounts_read(a, &amounts);
    return n;
}

bool sched_pod_has_ended(jv pod)
{
    str phase = jv_str(jv_at(pod, "status", "phase"), S(""));

    return str_eqz(phase, "Succeeded") || str_eqz(phase, "Failed");
}

/* ---- what is worth keeping */

static jv only(struct arena *a, jv obj, const char *const *names)
{
    struct jbuild b = jb_obj(a);

    for (; *names; names++)
        if (!jv_is_null(jv_get(obj, str_of(*names))))
            jb_add(&b, str_of(*names), jv_get(obj, str_of(*names)));
    return b.n ? jb_done(&b) : JV_ABSENT;
}

static jv slim_list(struct arena *a, jv list, const char *const *names)
{
    struct jbuild b = jb_arr(a);

    if (!jv_len(list))
        return JV_ABSENT;
    JV_EACH (it, list)
        jb_push(&b, only(a, it.value, names));
    return jb_done(&b);
}

static jv slim_meta(struct arena *a, jv obj)
{
    static const char *const names[] = { "name",   "namespace",         "uid",
                                         "labels", "creationTimestamp", NULL };
    static const char *const reference[] = {
        "apiVersion", "kind", "name", "uid", "controller", NULL
    };
    jv meta = only(a, meta_of(obj), names);
    jv owner = meta_controller(obj);

    if (!jv_exists(owner))
        return meta;
    return jv_with(a, meta, jarr(a, only(a, owner, reference)), "ownerReferences");
}

jv sched_pod_slim(struct arena *a, jv pod)
{
    static const char *const container[] = { "name", "resources", "ports", "restartPolicy", NULL };
    static const char *const volume[] = { "name", "persistentVolumeClaim", "ephemeral", NULL };
    static const char *const rest[] = { "nodeName",
                                        "nodeSelector",
                                        "affinity",
                                        "tolerations",
                                        "priority",
                                        "preemptionPolicy",
                                        "overhead",
                                        "resources",
                                        "topologySpreadConstraints",
                                        "resourceClaims",
                                        NULL };
    jv spec = FIELD(pod, "spec");
    jv kept = jv_with(a, only(a, spec, rest), slim_list(a, FIELD(spec, "containers"), container),
                      "containers");

    if (jv_len(FIELD(spec, "initContainers")))
        kept = jv_with(a, kept, slim_list(a, FIELD(spec, "initContainers"), container),
                       "initContainers");
    if (jv_len(FIELD(spec, "volumes")))
        kept = jv_with(a, kept, slim_list(a, FIELD(spec, "volumes"), volume), "volumes");
    return jobj(a, { "metadata", slim_meta(a, pod) }, { "spec", kept });
}

jv sched_node_slim(struct arena *a, jv node)
{
    static const char *const spec[] = { "taints", "unschedulable", NULL };
    static const char *const told[] = { "type", "status", NULL };
    static const char *const said[] = { "type", "status", "message", NULL };
    jv ready = meta_condition(node, S("Ready")),
       gpus = meta_condition(node, S(NODE_GPUS_ELSEWHERE));
    jv status =
        jobj(a, { "allocatable", jv_at(node, "status", "allocatable") },
             { "capacity", jv_exists(gpus) ? jv_at(node, "status", "capacity") : JV_ABSENT });
    struct jbuild conditions = jb_arr(a);

    if (jv_exists(ready))
        jb_push(&conditions, only(a, ready, told));
    if (jv_exists(gpus))
        jb_push(&conditions, only(a, gpus, said));
    if (conditions.n)
        status = jv_with(a, status, jb_done(&conditions), "conditions");
    return jobj(a, { "metadata", slim_meta(a, node) },
                { "spec", only(a, FIELD(node, "spec"), spec) }, { "status", status });
}
