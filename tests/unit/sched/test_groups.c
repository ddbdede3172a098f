/* Groups of pods that somebody made: which are let in, and what is kept for them. */

#include "sched/sched.h"
#include "tap.h"

enum { MANY = 32 };

struct world {
    struct arena *a;
    struct sched_node nodes[4];
    const struct sched_node *node_at[4];
    struct sched_pod pods[MANY];
    const struct sched_pod *bound[MANY];
    struct sched_waiting waiting[MANY];
    struct sched_gang groups[MANY];
    const struct sched_gang *group_at[MANY];
    struct sched_guard guard;
    struct sched_input in;
};

static struct sched_amounts gpus(struct world *w, int64_t n)
{
    struct sched_amount *need = ARENA_ARRAY(w->a, struct sched_amount, 1);

    *need = (struct sched_amount){ S("gpu"), n };
    return (struct sched_amounts){ need, n > 0 };
}

static void world_open(struct world *w, const int64_t *has, size_t n)
{
    *w = (struct world){ .a = arena_new(), .guard = { .patience_ms = 1000 } };
    for (size_t i = 0; i < n; i++) {
        struct sched_amount *at = ARENA_ARRAY(w->a, struct sched_amount, 2);
        at[0] = (struct sched_amount){ S("gpu"), has[i] };
        at[1] = (struct sched_amount){ S("pods"), 10 };
        w->nodes[i] =
            (struct sched_node){ .name = arena_printf(w->a, "n%zu", i), .has = { at, 2 } };
        w->node_at[i] = &w->nodes[i];
    }
    w->in = (struct sched_input){ .nodes = w->node_at,
                                  .n_nodes = n,
                                  .bound = w->bound,
                                  .waiting = w->waiting,
                                  .groups = w->group_at,
                                  .guard = &w->guard };
}

#define ONE(n) (const int64_t[]){ n }, 1

/* asks for that many GPUs and starts with as many pods; the later made, the later it comes */
static struct sched_gang *group(struct world *w, const char *name, int64_t asks)
{
    struct sched_gang *g = &w->groups[w->in.n_groups];

    *g = (struct sched_gang){ .uid = str_of(name),
                              .ns = S("d"),
                              .name = str_of(name),
                              .kind = S("podgroup"),
                              .created_ms = (int64_t)w->in.n_groups,
                              .min = asks ? asks : 1,
                              .is_group = true,
                              .asks = gpus(w, asks) };
    w->group_at[w->in.n_groups++] = g;
    return g;
}

static struct sched_pod *pod(struct world *w, const struct sched_gang *g, const char *name,
                             int64_t n)
{
    struct sched_pod *p = &w->pods[w->in.n_waiting + w->in.n_bound];

    *p = (struct sched_pod){ .ns = S("d"),
                             .name = str_of(name),
                             .uid = str_of(name),
                             .gang = g,
                             .member = g ? str_of(name) : STR_NONE,
                             .created_ms = 50,
                             .need = gpus(w, n) };
    return p;
}

static struct sched_pod *waits(struct world *w, const struct sched_gang *g, const char *name,
                               int64_t n)
{
    struct sched_pod *p = pod(w, g, name, n);

    w->waiting[w->in.n_waiting] = (struct sched_waiting){ .pod = p, .seq = w->in.n_waiting };
    w->in.n_waiting++;
    return p;
}

static struct sched_pod *runs(struct world *w, const struct sched_gang *g, const char *name,
                              int64_t n)
{
    struct sched_pod *p = pod(w, g, name, n);

    p->node = S("n0");
    w->bound[w->in.n_bound++] = p;
    return p;
}

/* "+a b: pod c=n0": a is let in, b is not; c gets a node. */
static str text_of(struct world *w, const struct sched_decision *d)
{
    str all = S("");

    for (size_t i = 0; i < d->n_groups; i++)
        all = arena_printf(w->a, "%.*s%s%s%.*s", STR_ARG(all), i ? " " : "",
                           d->groups[i].let_in ? "+" : "", STR_ARG(d->groups[i].of->name));
    for (size_t i = 0; i < w->in.n_waiting; i++)
        all = arena_printf(w->a, "%.*s%s%.*s%s%.*s", STR_ARG(all), i ? " " : ": ",
                           STR_ARG(d->pods[i].of->pod->name), d->pods[i].node ? "=" : "",
                           STR_ARG(d->pods[i].node ? d->pods[i].node->name : S("")));
    return all;
}

static struct sched_decision decides(struct world *w, const char *want, const char *what)
{
    struct sched_decision d = sched_decide(w->a, &w->in);

    is_str(text_of(w, &d), str_of(want), what);
    return d;
}

static void is_let_in_when_it_fits(void)
{
    struct world w;

    world_open(&w, ONE(4));
    struct sched_gang *a = group(&w, "a", 4);
    runs(&w, NULL, "other", 1);
    waits(&w, a, "a-0", 1);
    struct sched_decision d = decides(&w, "a: a-0", "what does not fit is not let in");
    is_str(d.groups[0].why, S("Insufficient gpu"), "which is told");
    ok(d.pods[0].early, "and no pod of it starts");
    w.in.n_bound = 0;
    decides(&w, "+a: a-0", "it is let in once it fits");
    arena_free(w.a);
}

int main(void)
{
    is_let_in_when_it_fits();
    return tap_done();
}
