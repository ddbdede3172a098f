/* How fast the scheduler decides: nodes and gangs of 8 that fit, and gangs that wait and are looked
 * at again. Prints JSON. */

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

static const struct sched_node **nodes_make(struct arena *a, size_t n)
{
    const struct sched_node **at = ARENA_ARRAY(a, const struct sched_node *, n);

    for (size_t i = 0; i < n; i++) {
        struct sched_node *node = ARENA_NEW(a, struct sched_node);
        *node = (struct sched_node){ .name = arena_printf(a, "node-%zu", i),
                                     .has = amounts(a, 32000, 8, 110) };
        at[i] = node;
    }
    return at;
}

static struct sched_waiting *pods_make(struct arena *a, size_t n_gangs)
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
                                     .need = amounts(a, 1000, 1, 0) };
            p->uid = p->name;
            at[i * GANG + k] = (struct sched_waiting){ .pod = p, .seq = i * GANG + k };
        }
    }
    return at;
}

/* Microseconds that a decision takes; placed: how many pods got a node. */
static int64_t decide_us(size_t n_nodes, size_t n_gangs, int64_t *placed)
{
    struct arena *a = arena_new();
    struct sched_input in = { .nodes = nodes_make(a, n_nodes),
                              .n_nodes = n_nodes,
                              .waiting = pods_make(a, n_gangs),
                              .n_waiting = n_gangs * GANG };
    int64_t began = now_us();
    struct sched_verdict *v = sched_decide(a, &in);
    int64_t took = now_us() - began;

    *placed = 0;
    for (size_t i = 0; i < in.n_waiting; i++)
        *placed += v[i].node != NULL;
    arena_free(a);
    return took;
}

int main(int argc, char **argv)
{
    size_t n_nodes = argc > 1 ? strtoul(argv[1], NULL, 10) : 5000;
    size_t n_gangs = argc > 2 ? strtoul(argv[2], NULL, 10) : 2500;
    int64_t placed, us = decide_us(n_nodes, n_gangs, &placed);

    printf("{\"nodes\": %zu, \"pods\": %zu, \"placed\": %" PRId64 ", \"ms\": %" PRId64
           ", \"pods_per_s\": %" PRId64,
           n_nodes, n_gangs * GANG, placed, us / 1000, placed * 1000000 / (us ? us : 1));
    us = decide_us(0 + 1, 1000, &placed);
    printf(", \"again_1_node_ms\": %" PRId64 "}\n", us / 1000);
    return 0;
}
