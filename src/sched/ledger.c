/* Allocatable and taken, node by node. Only resources that somebody waits for are counted. */

#include "sched/internal.h"

static int compare_nodes(const void *x, const void *y)
{
    const struct sched_node *const *n = x, *const *m = y;

    return str_cmp((*n)->name, (*m)->name);
}

int64_t amount_sum(int64_t x, int64_t y)
{
    int64_t s;

    return __builtin_add_overflow(x, y, &s) ? INT64_MAX : s;
}

static size_t resource_index(const struct ledger *l, str name)
{
    size_t i = 0;

    while (i < l->n_resources && !str_eq(l->resources[i], name))
        i++;
    return i;
}

/* Whoever makes pods names resources, and each costs an amount of every node, group and pod. So of
 * those that no node has only so many have a place. */
enum { NAMES_MOST = 128 };

static bool is_offered(const struct sched_input *in, str name)
{
    for (size_t i = 0; i < in->n_nodes; i++)
        for (size_t k = 0; k < in->nodes[i]->has.n; k++)
            if (str_eq(in->nodes[i]->has.at[k].name, name))
                return true;
    return false;
}

static void add_name(struct ledger *l, str name, size_t *cap)
{
    if (l->n_resources == *cap) {
        str *more = ARENA_ARRAY(l->a, str, *cap * 2);
        memcpy(more, l->resources, *cap * sizeof(*more));
        l->resources = more;
        *cap *= 2;
    }
    l->resources[l->n_resources++] = name;
}

static void name_those(struct ledger *l, const struct sched_input *in,
                       const struct sched_amounts *need, size_t *cap)
{
    for (size_t k = 0; k < need->n; k++) {
        if (!need->at[k].n || str_eqz(need->at[k].name, "pods") ||
            resource_index(l, need->at[k].name) < l->n_resources)
            continue;
        if (l->n_resources >= NAMES_MOST && !is_offered(in, need->at[k].name)) {
            l->others = l->n_resources;
            continue;
        }
        add_name(l, need->at[k].name, cap);
    }
}

static void name_resources(struct ledger *l, const struct sched_input *in)
{
    size_t cap = 16;

    l->resources = ARENA_ARRAY(l->a, str, cap);
    l->resources[RES_CPU] = S("cpu");
    l->resources[RES_MEMORY] = S("memory");
    l->resources[RES_STORAGE] = S("ephemeral-storage");
    l->n_resources = RES_FIXED;
    for (size_t i = 0; i < in->n_waiting; i++)
        name_those(l, in, &in->waiting[i].pod->need, &cap);
    for (size_t i = 0; i < in->n_groups; i++)
        name_those(l, in, &in->groups[i]->asks, &cap);
    if (l->others) {
        l->others = l->n_resources;
        add_name(l, S("resources that no node has"), &cap);
    }
    l->lacking = ARENA_ARRAY(l->a, str, l->n_resources);
    for (size_t i = 0; i < l->n_resources; i++)
        l->lacking[i] = arena_printf(l->a, "Insufficient %" PRI_STR, STR_ARG(l->resources[i]));
}

const int64_t *ledger_need(const struct ledger *l, const struct sched_amounts *need)
{
    int64_t *n = ARENA_ARRAY(l->a, int64_t, l->n_resources);

    for (size_t k = 0; k < need->n; k++) {
        size_t i = resource_index(l, need->at[k].name);
        if (i < l->n_resources)
            n[i] = need->at[k].n;
        else if (l->others && !str_eqz(need->at[k].name, "pods"))
            n[l->others] = amount_sum(n[l->others], need->at[k].n);
    }
    return n;
}

static struct place place_of(struct ledger *l, const struct sched_node *n)
{
    struct place p = { .node = n, .least_priority = INT64_MAX };
    const struct sched_amounts *has = &n->has;

    p.has = ARENA_ARRAY(l->a, int64_t, l->n_resources);
    p.used = ARENA_ARRAY(l->a, int64_t, l->n_resources);
    for (size_t k = 0; k < has->n; k++) {
        size_t i = resource_index(l, has->at[k].name);
        if (i < l->n_resources)
            p.has[i] = has->at[k].n;
        else if (str_eqz(has->at[k].name, "pods"))
            p.max_pods = has->at[k].n;
    }
    return p;
}

void ledger_take(struct ledger *l, struct place *p, const struct sched_pod *pod,
                 const int64_t *need)
{
    struct seat *s = ARENA_NEW(l->a, struct seat);

    *s = (struct seat){ pod, need, p->seats };
    p->seats = s;
    p->n_pods++;
    for (size_t i = 0; i < l->n_resources; i++)
        p->used[i] = amount_sum(p->used[i], need[i]);
    if (pod->priority < p->least_priority)
        p->least_priority = pod->priority;
    l->has_anti = l->has_anti || pod_keeps_away(pod);
}

struct place *ledger_find(const struct ledger *l, str name)
{
    size_t lo = 0;

    for (size_t hi = l->n; lo < hi;) {
        size_t mid = lo + (hi - lo) / 2;
        if (str_cmp(l->places[mid].node->name, name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < l->n && str_eq(l->places[lo].node->name, name) ? &l->places[lo] : NULL;
}

void ledger_open(struct ledger *l, struct arena *a, const struct sched_input *in)
{
    const struct sched_node **nodes = ARENA_ARRAY(a, const struct sched_node *, in->n_nodes + 1);

    *l = (struct ledger){ .a = a,
                          .n = in->n_nodes,
                          .namespaces = in->namespaces,
                          .search_left = SEARCHES_MAX,
                          .preempts = in->preempts };
    if (in->n_nodes)
        memcpy(nodes, in->nodes, in->n_nodes * sizeof(*nodes));
    qsort(nodes, in->n_nodes, sizeof(*nodes), compare_nodes);
    name_resources(l, in);
    l->places = ARENA_ARRAY(a, struct place, in->n_nodes + 1);
    l->fit = ARENA_ARRAY(a, struct place *, in->n_nodes + 1);
    l->scores = ARENA_ARRAY(a, struct score, in->n_nodes + 1);
    l->refusals = ARENA_ARRAY(a, struct refusal, in->n_nodes + 1);
    for (size_t i = 0; i < l->n; i++)
        l->places[i] = place_of(l, nodes[i]);
    stake_open(l, in);
    for (size_t i = 0; i < in->n_bound; i++) {
        const struct sched_pod *pod = in->bound[i];
        struct place *p = ledger_find(l, pod->node);
        if (!p)
            continue;
        const int64_t *need = ledger_need(l, &pod->need);
        ledger_take(l, p, pod, need);
        stake_seat(l, pod->gang, need, 1);
        struct stake *of = pod->ending ? stake_find(l, pod->gang) : NULL;
        if (of)
            of->ends = true;
    }
    kept_open(l, in);
}

void ledger_empty(struct ledger *out, const struct ledger *l)
{
    *out = *l;
    out->has_anti = false;
    out->n_ghosts = 0;
    out->stakes = NULL;
    out->places = ARENA_ARRAY(l->a, struct place, l->n + 1);
    for (size_t i = 0; i < l->n; i++) {
        struct place *p = &out->places[i];
        *p = (struct place){ .node = l->places[i].node,
                             .has = l->places[i].has,
                             .used = ARENA_ARRAY(l->a, int64_t, l->n_resources),
                             .max_pods = l->places[i].max_pods,
                             .least_priority = INT64_MAX };
    }
}
