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
                             .owner_kind = g ? S("job") : S("pod"),
                             .owner_name = g ? g->name : str_of(name),
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

static void says(const struct sched_decision *d, size_t i, const char *want)
{
    is_str(d->groups[i].why, str_of(want), "which is told");
}

static void is_let_in_when_it_fits(void)
{
    struct world w;

    world_open(&w, ONE(4));
    struct sched_gang *a = group(&w, "a", 4);
    runs(&w, NULL, "other", 1);
    waits(&w, a, "a-0", 1);
    struct sched_decision d = decides(&w, "a: a-0", "what does not fit is not let in");
    says(&d, 0, "needs 4 gpu, this machine has 4, 3 free; held by pod d/other (1)");
    ok(d.pods[0].early, "and no pod of it starts");
    w.in.n_bound = 0;
    decides(&w, "+a: a-0", "it is let in once it fits");
    a->stopped = true;
    decides(&w, ": a-0", "unless it is stopped");
    a->stopped = false;
    a->min = 11;
    d = decides(&w, "a: a-0", "its pods need room, too");
    says(&d, 0, "needs room for 11 pods, this machine has 10");
    arena_free(w.a);
}

static void what_it_asks_for_is_kept(void)
{
    struct world w;

    world_open(&w, (const int64_t[]){ 2, 2 }, 2);
    struct sched_gang *a = group(&w, "a", 3);
    group(&w, "b", 2);
    waits(&w, NULL, "c", 2);
    struct sched_decision d = decides(&w, "+a b: c", "a group takes its room before it has pods");
    says(&d, 1, "needs 2 gpu, these nodes have 4, 4 free, 3 of that kept for podgroup d/a");
    is_str(d.pods[0].why,
           S("0/2 nodes are available: 2 node(s) were kept for podgroup d/a. no new claims to "
             "deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found for "
             "incoming pod."),
           "which pods are told");
    is_str(d.pods[0].behind, S("podgroup d/a"), "for whom it is");
    a->let_in = true;
    decides(&w, "b: c", "it keeps it");
    for (size_t i = 0; i < 3; i++)
        waits(&w, a, i ? i > 1 ? "a-2" : "a-1" : "a-0", 1);
    d = decides(&w, "b: a-0=n0 a-1=n1 a-2=n0 c", "until its pods take it");
    ok(d.pods[0].whole, "all of them at once");
    arena_free(w.a);

    world_open(&w, ONE(4));
    a = group(&w, "a", 3);
    a->let_in = a->started = true;
    runs(&w, a, "a-0", 1);
    waits(&w, NULL, "c", 2);
    waits(&w, a, "a-1", 1);
    decides(&w, ": a-1=n0 c", "what its pods have is part of it");
    a->n_done = 1;
    a->done = gpus(&w, 1);
    decides(&w, ": a-1=n0 c=n0", "what succeeded gives its share back");
    a->stopped = true;
    w.in.n_bound = 0;
    decides(&w, ": a-1 c=n0", "a stopped one gives back all");
    arena_free(w.a);
}

static void who_asks_for_nothing_is_let_in(void)
{
    struct world w;

    world_open(&w, ONE(1));
    struct sched_gang *a = group(&w, "a", 0);
    runs(&w, NULL, "other", 1);
    decides(&w, "+a", "a group that asks for nothing is let in at once");
    a->let_in = true;
    waits(&w, a, "a-0", 1);
    decides(&w, ": a-0", "its pods wait for room as others do");
    arena_free(w.a);
}

static void in_order(void)
{
    struct world w;

    world_open(&w, ONE(2));
    group(&w, "a", 2);
    struct sched_gang *b = group(&w, "b", 2), *c = group(&w, "c", 2);
    decides(&w, "+a b c", "the older first");
    b->created_ms = c->created_ms = 0;
    c->name = c->uid = S("A");
    decides(&w, "+A a b", "of the same age, by name");
    b->returning = true;
    decides(&w, "+b A a", "before these, one that was restarted");
    b->returning = false;
    c->has_priority = true;
    c->priority = 5;
    c->created_ms = 9;
    decides(&w, "+A a b", "before all, one that matters more");
    waits(&w, NULL, "p", 2)->priority = 6;
    decides(&w, "A a b: p=n0", "and pods are in the same order");
    arena_free(w.a);
}

static void never_fits(void)
{
    struct world w;

    world_open(&w, ONE(2));
    struct sched_gang *a = group(&w, "a", 3);
    group(&w, "b", 2);
    w.guard = (struct sched_guard){ .patience_ms = 1000, .now_ms = 5000, .first = "a" };
    struct sched_decision d = decides(&w, "a +b", "one that never fits blocks nobody");
    ok(d.groups[0].never, "and is marked");
    says(&d, 0, "needs 3 gpu, this machine has 2");
    arena_free(w.a);

    world_open(&w, (const int64_t[]){ 3, 3 }, 2);
    a = group(&w, "a", 6);
    a->let_in = true;
    a->min = 2;
    waits(&w, a, "a-0", 4);
    waits(&w, a, "a-1", 2);
    waits(&w, NULL, "p", 1);
    decides(&w, ": a-0 a-1 p=n0", "what is let in and fits on no node keeps nothing");
    ok(w.guard.released, "and others are looked at again");
    arena_free(w.a);
}

static void nobody_waits_for_ever(void)
{
    struct world w;

    world_open(&w, ONE(3));
    group(&w, "a", 3);
    group(&w, "b", 1);
    runs(&w, NULL, "other", 1);
    waits(&w, NULL, "p", 1);
    decides(&w, "a +b: p=n0", "later ones pass a group that does not fit");
    w.guard.now_ms = 1000;
    struct sched_decision d = decides(&w, "a b: p", "until it has waited long");
    is_str(d.groups[1].behind, S("podgroup d/a"), "which groups are told");
    is_str(d.pods[0].behind, S("podgroup d/a"), "and pods");
    w.in.n_bound = 0;
    decides(&w, "+a b: p", "and then it is let in");
    arena_free(w.a);
}

static void queues_have_limits(void)
{
    struct world w;

    world_open(&w, ONE(8));
    struct sched_queue q = { .name = S("q"), .weight = 1, .capability = gpus(&w, 3) };
    struct sched_gang *a = group(&w, "a", 2), *b = group(&w, "b", 2), *c = group(&w, "c", 1),
                      *d = group(&w, "d", 4);
    a->queue = b->queue = c->queue = d->queue = &q;
    group(&w, "e", 2);
    struct sched_decision v = decides(&w, "+a b +c d +e", "no more than a queue may use");
    says(&v, 1, "queue resource quota insufficient: insufficient gpu");
    ok(!v.groups[1].never && v.groups[3].never, "one that asks for more never fits");

    a->let_in = c->let_in = true;
    waits(&w, a, "a-0", 1);
    waits(&w, a, "a-1", 1);
    waits(&w, a, "a-2", 1);
    v = decides(&w, "b d +e: a-0=n0 a-1=n0 a-2", "nor do pods beyond what a group asked for");
    ok(str_contains(v.pods[2].why, S("queue resource quota insufficient: insufficient gpu")),
       "which they are told");
    c->let_in = false;
    w.guard.now_ms = 2000;
    memcpy(w.guard.first, "b", 2);
    w.in.n_waiting = 0;
    v = decides(&w, "b c d +e", "the first of those that wait for a queue keeps what it has left");
    says(&v, 1, "waits in queue \"q\" behind podgroup d/b");

    q.closed = true;
    v = decides(&w, "b c d +e", "a closed queue lets none in");
    says(&v, 0, "queue \"q\" is closed");
    q.closed = false;
    q.strict = true;
    memset(&w.guard, 0, sizeof(w.guard));
    w.guard.patience_ms = 1000;
    decides(&w, "b c d +e", "in a strict queue none passes its first");
    b->refused = S("queue \"x\" not found");
    v = decides(&w, "b +c d +e", "a refused one is not its first");
    says(&v, 0, "queue \"x\" not found");
    arena_free(w.a);
}

static void queues_have_weights(void)
{
    struct sched_queue q = { .name = S("q"), .weight = 1 }, r = { .name = S("r"), .weight = 3 };
    struct world w;

    world_open(&w, ONE(8));
    for (size_t i = 0; i < 8; i++)
        group(&w, (const char *[]){ "a", "b", "c", "d", "e", "f", "g", "h" }[i], 2)->queue =
            i < 4 ? &q : &r;
    decides(&w, "+a +e +f +g b c d h", "of two queues that want more each gets its share");
    w.in.n_groups = 4;
    decides(&w, "+a +b +c +d", "one alone gets all");
    w.in.n_groups = 5;
    w.groups[4].asks = gpus(&w, 9);
    decides(&w, "+a +b +c +d e", "or what another cannot use");
    w.groups[4].asks = gpus(&w, 2);
    for (size_t i = 0; i < 3; i++)
        w.groups[i].let_in = true;
    decides(&w, "+e d", "who has less than its share comes first, though it is younger");
    arena_free(w.a);
}

static void quotas_count(void)
{
    const struct sched_amount left[] = { { S("requests.gpu"), 3 }, { S("pods"), 9 } };
    const struct sched_quota quota = { S("d"), S("team"), { left, 2 } };
    struct world w;

    world_open(&w, ONE(8));
    w.in.quotas = &quota;
    w.in.n_quotas = 1;
    struct sched_gang *a = group(&w, "a", 2);
    group(&w, "b", 2);
    group(&w, "c", 2)->ns = S("other");
    struct sched_decision d = decides(&w, "+a b +c", "no more than a quota leaves");
    says(&d, 1, "exceeded quota: team, requested: requests.gpu=2, left: requests.gpu=1");
    a->let_in = true;
    decides(&w, "b +c", "what is let in may still use it");
    runs(&w, a, "a-0", 1);
    waits(&w, a, "a-1", 1);
    decides(&w, "+b +c: a-1=n0", "pods that exist are counted already");
    w.in.n_waiting = w.in.n_bound = 0;
    a->let_in = false;
    a->asks = gpus(&w, 4);
    decides(&w, "a +b +c", "later ones pass one that a quota keeps out");
    w.guard.now_ms = 1000;
    d = decides(&w, "a b +c", "until it has waited long");
    says(&d, 1, "what the quotas of namespace \"d\" leave is kept for podgroup d/a");
    arena_free(w.a);
}

/* Else a group of one namespace that may never start would keep all others out. */
static void no_room_is_kept_for_who_waits_for_its_own(void)
{
    const struct sched_amount left[] = { { S("requests.gpu"), 3 } };
    const struct sched_quota quota = { S("d"), S("team"), { left, 1 } };
    struct sched_queue q = { .name = S("q"), .weight = 1 };
    struct world w;

    world_open(&w, ONE(8));
    w.in.quotas = &quota;
    w.in.n_quotas = 1;
    runs(&w, NULL, "old", 1);
    group(&w, "a", 8);
    group(&w, "c", 2)->ns = S("other");
    decides(&w, "a +c", "a group lacks room, and its quota is too small");
    w.guard.now_ms = 5000;
    decides(&w, "a +c", "no room is kept for it, however long it waits");
    arena_free(w.a);

    world_open(&w, ONE(3));
    q.capability = gpus(&w, 3);
    struct sched_gang *b = group(&w, "b", 2);
    b->queue = &q;
    b->let_in = true;
    runs(&w, b, "b-0", 2);
    group(&w, "a", 2)->queue = &q;
    group(&w, "c", 1);
    decides(&w, "a +c", "a group lacks room, and its queue is full");
    w.guard.now_ms = 5000;
    decides(&w, "a +c", "no room is kept for it either");
    arena_free(w.a);
}

/* "x! y": x with all of its gang */
static str victims_of(struct world *w, const struct sched_decision *d)
{
    str all = S("");

    for (size_t i = 0; i < d->n_victims; i++)
        all = arena_printf(w->a, "%.*s%s%.*s%s", STR_ARG(all), i ? " " : "",
                           STR_ARG(d->victims[i].pod->name), d->victims[i].whole ? "!" : "");
    return all;
}

static struct sched_decision sends_away(struct world *w, const char *want, const char *what)
{
    struct sched_decision d = sched_decide(w->a, &w->in);

    is_str(victims_of(w, &d), str_of(want), what);
    return d;
}

static void lesser_make_way(void)
{
    struct world w;

    world_open(&w, ONE(4));
    struct sched_gang *a = group(&w, "a", 2), *b = group(&w, "b", 2);
    a->let_in = a->started = true;
    runs(&w, a, "a-0", 1);
    runs(&w, a, "a-1", 1);
    runs(&w, a, "a-2", 1);
    struct sched_pod *o = runs(&w, NULL, "o", 1);
    b->has_priority = true;
    b->priority = 5;
    sends_away(&w, "", "nobody is sent away unless that is wanted");
    w.in.preempts = true;
    b->priority = 0;
    sends_away(&w, "", "nor anybody that matters as much");
    b->priority = 5;
    struct sched_decision d =
        sends_away(&w, "o a-2", "pods beyond what a gang must have, and what is alone");
    is_str(d.victims[0].makes_way_for, S("podgroup d/b"), "for whom is told");
    says(
        &d, 0,
        "needs 2 gpu, this machine has 4, 0 free; held by job d/a (3), pod d/o (1); 2 pods are sent "
        "away for it");
    o->priority = 5;
    sends_away(&w, "a-0! a-1! a-2!", "else whole gangs");
    a->has_priority = true;
    a->priority = 5;
    sends_away(&w, "", "of which none matters as much");
    a->has_priority = false;
    b->never_preempts = true;
    sends_away(&w, "", "and for nobody that does not want it");
    b->never_preempts = false;
    for (size_t i = 0; i < 3; i++)
        w.pods[i].ending = true;
    a->let_in = false; /* as the caller does */
    a->returning = true;
    waits(&w, NULL, "p", 0);
    waits(&w, NULL, "q", 1);
    d = sends_away(&w, "", "once is enough");
    says(
        &d, 0,
        "needs 2 gpu, this machine has 4, 0 free; held by job d/a (3), pod d/o (1); pods that matter "
        "less are being deleted");
    w.bound[0] = o;
    w.in.n_bound = 3; /* a-1 and a-2 are still there */
    d = decides(&w, "b a: p=n0 q", "nobody takes its room meanwhile");
    is_str(d.pods[1].behind, S("podgroup d/b"), "which is told");
    says(&d, 1, "waits until those of its pods have ended that are being deleted");
    w.in.n_bound = 1;
    w.in.n_waiting = 0;
    decides(&w, "+b a", "then it is let in");
    arena_free(w.a);
}

static void in_a_full_queue(void)
{
    struct sched_queue q = { .name = S("q"), .weight = 1 };
    struct world w;

    world_open(&w, ONE(8));
    q.capability = gpus(&w, 2);
    w.in.preempts = true;
    struct sched_gang *a = group(&w, "a", 2), *b = group(&w, "b", 2);
    runs(&w, NULL, "o", 1);
    runs(&w, a, "a-0", 1);
    runs(&w, a, "a-1", 1);
    a->queue = b->queue = &q;
    a->let_in = a->started = true;
    b->has_priority = true;
    b->priority = 5;
    struct sched_decision d = sends_away(&w, "a-0! a-1!", "those go that fill a queue, no others");
    says(&d, 0, "queue resource quota insufficient: insufficient gpu; 2 pods are sent away for it");
    arena_free(w.a);
}

static void the_newest_of_the_least_goes(void)
{
    struct world w;

    world_open(&w, ONE(3));
    w.in.preempts = true;
    runs(&w, NULL, "old", 1)->created_ms = 1;
    runs(&w, NULL, "new", 1)->created_ms = 2;
    runs(&w, NULL, "more", 1)->priority = 1;
    struct sched_pod *p = waits(&w, NULL, "p", 1);
    p->priority = 2;
    struct sched_decision d = sends_away(&w, "new", "the newest of those that matter least");
    ok(str_ends(d.pods[0].why, S("preemption: 1 pod that matters less is sent away.")),
       "which is told");
    p->need = gpus(&w, 4);
    d = sends_away(&w, "", "nobody if it would not help");
    p->need = gpus(&w, 3);
    struct sched_pod *late = waits(&w, NULL, "late", 1);
    late->priority = 2;
    late->created_ms = 60;
    d = sends_away(&w, "more old new", "for one at a time");
    ok(str_ends(d.pods[1].why, S("1 node(s) were kept for pod d/p.")), "which others are told");
    p->never_preempts = true;
    d = sends_away(&w, "new", "those that do not want it are passed over");
    arena_free(w.a);

    world_open(&w, ONE(2));
    w.in.preempts = true;
    struct sched_gang g = {
        .uid = S("g"), .ns = S("d"), .name = S("g"), .kind = S("job"), .min = 2
    };
    runs(&w, &g, "g-0", 1);
    runs(&w, &g, "g-1", 1)->priority = 3;
    waits(&w, NULL, "p", 1)->priority = 2;
    d = sends_away(&w, "", "no gang of which one matters more is broken");
    ok(str_ends(d.pods[0].why, S("preemption: nobody is sent away for it.")), "which is told");
    arena_free(w.a);
}

int main(void)
{
    is_let_in_when_it_fits();
    what_it_asks_for_is_kept();
    who_asks_for_nothing_is_let_in();
    in_order();
    never_fits();
    nobody_waits_for_ever();
    queues_have_limits();
    queues_have_weights();
    quotas_count();
    no_room_is_kept_for_who_waits_for_its_own();
    lesser_make_way();
    in_a_full_queue();
    the_newest_of_the_least_goes();
    return tap_done();
}
