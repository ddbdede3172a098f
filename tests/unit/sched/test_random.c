/* Worlds by chance. S1: nothing is given twice. S2: what fits is placed. S3: a reason that is given
 * is true. And the same input gives the same decisions, in whatever order it is told. */

#include "sched/sched.h"
#include "tap.h"

enum { WORLDS = 2000, NODES = 6, PODS = 40, RESOURCES = 3 };

static const char *const names[RESOURCES] = { "cpu", "memory", "nvidia.com/gpu" };

static uint64_t dice_state = 88172645463325252u;
static int64_t dice(int64_t n)
{
    dice_state ^= dice_state << 13;
    dice_state ^= dice_state >> 7;
    dice_state ^= dice_state << 17;
    return (int64_t)(dice_state % (uint64_t)n);
}

struct world {
    struct arena *a;
    struct sched_node nodes[NODES];
    const struct sched_node *node_at[NODES];
    struct sched_pod pods[PODS];
    const struct sched_pod *bound[PODS];
    struct sched_waiting waiting[PODS];
    struct sched_input in;
};

static struct sched_amounts amounts(struct arena *a, int64_t most, bool with_pods)
{
    struct sched_amount *at = ARENA_ARRAY(a, struct sched_amount, RESOURCES + 1);
    size_t n = 0;

    for (size_t i = 0; i < RESOURCES; i++)
        if (dice(4))
            at[n++] = (struct sched_amount){ str_of(names[i]), dice(most) };
    if (with_pods)
        at[n++] = (struct sched_amount){ S("pods"), dice(10) };
    return (struct sched_amounts){ at, n };
}

static int64_t amount_of(const struct sched_amounts *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (str_eqz(l->at[i].name, name))
            return l->at[i].n;
    return 0;
}

static void make(struct world *w)
{
    struct arena *a = w->a;
    size_t n_nodes = (size_t)dice(NODES), n_bound = 0, n_waiting = 0;

    for (size_t i = 0; i < n_nodes; i++) {
        w->nodes[i] = (struct sched_node){ .name = arena_printf(a, "n%zu", i),
                                           .has = amounts(a, 50, true),
                                           .unschedulable = !dice(8) };
        w->node_at[i] = &w->nodes[i];
    }
    for (size_t i = 0; i < PODS; i++) {
        struct sched_pod *p = &w->pods[i];
        *p = (struct sched_pod){ .ns = S("d"),
                                 .name = arena_printf(a, "p%zu", i),
                                 .priority = dice(3),
                                 .created_ms = dice(5),
                                 .need = amounts(a, 12, false) };
        if (n_nodes && dice(3) == 0) {
            p->node = w->nodes[dice((int64_t)n_nodes)].name;
            w->bound[n_bound++] = p;
        } else if (dice(2)) {
            w->waiting[n_waiting++] = (struct sched_waiting){ .pod = p, .seq = (uint64_t)i };
        }
    }
    w->in = (struct sched_input){ .nodes = w->node_at,
                                  .n_nodes = n_nodes,
                                  .bound = w->bound,
                                  .n_bound = n_bound,
                                  .waiting = w->waiting,
                                  .n_waiting = n_waiting };
}

/* ---- what is true, reckoned anew */

struct tally {
    int64_t used[NODES][RESOURCES];
    int64_t pods[NODES];
};

static void seat(struct tally *t, size_t node, const struct sched_pod *p)
{
    for (size_t r = 0; r < RESOURCES; r++)
        t->used[node][r] += amount_of(&p->need, names[r]);
    t->pods[node]++;
}

static bool fits(const struct world *w, const struct tally *t, size_t node,
                 const struct sched_pod *p)
{
    const struct sched_node *n = &w->nodes[node];

    if (n->unschedulable || t->pods[node] + 1 > amount_of(&n->has, "pods"))
        return false;
    for (size_t r = 0; r < RESOURCES; r++) {
        int64_t need = amount_of(&p->need, names[r]);
        if (need && t->used[node][r] + need > amount_of(&n->has, names[r]))
            return false;
    }
    return true;
}

static bool obeys(const struct world *w, const struct sched_verdict *v)
{
    struct tally t = { 0 };

    for (size_t i = 0; i < w->in.n_bound; i++)
        for (size_t n = 0; n < w->in.n_nodes; n++)
            if (str_eq(w->nodes[n].name, w->bound[i]->node))
                seat(&t, n, w->bound[i]);
    for (size_t i = 0; i < w->in.n_waiting; i++) {
        const struct sched_pod *p = v[i].of->pod;
        if (i && v[i - 1].of->pod->priority < p->priority)
            return false;
        if (v[i].node) {
            size_t n = (size_t)(v[i].node - w->nodes);
            if (!fits(w, &t, n, p))
                return false; /* S1 */
            seat(&t, n, p);
            continue;
        }
        if (!v[i].why.n)
            return false;
        for (size_t n = 0; n < w->in.n_nodes; n++)
            if (fits(w, &t, n, p))
                return false; /* S2, S3 */
    }
    return true;
}

static void shuffle(struct world *w)
{
    for (size_t i = w->in.n_waiting; i > 1; i--) {
        size_t k = (size_t)dice((int64_t)i);
        struct sched_waiting x = w->waiting[i - 1];
        w->waiting[i - 1] = w->waiting[k];
        w->waiting[k] = x;
    }
    for (size_t i = w->in.n_nodes; i > 1; i--) {
        size_t k = (size_t)dice((int64_t)i);
        const struct sched_node *x = w->node_at[i - 1];
        w->node_at[i - 1] = w->node_at[k];
        w->node_at[k] = x;
    }
}

static bool same(const struct sched_verdict *x, const struct sched_pod *const *pods,
                 const struct sched_verdict *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (pods[i] != y[i].of->pod || x[i].node != y[i].node || !str_eq(x[i].why, y[i].why))
            return false;
    return true;
}

int main(void)
{
    size_t bad = 0, unsteady = 0, placed = 0;

    for (size_t i = 0; i < WORLDS; i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct world *w = ARENA_NEW(a, struct world);
        const struct sched_pod *order[PODS];
        w->a = a;
        make(w);
        struct sched_verdict *v = sched_decide(a, &w->in).pods;
        bad += !obeys(w, v);
        for (size_t k = 0; k < w->in.n_waiting; k++) {
            placed += v[k].node != NULL;
            order[k] = v[k].of->pod;
        }
        shuffle(w);
        unsteady += !same(v, order, sched_decide(a, &w->in).pods, w->in.n_waiting);
    }
    is_int((int64_t)bad, 0, "S1 S2 S3: never over-committed, what fits is placed");
    is_int((int64_t)unsteady, 0, "the same whatever order it is told in");
    ok(placed > WORLDS, "%zu pods were placed", placed);
    return tap_done();
}
