/* How fast the scheduler decides, and in how much memory: nodes and gangs of 8 that fit, and gangs
 * that wait and are looked at again, on one node, on many full ones, and where enough is free in
 * sum but not on the same nodes; and the same with PodGroups in two queues. Prints JSON. */

#include "sched/sched.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { GANG = 8 };

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * (int64_t)1000000 + t.tv_nsec / 1000;
}

static struct sched_amounts amounts(struct arena *a, int64_t cpu, int64_t gpus, int64_t pods)
{
    struct sched_amount *at = ARENA_ARRAY(a, struct sched_amount, 3);

    at[0] = (struct sched_amount){ S("cpu"), cpu };
    at[1] = (struct sched_amount){ S("nvidia.com/gpu"), gpus };
    at[2] = (struct sched_amount){ S("pods"), pods };
    return (struct sched_amounts){ at, pods ? 3 : 2 };
}

static const struct sched_node **nodes_make(struct arena *a, size_t n, int64_t gpus)
{
    const struct sched_node **at = ARENA_ARRAY(a, const struct sched_node *, n);

    for (size_t i = 0; i < n; i++) {
        struct sched_node *node = ARENA_NEW(a, struct sched_node);
        *node = (struct sched_node){ .name = arena_printf(a, "node-%zu", i),
                                     .has = amounts(a, 32000, gpus, 110) };
        at[i] = node;
    }
    return at;
}

static struct sched_waiting *pods_make(struct arena *a, size_t n_gangs, int64_t gpus)
{
    struct sched_waiting *at = ARENA_ARRAY(a, struct sched_waiting, n_gangs * GANG);

    for (size_t i = 0; i < n_gangs; i++) {
        struct sched_gang *g = ARENA_NEW(a, struct sched_gang);
        str name = arena_printf(a, "job-%zu", i);
        *g = (struct sched_gang){ .uid = name,
                                  .ns = S("d"),
                                  .name = name,
                                  .kind = S("job"),
                                  .min = GANG,
                                  .created_ms = (int64_t)i };
        for (size_t k = 0; k < GANG; k++) {
            struct sched_pod *p = ARENA_NEW(a, struct sched_pod);
            *p = (struct sched_pod){ .ns = S("d"),
                                     .name = arena_printf(a, "job-%zu-worker-%zu", i, k),
                                     .owner = name,
                                     .gang = g,
                                     .member = arena_printf(a, "worker/%zu", k),
                                     .created_ms = (int64_t)i,
                                     .need = amounts(a, 1000, gpus, 0) };
            p->uid = p->name;
            at[i * GANG + k] = (struct sched_waiting){ .pod = p, .seq = i * GANG + k };
        }
    }
    return at;
}

static const struct sched_gang **groups_make(struct arena *a, const struct sched_waiting *pods,
                                             size_t n, int64_t gpus, bool let_in)
{
    static const struct sched_queue queues[] = { { .name = { "a", 1 }, .weight = 1 },
                                                 { .name = { "b", 1 }, .weight = 2 } };
    const struct sched_gang **at = ARENA_ARRAY(a, const struct sched_gang *, n);

    for (size_t i = 0; i < n; i++) {
        struct sched_gang *g = ARENA_NEW(a, struct sched_gang);
        *g = *pods[i * GANG].pod->gang;
        g->is_group = true;
        g->let_in = let_in;
        g->queue = &queues[i % COUNT(queues)];
        g->asks = amounts(a, GANG * 1000, GANG * gpus, 0);
        at[i] = g;
    }
    return at;
}

/* As the operator makes pods only of groups that were let in. */
static void set_groups(struct arena *a, struct sched_input *in, struct sched_waiting *pods,
                       int64_t gpus, bool let_in)
{
    size_t n = in->n_waiting / GANG;

    in->groups = groups_make(a, in->waiting, n, gpus, let_in);
    in->n_groups = n;
    in->n_waiting = let_in ? in->n_waiting : 0;
    for (size_t i = 0; i < in->n_waiting; i++) {
        struct sched_pod *p = ARENA_NEW(a, struct sched_pod);
        *p = *pods[i].pod;
        p->gang = in->groups[i / GANG];
        pods[i].pod = p;
    }
}

enum groups { NO_GROUPS, LET_IN, TO_BE_LET_IN };

struct run {
    size_t n_nodes, n_gangs;
    enum groups groups;
    int64_t node_gpus, pod_gpus;
    bool full; /* a pod on each node has all its GPUs */
    /* measured */
    int64_t us, placed;
    size_t bytes; /* while it decides */
};

static const struct sched_pod **fill(struct arena *a, const struct sched_input *in, int64_t gpus)
{
    const struct sched_pod **at = ARENA_ARRAY(a, const struct sched_pod *, in->n_nodes);

    for (size_t i = 0; i < in->n_nodes; i++) {
        struct sched_pod *p = ARENA_NEW(a, struct sched_pod);
        *p = (struct sched_pod){ .ns = S("d"),
                                 .name = in->nodes[i]->name,
                                 .node = in->nodes[i]->name,
                                 .need = amounts(a, 1000, gpus, 0) };
        at[i] = p;
    }
    return at;
}

static void measure(struct run *r)
{
    AUTO(arena) struct arena *world = arena_new(), *a = arena_new();
    struct sched_guard guard = { .patience_ms = 1 };
    struct sched_waiting *pods = pods_make(world, r->n_gangs, r->pod_gpus);
    struct sched_input in = { .nodes = nodes_make(world, r->n_nodes, r->node_gpus),
                              .n_nodes = r->n_nodes,
                              .waiting = pods,
                              .n_waiting = r->n_gangs * GANG,
                              .guard = &guard };

    if (r->full) {
        in.bound = fill(world, &in, r->node_gpus);
        in.n_bound = in.n_nodes;
    }
    if (r->groups != NO_GROUPS)
        set_groups(world, &in, pods, r->pod_gpus, r->groups == LET_IN);
    int64_t began = now_us();
    struct sched_verdict *v = sched_decide(a, &in).pods;
    r->us = now_us() - began;
    r->bytes = arena_size(a);
    for (size_t i = 0; i < in.n_waiting; i++)
        r->placed += v[i].node != NULL;
}

int main(int argc, char **argv)
{
    struct run fit = { .n_nodes = argc > 1 ? strtoul(argv[1], NULL, 10) : 5000,
                       .n_gangs = argc > 2 ? strtoul(argv[2], NULL, 10) : 2500,
                       .node_gpus = 8,
                       .pod_gpus = 1 };
    struct run one = { .n_nodes = 1, .n_gangs = 1000, .node_gpus = 8, .pod_gpus = 1 };
    struct run full = one, apart = { .n_nodes = 7, .n_gangs = 1000, .node_gpus = 3, .pod_gpus = 2 };

    struct run in_groups = fit, one_groups = one, full_groups;

    full.n_nodes = fit.n_nodes;
    full.full = true;
    full_groups = full;
    in_groups.groups = LET_IN;
    one_groups.groups = full_groups.groups = TO_BE_LET_IN;
    measure(&fit);
    printf("{\"nodes\": %zu, \"pods\": %zu, \"placed\": %" PRId64 ", \"ms\": %" PRId64
           ", \"pods_per_s\": %" PRId64 ", \"mb\": %zu",
           fit.n_nodes, fit.n_gangs * GANG, fit.placed, fit.us / 1000,
           fit.placed * 1000000 / (fit.us ? fit.us : 1), fit.bytes >> 20);
    measure(&one);
    measure(&full);
    measure(&apart);
    measure(&in_groups);
    measure(&one_groups);
    measure(&full_groups);
    printf(", \"again_1_node_ms\": %" PRId64 ", \"again_full_ms\": %" PRId64
           ", \"again_apart_ms\": %" PRId64,
           one.us / 1000, full.us / 1000, apart.us / 1000);
    printf(", \"group_pods_per_s\": %" PRId64 ", \"groups_again_1_node_ms\": %" PRId64
           ", \"groups_again_full_ms\": %" PRId64 "}\n",
           in_groups.placed * 1000000 / (in_groups.us ? in_groups.us : 1), one_groups.us / 1000,
           full_groups.us / 1000);
    return 0;
}
