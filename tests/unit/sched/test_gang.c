/* Pods that start together: all of those that must, or none; what is kept for members that are
 * gone; and who waits longest. */

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
    struct sched_reserve reserves[4];
    size_t n_pods;
    struct sched_guard guard;
    struct sched_input in;
};

static void world_open(struct world *w, const int64_t *gpus, size_t n)
{
    *w = (struct world){ .a = arena_new(), .guard = { .patience_ms = 1000 } };
    for (size_t i = 0; i < n; i++) {
        struct sched_amount *has = ARENA_ARRAY(w->a, struct sched_amount, 2);
        has[0] = (struct sched_amount){ S("gpu"), gpus[i] };
        has[1] = (struct sched_amount){ S("pods"), 100 };
        w->nodes[i] =
            (struct sched_node){ .name = arena_printf(w->a, "n%zu", i), .has = { has, 2 } };
        w->node_at[i] = &w->nodes[i];
    }
    w->in = (struct sched_input){ .nodes = w->node_at,
                                  .n_nodes = n,
                                  .bound = w->bound,
                                  .waiting = w->waiting,
                                  .reserves = w->reserves,
                                  .guard = &w->guard };
}

static struct sched_gang gang(const char *name, int64_t min, int64_t created_ms)
{
    return (struct sched_gang){ .uid = str_of(name),
                                .ns = S("d"),
                                .name = str_of(name),
                                .kind = S("job"),
                                .created_ms = created_ms,
                                .min = min };
}

static struct sched_amounts gpus(struct world *w, int64_t n)
{
    struct sched_amount *need = ARENA_ARRAY(w->a, struct sched_amount, 1);

    *need = (struct sched_amount){ S("gpu"), n };
    return (struct sched_amounts){ need, 1 };
}

static struct sched_pod *pod(struct world *w, const struct sched_gang *g, const char *member,
                             int64_t n)
{
    struct sched_pod *p = &w->pods[w->n_pods++];

    *p = (struct sched_pod){ .ns = S("d"),
                             .name = arena_printf(w->a, "%s%s%s", g ? g->name.p : "", g ? "-" : "",
                                                  member),
                             .gang = g,
                             .member = g ? str_of(member) : STR_NONE,
                             .created_ms = g ? g->created_ms : 0,
                             .need = gpus(w, n) };
    p->uid = p->name;
    return p;
}

static struct sched_pod *waits(struct world *w, const struct sched_gang *g, const char *member,
                               int64_t n)
{
    struct sched_pod *p = pod(w, g, member, n);

    w->waiting[w->in.n_waiting] = (struct sched_waiting){ .pod = p, .seq = w->in.n_waiting };
    w->in.n_waiting++;
    return p;
}

static void runs(struct world *w, const struct sched_gang *g, const char *member, int64_t n,
                 const char *node)
{
    struct sched_pod *p = pod(w, g, member, n);

    p->node = str_of(node);
    w->bound[w->in.n_bound++] = p;
}

/* "a-0=n0 a-1 ": those that wait have no node. */
static str decided(struct world *w)
{
    struct sched_verdict *v = sched_decide(w->a, &w->in).pods;
    str all = S("");

    for (size_t i = 0; i < w->in.n_waiting; i++)
        all = arena_printf(w->a, "%.*s%s%.*s%s%.*s", STR_ARG(all), i ? " " : "",
                           STR_ARG(v[i].of->pod->name), v[i].node ? "=" : "",
                           STR_ARG(v[i].node ? v[i].node->name : S("")));
    return all;
}

static void decides(struct world *w, const char *want, const char *what)
{
    is_str(decided(w), str_of(want), what);
}

#define ONE(n) (const int64_t[]){ n }, 1

static struct sched_amounts amounts(struct world *w, int64_t gpu, int64_t cpu, int64_t memory)
{
    struct sched_amount *at = ARENA_ARRAY(w->a, struct sched_amount, 4);

    at[0] = (struct sched_amount){ S("gpu"), gpu };
    at[1] = (struct sched_amount){ S("cpu"), cpu };
    at[2] = (struct sched_amount){ S("memory"), memory };
    at[3] = (struct sched_amount){ S("pods"), 100 };
    return (struct sched_amounts){ at, 3 };
}

static void set_node(struct world *w, size_t i, struct sched_amounts has)
{
    w->nodes[i].has = (struct sched_amounts){ has.at, 4 }; /* with room for pods */
}

static void all_or_nothing(void)
{
    const struct sched_gang a = gang("a", 3, 1), b = gang("b", 2, 2);
    struct world w;

    world_open(&w, ONE(2));
    for (int i = 0; i < 3; i++)
        waits(&w, &a, arena_printf(w.a, "%d", i).p, 1);
    decides(&w, "a-0 a-1 a-2", "a gang that does not fit starts none of its pods");
    ok(sched_decide(w.a, &w.in).pods[0].never, "and never will on this node");
    waits(&w, &b, "0", 1);
    waits(&w, &b, "1", 1);
    decides(&w, "a-0 a-1 a-2 b-0=n0 b-1=n0", "a later one that fits is not held up");
    arena_free(w.a);

    world_open(&w, ONE(4));
    waits(&w, &a, "0", 1);
    waits(&w, &a, "1", 1);
    decides(&w, "a-0 a-1", "a gang waits until as many pods exist as start together");
    ok(sched_decide(w.a, &w.in).pods[0].early, "which is told apart");
    waits(&w, &a, "1", 1)->name = S("twin");
    decides(&w, "a-0 a-1 twin", "two pods of one index are one member");
    waits(&w, &a, "", 2)->name = S("forged");
    decides(&w, "a-0 a-1 forged twin", "a pod that is no member does not count");
    waits(&w, &a, "2", 1);
    decides(&w, "a-0=n0 a-1=n0 a-2=n0 forged twin=n0",
            "once all exist they start, and what is left is for others");
    arena_free(w.a);
}

static void two_halves(void)
{
    const struct sched_gang a = gang("a", 2, 1), b = gang("b", 2, 1);
    struct world w;

    world_open(&w, ONE(3));
    waits(&w, &a, "0", 1);
    waits(&w, &b, "0", 1);
    waits(&w, &a, "1", 1);
    waits(&w, &b, "1", 1);
    decides(&w, "a-0=n0 a-1=n0 b-0 b-1", "two gangs never hold half of what each needs");
    arena_free(w.a);
}

static void growth(void)
{
    struct sched_gang a = gang("a", 2, 1);
    struct world w;

    world_open(&w, ONE(3));
    for (int i = 0; i < 4; i++)
        waits(&w, &a, arena_printf(w.a, "%d", i).p, 1);
    decides(&w, "a-0=n0 a-1=n0 a-2=n0 a-3", "beyond what must start together, pod by pod");
    ok(sched_decide(w.a, &w.in).pods[2].whole, "none of which is bound before the others");
    arena_free(w.a);

    world_open(&w, ONE(3));
    runs(&w, &a, "0", 1, "n0");
    runs(&w, &a, "1", 1, "n0");
    waits(&w, &a, "2", 1);
    waits(&w, &a, "3", 1);
    decides(&w, "a-2=n0 a-3", "growth after the start, too");
    arena_free(w.a);

    a.n_done = 1;
    world_open(&w, ONE(1));
    waits(&w, &a, "1", 1);
    decides(&w, "a-1=n0", "members that succeeded count");
    arena_free(w.a);

    a.stopped = true;
    world_open(&w, ONE(9));
    waits(&w, &a, "0", 1);
    waits(&w, &a, "1", 1);
    decides(&w, "a-0 a-1", "no pod of a job that is suspended or has ended starts");
    arena_free(w.a);
}

static void replacements(void)
{
    struct sched_gang a = gang("a", 2, 5), b = gang("b", 1, 1);
    struct world w;

    a.started = true;
    world_open(&w, ONE(2));
    runs(&w, &a, "0", 1, "n0");
    waits(&w, &b, "0", 1);
    w.reserves[0] = (struct sched_reserve){ &a, S("1"), S("n0"), gpus(&w, 1) };
    w.in.n_reserves = 1;
    decides(&w, "b-0", "nobody gets what a member that is gone had");
    waits(&w, &a, "1", 1);
    decides(&w, "a-1=n0 b-0", "but its replacement");
    w.in.n_reserves = 0;
    decides(&w, "a-1=n0 b-0", "which goes first even if nothing was kept");
    arena_free(w.a);
}

static void packing(void)
{
    const struct sched_gang a = gang("a", 3, 1), b = gang("b", 4, 1);
    struct world w;

    world_open(&w, (const int64_t[]){ 3, 2 }, 2);
    waits(&w, &a, "0", 1);
    waits(&w, &a, "1", 1);
    waits(&w, &a, "2", 3);
    decides(&w, "a-2=n0 a-1=n1 a-0=n1", "the largest first, if in turn they do not fit");
    arena_free(w.a);

    world_open(&w, (const int64_t[]){ 6, 6 }, 2);
    waits(&w, &b, "0", 4);
    waits(&w, &b, "1", 3);
    waits(&w, &b, "2", 3);
    waits(&w, &b, "3", 2);
    decides(&w, "b-0=n0 b-1=n1 b-2=n1 b-3=n0", "a gang that fits is found a way");
    arena_free(w.a);
}

/* b-0 would rather be on n1, where others can be only; and the two that ask for least do not fit.
 */
static void some_of_many(void)
{
    const struct sched_gang b = gang("b", 2, 1);
    struct world w;

    world_open(&w, (const int64_t[]){ 0, 0 }, 2);
    set_node(&w, 0, amounts(&w, 0, 2, 0));
    set_node(&w, 1, amounts(&w, 10, 4, 10));
    runs(&w, NULL, "other", 0, "n1");
    w.pods[0].need = amounts(&w, 9, 2, 0);
    waits(&w, &b, "0", 0)->need = amounts(&w, 0, 2, 0);
    waits(&w, &b, "1", 0)->need = amounts(&w, 1, 1, 0);
    waits(&w, &b, "2", 0)->need = amounts(&w, 1, 1, 0);
    str found = decided(&w);
    ok(str_contains(found, S("b-0=n0")) && str_contains(found, S("=n1")),
       "if not all of them must start, those that can are found: %.*s", STR_ARG(found));
    arena_free(w.a);
}

static void nobody_waits_for_ever(void)
{
    const struct sched_gang big = gang("big", 2, 1), small = gang("small", 1, 2);
    struct world w;

    world_open(&w, ONE(2));
    runs(&w, NULL, "other", 1, "n0");
    waits(&w, &big, "0", 1);
    waits(&w, &big, "1", 1);
    waits(&w, &small, "0", 1);
    decides(&w, "big-0 big-1 small-0=n0", "later ones pass one that does not fit");
    w.guard.now_ms = 999;
    decides(&w, "big-0 big-1 small-0=n0", "for a time");
    w.guard.now_ms = 1000;
    decides(&w, "big-0 big-1 small-0", "and then what it lacks is kept for it");
    is_str(sched_decide(w.a, &w.in).pods[2].behind, S("job d/big"), "which is told");
    w.in.n_bound = 0;
    decides(&w, "big-0=n0 big-1=n0 small-0", "until it starts");
    ok(w.guard.released, "then the others are to be looked at again");
    arena_free(w.a);
}

static void what_it_has_enough_of_stays_enough(void)
{
    const struct sched_gang big = gang("big", 2, 1);
    struct world w;

    world_open(&w, ONE(0));
    set_node(&w, 0, amounts(&w, 2, 5, 0));
    runs(&w, NULL, "other", 0, "n0");
    w.pods[0].need = amounts(&w, 1, 0, 0);
    waits(&w, &big, "0", 0)->need = amounts(&w, 1, 2, 0);
    waits(&w, &big, "1", 0)->need = amounts(&w, 1, 2, 0);
    for (size_t i = 0; i < 2; i++) {
        struct sched_pod *p = waits(&w, NULL, i ? "d" : "c", 0);
        p->need = amounts(&w, 0, 1, 0);
        p->created_ms = 2;
    }
    decides(&w, "big-0 big-1 c=n0 d=n0", "at first others get all that is free");
    w.guard.now_ms = 1000;
    decides(&w, "big-0 big-1 c=n0 d", "then of what it does not lack yet only what it can spare");
    arena_free(w.a);
}

int main(void)
{
    all_or_nothing();
    two_halves();
    growth();
    replacements();
    packing();
    some_of_many();
    nobody_waits_for_ever();
    what_it_has_enough_of_stays_enough();
    return tap_done();
}
