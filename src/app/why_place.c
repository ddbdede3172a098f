/* The pods that have no node, looked at as the scheduler does. That of `muster up` starts jobs
 * whole, others take pods one by one as far as is known here. */

#include "app/why_internal.h"

#include "base/map.h"
#include "job/gang_of.h"
#include "kube/waiting.h"
#include "plan/planner.h"

bool why_pod_waits_for_node(jv pod)
{
    return !jv_str(jv_at(pod, "spec", "nodeName"), STR_NONE).n && !sched_pod_has_ended(pod) &&
           !meta_being_deleted(pod) && !jv_len(jv_at(pod, "spec", "schedulingGates"));
}

/* "podgroup default/a is not let in: 1 of the 2 pods that start together exist" from there on; of
 * one that only lacks room, empty. */
static str group_refusal(str reason)
{
    static const char mark[] = " is not let in";
    const char *at = memmem(reason.p, reason.n, mark, sizeof(mark) - 1);

    if (!at)
        return reason;
    size_t end = (size_t)(at - reason.p) + sizeof(mark) - 1;
    return end < reason.n ? str_trim(str_sub(reason, end + 1, reason.n)) : STR_NONE;
}

/* What the scheduler says of claims and groups, which it looks at before nodes. */
static str refusal_of(struct arena *a, jv pod, bool is_ours)
{
    str message = jv_str(jv_at(meta_condition(pod, S("PodScheduled")), "message"), STR_NONE);
    const struct why_reason *reasons;
    size_t n = why_reasons_read(a, message, &reasons);

    for (size_t i = 0; i < n; i++)
        if (str_contains(reasons[i].text, S("persistentvolumeclaim \"")) ||
            str_contains(reasons[i].text, S("unbound immediate PersistentVolumeClaims")))
            return reasons[i].text;
    str first = n ? reasons[0].text : message;
    if (!str_starts(first, S("podgroup ")))
        return STR_NONE;
    return is_ours ? group_refusal(first) : first; /* groups that wait are in p->rivals */
}

struct cluster {
    struct sched_input in;
    struct map gangs;               /* struct sched_gang by uid of the owner */
    const struct sched_pod **bound; /* of in, as waiting is */
    struct sched_waiting *waiting;
    bool *ours;
};

static bool is_own(const struct why_page *p, jv pod)
{
    for (size_t i = 0; i < p->n_pods; i++)
        if (str_eq(meta_uid(p->pods[i]), meta_uid(pod)))
            return true;
    return false;
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

static bool is_muster(const struct why_page *p)
{
    jv node = jv_index(p->nodes, 0);

    return str_contains(jv_str(jv_at(node, "status", "nodeInfo", "kubeletVersion"), STR_NONE),
                        S("muster"));
}

/* ---- gangs */

/* The sizes of other jobs are not read: those of their pods that wait start together. */
static void join_gang(struct why_page *p, struct cluster *c, jv pod, struct sched_pod *s)
{
    jv labels = meta_labels(pod);
    struct sched_gang *g = map_get(&c->gangs, s->owner);

    if (!str_eqz(s->owner_kind, "job") || !s->owner.n)
        return;
    if (!g) {
        g = ARENA_NEW(p->a, struct sched_gang);
        *g = (struct sched_gang){ .uid = s->owner,
                                  .ns = s->ns,
                                  .name = s->owner_name,
                                  .kind = s->owner_kind,
                                  .created_ms = s->created_ms };
        map_put(&c->gangs, s->owner, g);
    }
    if (s->node.n)
        g->started = true;
    else
        g->min++;
    s->gang = g;
    s->member = arena_printf(p->a, "%" PRI_STR "/%" PRI_STR,
                             STR_ARG(jv_str(jv_get(labels, S(LABEL_ROLE)), STR_NONE)),
                             STR_ARG(jv_str(jv_get(labels, S(LABEL_INDEX)), S("0"))));
}

/* Ours, if it has not started. */
static const struct sched_gang *own_gang(struct why_page *p, struct cluster *c)
{
    struct sched_gang *g = p->job.kind ? map_get(&c->gangs, meta_uid(p->obj)) : NULL;
    struct gang_size size;

    if (!g || g->started || !gang_of(p->a, p->obj, &size))
        return NULL;
    g->min = size.min;
    return g;
}

/* So many of its pods start together; 0: each alone. */
static int64_t least_of(const struct why_page *p, const struct cluster *c,
                        const struct sched_gang *gang)
{
    size_t n = 0;

    for (size_t i = 0; i < c->in.n_waiting; i++)
        n += c->ours[i];
    if (gang)
        return gang->min;
    return n && n == p->n_pods && !jv_exists(p->expected) &&
                   str_eq(meta_uid(p->obj), meta_uid(p->group))
               ? jv_int(jv_at(p->obj, "spec", "minMember"), 0)
               : 0;
}

/* The pods that the sentence is about. */
static size_t unit_of(const struct cluster *c, int64_t min, const struct sched_waiting **unit)
{
    size_t n = 0;

    for (size_t i = 0; i < c->in.n_waiting && (min < 1 || n < (size_t)min); i++)
        if (c->ours[i])
            unit[n++] = &c->in.waiting[i];
    return n;
}

/* ---- all pods */

static void add_pod(struct why_page *p, struct cluster *c, jv pod, bool is_ours)
{
    struct sched_pod *s = ARENA_NEW(p->a, struct sched_pod);

    *s = sched_pod_read(p->a, pod);
    if (is_muster(p))
        join_gang(p, c, pod, s);
    if (s->node.n) {
        c->bound[c->in.n_bound++] = s;
        return;
    }
    c->waiting[c->in.n_waiting] = (struct sched_waiting){
        .pod = s, .seq = c->in.n_waiting, .refused = refusal_of(p->a, pod, is_ours)
    };
    c->ours[c->in.n_waiting++] = is_ours;
}

static void read_pods(struct why_page *p, struct cluster *c)
{
    size_t most = jv_len(p->all_pods) + jv_len(p->rivals) + jv_len(p->expected) + c->in.n_nodes + 1;

    c->bound = ARENA_ARRAY(p->a, const struct sched_pod *, most);
    c->waiting = ARENA_ARRAY(p->a, struct sched_waiting, most);

    c->ours = ARENA_ARRAY(p->a, bool, most);
    for (size_t i = 0; i < c->in.n_nodes; i++)
        if (c->in.nodes[i]->others)
            c->bound[c->in.n_bound++] = c->in.nodes[i]->others;
    JV_EACH (it, p->all_pods) {
        bool has_node = jv_str(jv_at(it.value, "spec", "nodeName"), STR_NONE).n;
        if (jv_exists(p->expected) && is_own(p, it.value))
            continue;
        if (!sched_pod_has_ended(it.value) && (has_node || competes(p, it.value)))
            add_pod(p, c, it.value, is_own(p, it.value));
    }
    JV_EACH (it, p->rivals)
        add_pod(p, c, it.value, false);
    JV_EACH (it, p->expected)
        add_pod(p, c, it.value, true);
    c->in.bound = c->bound;
    c->in.waiting = c->waiting;
}

/* What a group asks for does not change with its pods. */
static void drop_lower(struct why_page *p)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->n_helps; i++)
        if (p->helps[i].steps[0].what != HELP_LOWER)
            p->helps[kept++] = p->helps[i];
    p->n_helps = kept;
}

/* A scheduler that takes pods one by one says of each what it needs, and not that it never fits. */
static bool start_in_turn(const struct why_page *p)
{
    bool is_told = false;

    for (size_t i = 0; i < p->n_pods; i++) {
        str told = why_pod_waits_for_node(p->pods[i]) ? waiting_reason(p->pods[i]) : STR_NONE;
        is_told = is_told || told.n;
        if (why_sentence_is_never(told))
            return false;
    }
    return is_told;
}

/* The sentence is about the first of them, and each is enough. */
static void take_first(struct why_page *p, struct cluster *c, struct why_unit *unit)
{
    struct sched_gang *g = p->job.kind ? map_get(&c->gangs, meta_uid(p->obj)) : NULL;

    if (g)
        g->min = 1;
    unit->n_pods = 1;
    unit->min = 1;
    unit->by_default = false;
}

static void explain(struct why_page *p, struct cluster *c)
{
    const struct sched_gang *gang = own_gang(p, c);
    const struct sched_waiting **pods =
        ARENA_ARRAY(p->a, const struct sched_waiting *, c->in.n_waiting + 1);
    int64_t min = least_of(p, c, gang);
    struct why_unit unit = { .pods = pods,
                             .n_pods = unit_of(c, min, pods),
                             .min = min,
                             .by_default = gang && !jv_exists(p->group) };
    /* what a machine declares can be declared otherwise */
    struct why_scene scene = { .in = &c->in,
                               .ours = c->ours,
                               .min = unit.min,
                               .can_add = c->in.n_nodes == 1 && is_muster(p) };
    if (!unit.n_pods)
        return;
    struct why_world *w =
        why_world_new(p->a, c->in.nodes, c->in.n_nodes, c->in.bound, c->in.n_bound);
    if (p->partial)
        why_world_set_partial(w);
    p->why = why_of(w, &unit);
    if (p->why.never && start_in_turn(p)) {
        take_first(p, c, &unit);
        scene.min = unit.min;
        p->why = why_of(w, &unit);
    }
    p->placed = true;
    p->n_helps = why_help_find(p->a, &scene, &p->why, p->helps);
    if (why_group_waits(p->group) && !p->job.kind)
        drop_lower(p);
    if (!why_group_waits(p->group))
        p->n_before = why_queue_before(p->a, &scene, &p->before);
}

void why_place(struct why_page *p)
{
    struct cluster c = { 0 };

    if (!p->nodes_known || p->barred.n)
        return;
    read_nodes(p, &c);
    read_pods(p, &c);
    explain(p, &c);
    map_done(&c.gangs);
}
