/* A pass over PodGroups: what their pods do, what phase that is, who may be let in, and what comes
 * of the decision. */

#include "binder/groups.h"

#include "base/mem.h"

#include "kube/waiting.h"
#include "sched/why.h"

#include <inttypes.h>
#include <stdlib.h>

enum { WAIT_MS = 60 * 1000, RETRY_MS = 10 * 1000, RETRY_MAX_MS = 300 * 1000 };

/* ---- its phase */

/* So many must come. */
static int64_t least(const struct group *g)
{
    return group_min(g) > 0 ? group_min(g) : 1;
}

static void leave(struct group *g)
{
    g->let_in = false;
    g->lonely_ms = 0;
    g->g.g.started = false;
    gang_drop_reserves(&g->g);
}

static void tell_broken(struct group *g)
{
    AUTO(arena) struct arena *a = arena_new();
    const struct group_pods *p = &g->pods;
    int64_t waiting = p->waiting + p->weightless + p->binding + p->bound;
    str why = arena_printf(a,
                           "%" PRId64 "/%" PRId64
                           " tasks in gang unschedulable: pod group is not ready, %" PRId64
                           " Running, %" PRId64 " Pending, %" PRId64 " minAvailable",
                           waiting, group_existing(g), p->running, waiting, group_min(g));

    group_say(g, "NotEnoughTasks", S("not ready"), why);
}

static bool may_go_in(const struct group *g)
{
    /* what its phase was before is to be seen first */
    bool is_written = g->stored == PHASE_NONE || g->stored == PHASE_PENDING;

    return g->form != GROUP_VOLCANO || (is_written && !g->busy);
}

/* A group that is Pending by its pods, but has some with a node, was not let go. */
static void go_on(struct group *g, bool was_in)
{
    bool holds = g->pods.binding || g->pods.bound || g->pods.running;

    g->let_in = phase_is_let_in(g->form, g->phase) || (was_in && holds);
    if (g->let_in && g->phase == PHASE_PENDING && may_go_in(g))
        g->phase = PHASE_INQUEUE;
}

/* Nothing is kept for one all of whose pods are gone. */
static void stay_in(struct group *g)
{
    g->let_in = true;
    if (g->phase != PHASE_PENDING || g->pods.binding || g->pods.bound || g->pods.running)
        return;
    g->g.g.started = false;
    gang_drop_reserves(&g->g);
}

static void look_at_phase(struct group *g)
{
    struct group_seen seen = { g->form, g->phase, group_min(g), g->pods };
    bool was_in = g->let_in;

    g->phase = phase_of(&seen);
    if (g->form == GROUP_KUBE)
        stay_in(g);
    else if (g->form == GROUP_VOLCANO)
        go_on(g, was_in);
    else if (phase_is_let_in(g->form, g->phase) || g->pods.bound || g->pods.running)
        g->let_in = true;
    else if (g->phase == PHASE_PENDING)
        g->let_in = false;
    if (was_in && !g->let_in) {
        leave(g);
        g->returning = true;
    }
    if (phase_is_over(g->phase))
        gang_drop_reserves(&g->g);
    if (g->phase == PHASE_RUNNING || phase_is_over(g->phase))
        group_say_nothing(g);
    if (g->phase == PHASE_UNKNOWN)
        tell_broken(g);
}

static bool has_enough(const struct group *g)
{
    return group_existing(g) >= least(g) && !g->lacking_role.n;
}

static str missing_text(struct arena *a, const struct group *g)
{
    if (g->lacking_role.n && group_existing(g) >= least(g))
        return arena_printf(a, "too few pods of role \"%" PRI_STR "\" exist",
                            STR_ARG(g->lacking_role));
    return arena_printf(a, "%" PRId64 " of the %" PRId64 " pods that start together exist",
                        group_existing(g), least(g));
}

/* What is kept for a group whose pods do not come is free again after a while. */
static void look_at_time(struct group *g)
{
    struct binder *b = g->b;
    int64_t now_ms = loop_now_ms(b->loop), wait_ms = b->o.group_wait_ms;

    if (has_enough(g)) {
        g->lonely_ms = g->retry_ms = 0;
        g->retries = 0;
        return;
    }
    if (g->phase != PHASE_INQUEUE) {
        g->lonely_ms = 0;
        return;
    }
    if (!g->lonely_ms)
        g->lonely_ms = now_ms;
    int64_t until_ms = g->lonely_ms + (wait_ms ? wait_ms : WAIT_MS);
    if (now_ms < until_ms) {
        groups_look_at(b, until_ms);
        return;
    }
    int64_t pause_ms = g->retries < 5 ? (int64_t)RETRY_MS << g->retries : RETRY_MAX_MS;
    g->retries++;
    g->retry_ms = now_ms + (pause_ms < RETRY_MAX_MS ? pause_ms : RETRY_MAX_MS);
    g->phase = PHASE_PENDING;
    leave(g);
}

/* ---- what the decision is told */

static str refusal_of(struct group *g, struct arena *a)
{
    struct binder *b = g->b;
    const struct queue *q = (const struct queue *)shelf_find(&b->queues, STR_NONE, g->queue);
    str no = STR_NONE;

    g->g.g.queue = q ? &q->q : NULL;
    g->refusal = NULL;
    if (g->let_in)
        return no;
    if (g->form == GROUP_VOLCANO && !q && informer_is_listed(b->queues.inf)) {
        g->refusal = "QueueNotFound";
        return arena_printf(a, "queue \"%" PRI_STR "\" not found", STR_ARG(g->queue));
    }
    bool rests = g->retry_ms > loop_now_ms(b->loop);
    if (rests)
        groups_look_at(b, g->retry_ms);
    if (rests || (g->form == GROUP_PLUGINS && group_existing(g) < group_min(g))) {
        g->refusal = "NotEnoughTasks";
        return missing_text(a, g);
    }
    return no;
}

static void describe(struct group *g, struct arena *a)
{
    struct binder *b = g->b;
    struct sched_gang *to = &g->g.g;
    const struct held *class = g->class.n ? shelf_find(&b->priorities, STR_NONE, g->class) : NULL;

    to->has_priority = class != NULL;
    to->priority = class ? jv_int(jv_get(class->obj, S("value")), 0) : 0;
    to->never_preempts = class && str_eqz(jv_str(jv_get(class->obj, S("policy")), S("")), "Never");
    to->let_in = g->let_in;
    to->returning = g->returning;
    to->stopped = g->going;
    to->asks = g->let_in ? group_granted(a, g) : g->asks;
    to->unkept = g->let_in && to->min > g->granted_min ? to->min - g->granted_min : 0;
    if (phase_is_over(g->phase))
        to->asks.n = 0;
    group_sums_open(a, g);
    to->refused = refusal_of(g, a);
}

static bool is_unknown_yet(const struct group *g)
{
    return g->form == GROUP_VOLCANO && g->phase == PHASE_NONE &&
           informer_is_listed(g->b->queues.inf) && !shelf_find(&g->b->queues, STR_NONE, g->queue);
}

void groups_collect(struct binder *b, struct arena *a, struct sched_input *in)
{
    const struct sched_gang **groups =
        ARENA_ARRAY(a, const struct sched_gang *, groups_number(b) + 1);

    b->groups_due = false;
    b->n_groups_out = 0;
    b->groups_dirty = true;
    in->groups = groups;
    GROUP_EACH (slot, form, b) {
        struct group *g = slot->value;
        if (!is_unknown_yet(g))
            look_at_phase(g);
        look_at_time(g);
        describe(g, a);
        b->n_groups_out += !g->let_in && !g->going;
        if (!g->going)
            groups[in->n_groups++] = &g->g.g;
    }
    MAP_EACH (slot, &b->pods.items) {
        struct pod *p = slot->value;
        if (p->of && !p->going)
            group_sums_add(group_of(p->of), p);
    }
    GROUP_EACH (slot, form, b) {
        struct group *g = slot->value;
        g->g.g.done = g->done;
    }
    quotas_collect(b, a, in);
}

/* ---- when to look again */

static void on_time(void *arg)
{
    struct binder *b = arg;

    loop_timer_stop(TAKE(b->group_timer));
    b->groups_due = true;
    binder_work(b);
}

void groups_look_at(struct binder *b, int64_t at_ms)
{
    int64_t ms = at_ms - loop_now_ms(b->loop);

    if (b->group_timer && b->group_timer_ms <= at_ms)
        return;
    loop_timer_stop(b->group_timer);
    b->group_timer_ms = at_ms;
    b->group_timer = loop_timer_start(b->loop, ms > 0 ? ms : 0, 0, on_time, b);
}

/* ---- what comes of it */

str group_refuses(struct arena *a, const struct pod *p)
{
    const struct group *g = p->of ? group_of(p->of) : NULL;

    if (!g)
        return arena_printf(a, "podgroup \"%" PRI_STR "\" not found", STR_ARG(p->group));
    if (g->lacking_role.n && !g->g.g.started)
        return arena_printf(a,
                            "podgroup %" PRI_STR "/%" PRI_STR " lacks pods of role \"%" PRI_STR
                            "\" (annotation volcano.sh/task-spec)",
                            STR_ARG(g->g.g.ns), STR_ARG(g->g.g.name), STR_ARG(g->lacking_role));
    return STR_NONE;
}

static void let_in(struct group *g)
{
    g->let_in = true;
    g->g.g.let_in = true;
    group_grant(g);
    g->returning = false;
    g->lonely_ms = 0;
    group_say_nothing(g);
    if (g->form == GROUP_VOLCANO)
        g->phase = PHASE_INQUEUE;
    g->b->groups_due = g->b->place_due = g->b->place_all = true;
    binder_work(g->b);
}

/* What it asks for, as that many pods. */
static str sentence_of(struct binder *b, struct arena *a, struct collected *c,
                       const struct sched_group_verdict *v)
{
    enum { MANY = 256 };
    const struct group *g = group_of(gang_find(b, v->of->uid));
    size_t n = group_min(g) > 0 && group_min(g) < MANY ? (size_t)group_min(g) : 1;
    struct sched_pod *pods = ARENA_ARRAY(a, struct sched_pod, n);
    struct sched_waiting *waiting = ARENA_ARRAY(a, struct sched_waiting, n);
    const struct sched_waiting **at = ARENA_ARRAY(a, const struct sched_waiting *, n);
    int64_t parts = (int64_t)n;

    for (int64_t i = 0; i < parts; i++) {
        struct sched_amount *need = ARENA_ARRAY(a, struct sched_amount, g->asks.n + 1);
        for (size_t k = 0; k < g->asks.n; k++) {
            int64_t sum = g->asks.at[k].n, each = sum / parts, rest = sum % parts;
            need[k] = (struct sched_amount){ g->asks.at[k].name, each + (i < rest) };
        }
        pods[i] = (struct sched_pod){
            .ns = g->g.g.ns, .name = g->g.g.name, .uid = g->g.g.uid, .need = { need, g->asks.n }
        };
        waiting[i].pod = &pods[i];
        at[i] = &waiting[i];
    }
    struct why_unit unit = {
        .pods = at, .n_pods = n, .min = parts, .never = v->never, .behind = v->behind
    };
    return reason_of_unit(b, a, c, &unit);
}

static void keep_out(struct binder *b, struct arena *a, struct collected *c, struct group *g,
                     const struct sched_group_verdict *v)
{
    bool is_room = str_starts(v->why, S("needs "));
    str first = is_room ? S(GROUP_NOT_IN) : v->why, sentence = STR_NONE;
    const char *reason = g->refusal                                ? g->refusal
                         : str_starts(v->why, S("exceeded quota")) ? "ExceedsQuota"
                         : g->g.g.queue && g->g.g.queue->closed    ? "QueueClosed"
                         : v->never                                ? "ExceedsCapacity"
                                                                   : "NotEnoughResources";

    if (!v->why.n || group_is_said(g, reason, first))
        return;
    if (is_room) {
        sentence = sentence_of(b, a, c, v);
        sentence = sentence.n ? sentence : v->why;
    }
    group_say(g, reason, first, waiting_message(a, first, sentence));
}

void groups_decided(struct binder *b, struct arena *a, struct collected *c)
{
    for (size_t i = 0; i < c->n_groups; i++) {
        const struct sched_group_verdict *v = &c->groups[i];
        struct group *g = group_of(gang_find(b, v->of->uid));
        if (!v->let_in)
            keep_out(b, a, c, g, v);
        else if (may_go_in(g))
            let_in(g);
    }
}
