/* One call of sched_decide: its input from a state, and its output into it. */

#include "model.h"

const char *const resource_names[RESOURCES] = { "cpu", "memory", "nvidia.com/gpu" };

/* What a call needs; the input borrows from it. Names say which gang and which pod it is. */
struct stage {
    struct sched_node nodes[NODES_MAX];
    const struct sched_node *node_at[NODES_MAX];
    struct sched_amount has[NODES_MAX][RESOURCES + 1];
    struct sched_amount need[GANGS_MAX][2][RESOURCES]; /* of member 0, of the others */
    struct sched_gang gangs[GANGS_MAX];
    struct sched_pod pods[GANGS_MAX * MEMBERS_MAX];
    const struct sched_pod *bound[GANGS_MAX * MEMBERS_MAX];
    struct sched_waiting waiting[GANGS_MAX * MEMBERS_MAX];
    struct sched_reserve reserves[GANGS_MAX * MEMBERS_MAX];
    struct sched_guard guard;
    struct sched_input in;
};

static const char node_names[NODES_MAX][3] = { "n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7" };
static const char gang_names[GANGS_MAX][2] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" };
static const char digits[] = "01234567";
enum { POD_NAME = 4 };
static const char letters[] = "abcdefghij";

static str node_name(size_t n)
{
    return str_of(node_names[n]);
}

void pass_pod(const struct sched_pod *pod, size_t *gang, size_t *member)
{
    *gang = (size_t)(pod->name.p[0] - 'a');
    *member = (size_t)(pod->name.p[2] - '0');
}

static void set_nodes(struct stage *st, const struct shape *sh)
{
    for (size_t n = 0; n < sh->n_nodes; n++) {
        for (size_t r = 0; r < RESOURCES; r++)
            st->has[n][r] = (struct sched_amount){ str_of(resource_names[r]), sh->node[n].has[r] };
        st->has[n][RESOURCES] = (struct sched_amount){ S("pods"), sh->node[n].pods };
        st->nodes[n] =
            (struct sched_node){ .name = node_name(n), .has = { st->has[n], RESOURCES + 1 } };
        st->node_at[n] = &st->nodes[n];
    }
}

static void set_gang(struct stage *st, const struct shape *sh, const struct state *s, size_t g)
{
    for (size_t k = 0; k < 2; k++)
        for (size_t r = 0; r < RESOURCES; r++)
            st->need[g][k][r] =
                (struct sched_amount){ str_of(resource_names[r]), need_of(sh, g, k)[r] };
    st->gangs[g] = (struct sched_gang){
        .uid = str_of(gang_names[g]),
        .ns = S("d"),
        .name = str_of(gang_names[g]),
        .kind = S("job"),
        .created_ms = s->gang[g].rank,
        .min = sh->gang[g].min,
        .n_done = (int64_t)gang_count(sh, s, g, AT(DONE)),
        .started = s->gang[g].started,
        .stopped = s->gang[g].phase == STOPPED,
    };
}

static void set_pod(struct stage *st, struct arena *a, const struct shape *sh, size_t g, size_t i)
{
    struct sched_pod *p = &st->pods[g * MEMBERS_MAX + i];
    char *name = arena_alloc(a, POD_NAME);

    name[0] = letters[g];
    name[1] = '-';
    name[2] = digits[i];
    name[3] = '\0';
    *p = (struct sched_pod){
        .ns = S("d"),
        .name = { name, 3 },
        .uid = { name, 3 },
        .owner = str_of(gang_names[g]),
        .owner_kind = S("job"),
        .owner_name = str_of(gang_names[g]),
        .gang = &st->gangs[g],
        .member = { name + 2, 1 },
        .priority = sh->gang[g].priority,
        .created_ms = st->gangs[g].created_ms,
        .need = { st->need[g][i > 0], RESOURCES },
    };
}

/* starting: the gang's start is not written yet, so the others of it are not looked at. */
static void set_slot(struct stage *st, enum fault fault, bool starting, struct slot slot, size_t g,
                     size_t i)
{
    struct sched_pod *p = &st->pods[g * MEMBERS_MAX + i];
    struct sched_input *in = &st->in;

    if ((slot.at == KEPT || slot.at == OWED) && fault != FAULT_NO_RESERVES)
        st->reserves[in->n_reserves++] =
            (struct sched_reserve){ p->gang, p->member, node_name(slot.node), p->need };
    if ((AT(slot.at) & UNSEATED) && !starting)
        st->waiting[in->n_waiting++] =
            (struct sched_waiting){ .pod = p, .seq = g * MEMBERS_MAX + i };
    if (AT(slot.at) & (AT(ALONE) | AT(BATCHED) | AT(BOUND))) {
        if (slot.at != BOUND && fault == FAULT_FORGETFUL)
            return;
        p->node = node_name(slot.node);
        st->bound[in->n_bound++] = p;
    }
}

static void set_guard(struct stage *st, const struct shape *sh, const struct state *s)
{
    struct sched_guard *g = &st->guard;

    g->patience_ms = sh->patience;
    g->now_ms = sh->patience;
    g->since_ms = g->now_ms - s->age;
    if (s->first > sh->n_gangs) {
        size_t pod = s->first - 1 - sh->n_gangs;
        g->first[0] = letters[pod / MEMBERS_MAX];
        g->first[1] = '-';
        g->first[2] = digits[pod % MEMBERS_MAX];
    } else if (s->first) {
        g->first[0] = letters[s->first - 1];
    }
}

static void read_guard(const struct sched_guard *g, const struct shape *sh, struct state *s)
{
    size_t gang = (size_t)(g->first[0] - 'a');
    int64_t age = g->now_ms - g->since_ms;

    s->first = 0;
    s->age = 0;
    if (!g->first[0])
        return;
    s->first =
        (uint8_t)(g->first[1] ? 1 + sh->n_gangs + gang * MEMBERS_MAX + (size_t)(g->first[2] - '0')
                              : 1 + gang);
    s->age = (uint8_t)(age < sh->patience ? age : sh->patience);
}

/* As the binder counts: a gang has started once min of it had a node at once, as long as some has.
 */
static void count_started(const struct shape *sh, struct state *s)
{
    for (size_t g = 0; g < sh->n_gangs; g++) {
        size_t n = gang_count(sh, s, g, SEATED);
        s->gang[g].started = n && (s->gang[g].started || n >= sh->gang[g].min);
    }
}

static void take(const struct sched_verdict *v, const struct stage *st, struct state *s)
{
    size_t g, i;

    if (!v->node)
        return;
    pass_pod(v->of->pod, &g, &i);
    s->slot[g][i] = (struct slot){ v->whole ? BATCHED : ALONE, (uint8_t)(v->node - st->nodes) };
    s->gang[g].started = true;
}

void model_pass(struct model *m, struct state *s)
{
    AUTO(arena) struct arena *a = arena_new();
    const struct shape *sh = m->shape;
    struct stage *st = ARENA_NEW(a, struct stage);

    count_started(sh, s);
    struct state before = *s;
    st->in = (struct sched_input){ .nodes = st->node_at,
                                   .n_nodes = sh->n_nodes,
                                   .bound = st->bound,
                                   .waiting = st->waiting,
                                   .reserves = st->reserves,
                                   .guard = m->fault == FAULT_NO_GUARD ? NULL : &st->guard };
    set_nodes(st, sh);
    set_guard(st, sh, s);
    for (size_t g = 0; g < sh->n_gangs; g++) {
        if (s->gang[g].phase == GONE)
            continue;
        bool starting = gang_count(sh, s, g, AT(BATCHED)) && m->fault != FAULT_FORGETFUL;
        set_gang(st, sh, s, g);
        for (size_t i = 0; i < gang_size(sh, s, g); i++) {
            set_pod(st, a, sh, g, i);
            set_slot(st, m->fault, starting, s->slot[g][i], g, i);
        }
    }
    const struct sched_verdict *v = sched_decide(a, &st->in).pods;
    for (size_t i = 0; i < st->in.n_waiting; i++)
        take(&v[i], st, s);
    read_guard(&st->guard, sh, s);
    const struct pass p = { sh, &before, s, &st->in, v, a };
    rules_of_pass(m, &p);
    if (m->sentences)
        rules_of_sentences(m, &p);
}
