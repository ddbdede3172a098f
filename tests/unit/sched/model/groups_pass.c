/* One call of sched_decide in a world of groups: its input from a state, and its output into it. */

#include "groups.h"

static const char *const resources[G_RES + 1] = { "cpu", "memory", "nvidia.com/gpu", "pods" };
static const char *const node_names[G_NODES] = { "n0", "n1" };
static const char *const group_names[G_GROUPS] = { "a", "b", "c" };
static const char *const pod_names[G_GROUPS][G_SLOTS] = { { "a-0", "a-1", "a-2" },
                                                          { "b-0", "b-1", "b-2" },
                                                          { "c-0", "c-1", "c-2" } };

/* What a call needs; the input borrows from it. */
struct stage {
    struct sched_node nodes[G_NODES];
    const struct sched_node *node_at[G_NODES];
    struct sched_amount has[G_NODES][G_RES + 1], cap[G_QUEUES][G_RES];
    struct sched_amount need[G_GROUPS][G_RES], asks[G_GROUPS][G_RES], done[G_GROUPS][G_RES];
    struct sched_queue queues[G_QUEUES];
    struct sched_gang groups[G_GROUPS];
    const struct sched_gang *group_at[G_GROUPS];
    struct sched_pod pods[G_GROUPS * G_SLOTS];
    const struct sched_pod *bound[G_GROUPS * G_SLOTS];
    struct sched_waiting waiting[G_GROUPS * G_SLOTS];
    struct sched_guard guard;
    struct sched_input in;
};

size_t g_group_of(str name)
{
    return (size_t)(name.p[0] - 'a');
}

static void set_nodes(struct stage *st, const struct g_shape *sh)
{
    for (size_t n = 0; n < G_NODES; n++) {
        for (size_t k = 0; k <= G_RES; k++)
            st->has[n][k] = (struct sched_amount){ str_of(resources[k]), sh->has[n][k] };
        st->nodes[n] =
            (struct sched_node){ .name = str_of(node_names[n]), .has = { st->has[n], G_RES + 1 } };
        st->node_at[n] = &st->nodes[n];
    }
}

static void set_queues(struct stage *st, const struct g_shape *sh, enum g_fault fault)
{
    for (size_t q = 0; q < G_QUEUES; q++) {
        size_t n = 0;
        for (size_t k = 0; k < G_RES && fault != G_NO_CAPABILITY; k++)
            if (sh->cap[q][k])
                st->cap[q][n++] = (struct sched_amount){ str_of(resources[k]), sh->cap[q][k] };
        st->queues[q] = (struct sched_queue){ .name = q ? S("r") : S("q"),
                                              .weight = sh->weight[q],
                                              .capability = { st->cap[q], n } };
    }
}

static void set_group(struct stage *st, const struct g_model *m, const struct g_state *s, size_t g)
{
    const struct g_shape *sh = m->shape;
    int64_t n_done = (int64_t)g_count(s, g, G_AT(G_DONE));
    bool let_in = s->group[g].phase >= G_ENTERING;

    for (size_t k = 0; k < G_RES; k++) {
        str name = str_of(resources[k]);
        int64_t need = sh->group[g].need[k];
        st->need[g][k] = (struct sched_amount){ name, need };
        st->asks[g][k] = (struct sched_amount){ name, need * sh->group[g].min };
        st->done[g][k] = (struct sched_amount){ name, need * n_done };
    }
    st->groups[g] = (struct sched_gang){
        .uid = str_of(group_names[g]),
        .ns = S("d"),
        .name = str_of(group_names[g]),
        .kind = S("podgroup"),
        .created_ms = s->group[g].rank,
        .min = sh->group[g].min,
        .n_done = n_done,
        .done = { st->done[g], G_RES },
        .started = s->group[g].started,
        .is_group = true,
        .let_in = let_in,
        .returning = s->group[g].returning,
        .has_priority = true,
        .priority = sh->group[g].priority + (m->fault == G_PREEMPT_EQUALS && !let_in),
        .queue = &st->queues[sh->group[g].queue],
        .asks = { st->asks[g], let_in && m->fault == G_NO_RESERVATION ? 0 : G_RES },
    };
    st->group_at[st->in.n_groups++] = &st->groups[g];
}

/* A group whose start is not written yet is not looked at. */
static void set_pod(struct stage *st, const struct g_state *s, size_t g, size_t i)
{
    struct sched_pod *p = &st->pods[g * G_SLOTS + i];
    unsigned at = G_AT(s->slot[g][i].at);

    *p = (struct sched_pod){
        .ns = S("d"),
        .name = str_of(pod_names[g][i]),
        .uid = str_of(pod_names[g][i]),
        .gang = &st->groups[g],
        .member = str_of(pod_names[g][i]),
        .priority = st->groups[g].priority,
        .created_ms = st->groups[g].created_ms,
        .ending = at == G_AT(G_ENDING),
        .need = { st->need[g], G_RES },
    };
    if (at & G_HAS_ROOM) {
        p->node = str_of(node_names[s->slot[g][i].node]);
    }
}

static void set_guard(struct stage *st, const struct g_shape *sh, const struct g_state *s)
{
    struct sched_guard *guard = &st->guard;
    const char *first = "";

    guard->patience_ms = guard->now_ms = sh->patience;
    guard->since_ms = guard->now_ms - s->age;
    if (s->first > G_GROUPS)
        first = pod_names[(s->first - 1 - G_GROUPS) / G_SLOTS][(s->first - 1 - G_GROUPS) % G_SLOTS];
    else if (s->first)
        first = group_names[s->first - 1];
    memcpy(guard->first, first, strlen(first) + 1);
}

static void read_guard(const struct sched_guard *guard, const struct g_shape *sh, struct g_state *s)
{
    size_t g = (size_t)(guard->first[0] - 'a');
    int64_t age = guard->now_ms - guard->since_ms;

    s->first = s->age = 0;
    if (!guard->first[0])
        return;
    s->first = (uint8_t)(1 + g);
    if (guard->first[1])
        s->first = (uint8_t)(1 + G_GROUPS + g * G_SLOTS + (size_t)(guard->first[2] - '0'));
    s->age = (uint8_t)(age < sh->patience ? age : sh->patience);
}

/* As the binder counts: a group has started once min of it had a node at once, as long as some has.
 */
static void count_started(const struct g_shape *sh, struct g_state *s)
{
    for (size_t g = 0; g < G_GROUPS; g++) {
        size_t n = g_count(s, g, G_SEATED);
        s->group[g].started = n && (s->group[g].started || n >= sh->group[g].min);
    }
}

static void take_pods(const struct stage *st, const struct sched_decision *d, struct g_state *s)
{
    for (size_t k = 0; k < st->in.n_waiting; k++) {
        const struct sched_verdict *v = &d->pods[k];
        size_t pod = (size_t)(v->of->pod - st->pods);
        if (!v->node)
            continue;
        s->slot[pod / G_SLOTS][pod % G_SLOTS].at = v->whole ? G_BATCHED : G_ALONE;
        s->slot[pod / G_SLOTS][pod % G_SLOTS].node = (uint8_t)(v->node - st->nodes);
        s->group[pod / G_SLOTS].started = true;
    }
}

static void take_victims(const struct stage *st, const struct sched_decision *d, struct g_state *s)
{
    for (size_t k = 0; k < d->n_victims; k++) {
        size_t pod = (size_t)(d->victims[k].pod - st->pods), g = pod / G_SLOTS, i = pod % G_SLOTS;
        if (d->victims[k].whole)
            g_send_back(s, g);
        else if (s->slot[g][i].at == G_BOUND)
            s->slot[g][i].at = G_ENDING;
        else
            memset(&s->slot[g][i], 0, sizeof(s->slot[g][i]));
    }
}

void g_pass(struct g_model *m, struct g_state *s)
{
    AUTO(arena) struct arena *a = arena_new();
    struct stage *st = ARENA_NEW(a, struct stage);
    const struct g_shape *sh = m->shape;

    count_started(sh, s);
    struct g_state before = *s;
    st->in = (struct sched_input){ .nodes = st->node_at,
                                   .n_nodes = G_NODES,
                                   .bound = st->bound,
                                   .waiting = st->waiting,
                                   .groups = st->group_at,
                                   .preempts = sh->preempts,
                                   .guard = m->fault == G_NO_GUARD ? NULL : &st->guard };
    set_nodes(st, sh);
    set_queues(st, sh, m->fault);
    set_guard(st, sh, s);
    for (size_t g = 0; g < G_GROUPS; g++) {
        if (s->group[g].phase == G_GONE)
            continue;
        bool starting = g_count(s, g, G_AT(G_BATCHED)) > 0;
        set_group(st, m, s, g);
        for (size_t i = 0; i < g_size(sh, s, g); i++) {
            struct sched_pod *p = &st->pods[g * G_SLOTS + i];
            set_pod(st, s, g, i);
            if (p->node.n)
                st->bound[st->in.n_bound++] = p;
            else if (s->slot[g][i].at == G_WAITS && !starting)
                st->waiting[st->in.n_waiting++] = (struct sched_waiting){ .pod = p, .seq = i };
        }
    }
    struct sched_decision d = sched_decide(a, &st->in);
    for (size_t k = 0; k < d.n_groups; k++)
        if (d.groups[k].let_in)
            s->group[g_group_of(d.groups[k].of->name)].phase = G_ENTERING;
    take_pods(st, &d, s);
    struct g_state after = *s;
    take_victims(st, &d, s);
    read_guard(&st->guard, sh, s);
    after.first = s->first;
    after.age = s->age;
    g_rules_of_pass(m, &before, &after, &st->in, &d);
}
