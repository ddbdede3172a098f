/* The pods that have no node, looked at as the scheduler does. */

#include "app/why_internal.h"

#include "kube/waiting.h"

bool why_pod_waits_for_node(jv pod)
{
    return !jv_str(jv_at(pod, "spec", "nodeName"), STR_NONE).n && !sched_pod_has_ended(pod) &&
           !meta_being_deleted(pod) && !jv_len(jv_at(pod, "spec", "schedulingGates"));
}

/* What the scheduler says of claims, which it looks at before nodes. */
static str refusal_of(struct arena *a, jv pod)
{
    str message = jv_str(jv_at(meta_condition(pod, S("PodScheduled")), "message"), STR_NONE);
    const struct why_reason *reasons;
    size_t n = why_reasons_read(a, message, &reasons);

    for (size_t i = 0; i < n; i++)
        if (str_contains(reasons[i].text, S("persistentvolumeclaim \"")) ||
            str_contains(reasons[i].text, S("unbound immediate PersistentVolumeClaims")))
            return reasons[i].text;
    return STR_NONE;
}

struct cluster {
    struct sched_input in;
    bool *ours;
    const struct sched_waiting **unit;
    size_t n_unit;
};

static bool is_own(const struct why_page *p, jv pod)
{
    for (size_t i = 0; i < p->n_pods; i++)
        if (str_eq(meta_uid(p->pods[i]), meta_uid(pod)))
            return true;
    return false;
}

static const struct sched_pod *read_pod(struct arena *a, jv pod)
{
    struct sched_pod *p = ARENA_NEW(a, struct sched_pod);

    *p = sched_pod_read(a, pod);
    return p;
}

static void read_nodes(struct why_page *p, struct cluster *c)
{
    const struct sched_node **nodes =
        ARENA_ARRAY(p->a, const struct sched_node *, jv_len(p->nodes) + 1);

    JV_EACH (it, p->nodes) {
        struct sched_node *n = ARENA_NEW(p->a, struct sched_node);
        *n = sched_node_read(p->a, it.value);
        nodes[c->in.n_nodes++] = n;
    }
    c->in.nodes = nodes;
}

static str scheduler_of(jv pod)
{
    return jv_str(jv_at(pod, "spec", "schedulerName"), S("default-scheduler"));
}

/* Pods that a scheduler has not answered may be another's, who is not there. */
static bool competes(const struct why_page *p, jv pod)
{
    return why_pod_waits_for_node(pod) &&
           (jv_exists(meta_condition(pod, S("PodScheduled"))) ||
            (p->n_pods && str_eq(scheduler_of(pod), scheduler_of(p->pods[0]))));
}

static void read_pods(struct why_page *p, struct cluster *c)
{
    size_t most = jv_len(p->all_pods) + 1;
    const struct sched_pod **bound = ARENA_ARRAY(p->a, const struct sched_pod *, most);
    struct sched_waiting *waiting = ARENA_ARRAY(p->a, struct sched_waiting, most);

    c->ours = ARENA_ARRAY(p->a, bool, most);
    c->unit = ARENA_ARRAY(p->a, const struct sched_waiting *, most);
    JV_EACH (it, p->all_pods) {
        jv pod = it.value;
        struct sched_waiting *w = &waiting[c->in.n_waiting];
        if (jv_str(jv_at(pod, "spec", "nodeName"), STR_NONE).n && !sched_pod_has_ended(pod))
            bound[c->in.n_bound++] = read_pod(p->a, pod);
        if (!competes(p, pod))
            continue;
        *w = (struct sched_waiting){ .pod = read_pod(p->a, pod),
                                     .seq = c->in.n_waiting,
                                     .refused = refusal_of(p->a, pod) };
        c->ours[c->in.n_waiting++] = is_own(p, pod);
        if (c->ours[c->in.n_waiting - 1])
            c->unit[c->n_unit++] = w;
    }
    c->in.bound = bound;
    c->in.waiting = waiting;
}

/* Only what a machine declares can be declared otherwise: its node is muster's. */
static bool can_add(const struct why_page *p)
{
    str agent =
        jv_str(jv_at(jv_index(p->nodes, 0), "status", "nodeInfo", "kubeletVersion"), STR_NONE);

    return jv_len(p->nodes) == 1 && str_contains(agent, S("muster"));
}

void why_place(struct why_page *p)
{
    struct cluster c = { 0 };

    if (!p->nodes_known)
        return;
    read_nodes(p, &c);
    read_pods(p, &c);
    if (!c.n_unit)
        return;
    struct why_unit unit = { .pods = c.unit, .n_pods = c.n_unit };
    struct why_world *w = why_world_new(p->a, c.in.nodes, c.in.n_nodes, c.in.bound, c.in.n_bound);
    struct why_scene scene = { .in = &c.in, .ours = c.ours, .can_add = can_add(p) };
    if (p->partial)
        why_world_set_partial(w);
    p->why = why_of(w, &unit);
    p->placed = true;
    p->n_helps = why_help_find(p->a, &scene, &p->why, p->helps);
    p->n_before = why_queue_before(p->a, &scene, &p->before);
}
