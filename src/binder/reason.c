/* Why pods wait, in kube-scheduler's words and then in one sentence, as their condition
 * PodScheduled and an event. Written when it changes, but what only the sentence says is written
 * again after some time at the earliest: who holds what changes with every pod that ends. */

#include "binder/groups.h"

#include "base/time.h"
#include "kube/waiting.h"
#include "loop/log.h"
#include "sched/why.h"

#include <stdlib.h>

enum {
    EARLY_MS = 3 * 1000, /* pods of a gang are made one after the other */
};

/* ---- what is said */

struct telling {
    struct binder *b;
    struct arena *a;
    struct collected *c;
};

static struct pod *pod_at(const struct telling *t, const struct sched_verdict *v)
{
    return t->c->pods[v->of - t->c->in.waiting];
}

static void add_bound(const struct sched_pod **to, size_t *n, struct arena *a,
                      const struct sched_pod *pod, str node)
{
    struct sched_pod *p = ARENA_NEW(a, struct sched_pod);

    *p = *pod;
    p->node = node;
    to[(*n)++] = p;
}

static bool is_kept_for(const struct sched_reserve *r, const struct sched_verdict *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (v[i].of->pod->gang == r->gang && str_eq(v[i].of->pod->member, r->member))
            return true;
    return false;
}

/* What is taken once the decision is carried out, but for what is kept for those n. */
static struct why_world *world_after(const struct telling *t, const struct sched_verdict *own,
                                     size_t n_own)
{
    const struct sched_input *in = &t->c->in;
    const struct sched_pod **all =
        ARENA_ARRAY(t->a, const struct sched_pod *,
                    in->n_bound + in->n_waiting + in->n_reserves + groups_kept_max(t->b, in) + 1);
    size_t n = in->n_bound;

    memcpy(all, in->bound, n * sizeof(*all));
    for (size_t i = 0; i < in->n_waiting; i++) {
        const struct sched_verdict *v = &t->c->verdicts[i];
        if (v->node)
            add_bound(all, &n, t->a, v->of->pod, v->node->name);
    }
    for (size_t i = 0; i < in->n_reserves; i++) {
        const struct sched_gang *g = in->reserves[i].gang;
        if (is_kept_for(&in->reserves[i], own, n_own))
            continue;
        const struct sched_pod kept = { .ns = g->ns,
                                        .name = g->name,
                                        .owner_kind = g->kind,
                                        .owner_name = g->name,
                                        .need = in->reserves[i].need };
        add_bound(all, &n, t->a, &kept, in->reserves[i].node);
    }
    n += groups_kept(t->b, t->a, in, n_own ? own->of->pod->gang : NULL, &all[n]);
    return why_world_new(t->a, in->nodes, in->n_nodes, all, n);
}

static struct why_world *world_for(struct telling *t, const struct sched_verdict *v, size_t n)
{
    const struct gang *g = n ? pod_at(t, v)->of : NULL;

    if (g && group_has_left((const struct group *)g))
        return world_after(t, v, n);
    for (size_t i = 0; i < t->c->in.n_reserves; i++)
        if (is_kept_for(&t->c->in.reserves[i], v, n))
            return world_after(t, v, n);
    if (!t->c->world)
        t->c->world = world_after(t, NULL, 0);
    return t->c->world;
}

/* Of a unit: n verdicts that follow each other. */
static str sentence_of(struct telling *t, const struct sched_verdict *v, size_t n)
{
    const struct sched_waiting **pods = ARENA_ARRAY(t->a, const struct sched_waiting *, n);
    size_t count = v->together && (size_t)v->together < n ? (size_t)v->together : n;

    for (size_t i = 0; i < count; i++)
        pods[i] = v[i].of;
    struct why_unit unit = { .pods = pods,
                             .n_pods = count,
                             .min = v->together,
                             .by_default = v->together > 0 && t->b->o.gangs.by_default,
                             .never = v->never,
                             .behind = v->behind };
    struct why why = why_of(world_for(t, v, count), &unit);
    /* what these say was said in kube-scheduler's words */
    bool is_said = why.cause == WHY_NO_NODES || why.cause == WHY_REFUSED;
    return is_said ? STR_NONE : why_sentence(t->a, &why);
}

str reason_of_unit(struct binder *b, struct arena *a, struct collected *c,
                   const struct why_unit *unit)
{
    struct telling t = { .b = b, .a = a, .c = c };
    struct why why = why_of(world_for(&t, NULL, 0), unit);

    return why_sentence(a, &why);
}

/* ---- when */

static void on_later(void *arg)
{
    struct binder *b = arg;

    loop_timer_stop(TAKE(b->later));
    b->place_due = b->place_all = true;
    binder_work(b);
}

void reasons_later(struct binder *b, int64_t ms)
{
    if (!b->later)
        b->later = loop_timer_start(b->loop, ms, 0, on_later, b);
}

/* Whether it is too early to say that a gang lacks members. */
static bool is_early(struct binder *b, const struct pod *p, const struct sched_verdict *v)
{
    struct gang *g = gang_of_pod(p);
    int64_t now_ms = loop_now_ms(b->loop);

    if (!g)
        return false;
    if (!v->early) {
        g->early_ms = 0;
        return false;
    }
    if (!g->early_ms)
        g->early_ms = now_ms;
    if (now_ms - g->early_ms >= EARLY_MS)
        return false;
    reasons_later(b, EARLY_MS);
    return true;
}

/* The watches of pods and of groups are two: the group may be about to be seen. */
static bool is_early_group(struct binder *b, struct pod *p)
{
    int64_t now_ms = loop_now_ms(b->loop);

    if (!p->form || p->of)
        return false;
    if (!p->lost_ms)
        p->lost_ms = now_ms;
    if (now_ms - p->lost_ms >= EARLY_MS)
        return false;
    reasons_later(b, EARLY_MS);
    return true;
}

/* False: it is to be told later. */
static bool refuse_pod(struct pod *p, str nodes, str sentence)
{
    AUTO(arena) struct arena *a = arena_new();
    str why = waiting_message(a, nodes, sentence);
    int64_t now_ms = loop_now_ms(p->b->loop);

    if ((str_hash(why) | 1) == p->told)
        return true;
    if ((str_hash(nodes) | 1) == p->told_nodes && now_ms - p->told_ms < REASON_AGAIN_MS) {
        reasons_later(p->b, REASON_AGAIN_MS);
        return false;
    }
    p->told_nodes = str_hash(nodes) | 1;
    p->told_ms = now_ms;
    free(p->why);
    p->why = mem_or_abort(strndup(why.p, why.n));
    pod_queue(p);
    return true;
}

static bool is_of_unit(const struct sched_verdict *v, const struct sched_verdict *first)
{
    return first->together && !v->node && v->of->pod->gang == first->of->pod->gang;
}

static str members_text(const struct telling *t, const struct group *g, str why, str sentence)
{
    str first = sentence.n ? str_sub(why, 0, why.n - sentence.n - S(" In short: .").n) : why;
    bool is_plain = str_eqz(first, GROUP_NOT_IN);

    return arena_printf(t->a,
                        "0/%zu nodes are available: podgroup %" PRI_STR "/%" PRI_STR
                        " is not let in%s%" PRI_STR,
                        t->c->in.n_nodes, STR_ARG(g->g.g.ns), STR_ARG(g->g.g.name),
                        is_plain ? "" : ": ", STR_ARG(is_plain ? S(".") : first));
}

/* What keeps the group out keeps its pods out. */
static void refuse_members(const struct telling *t, const struct sched_verdict *v, size_t n)
{
    struct group *g = group_of(pod_at(t, v)->of);
    str why = str_of(g->why ? g->why : ""), rest = waiting_sentence(why), first = STR_NONE;
    uint64_t hash = str_hash(why) | 1;

    for (size_t i = 0; i < n && why.n; i++) {
        struct pod *p = pod_at(t, &v[i]);
        if (p->told_group == hash)
            continue;
        if (!first.n)
            first = members_text(t, g, why, rest);
        p->told_group = refuse_pod(p, first, rest) ? hash : 0;
    }
}

/* The group is in, but not all that start together fit. */
static void refuse_group(const struct telling *t, struct pod *p, const struct sched_verdict *v,
                         size_t n, str sentence)
{
    struct group *g = p->of ? group_of(p->of) : NULL;

    if (!g || !g->let_in || g->phase == PHASE_RUNNING || g->phase == PHASE_UNKNOWN ||
        phase_is_over(g->phase))
        return; /* of one that broke it is told how many it lacks */
    str why = arena_printf(t->a, "%zu/%lld tasks in gang unschedulable: %" PRI_STR, n,
                           (long long)group_pods_total(&g->pods), STR_ARG(v->why));
    const char *reason = v->early   ? "NotEnoughTasks"
                         : v->never ? "ExceedsCapacity"
                                    : "NotEnoughResources";
    if (!group_is_said(g, reason, why))
        group_say(g, reason, why, waiting_message(t->a, why, sentence));
}

void reasons_tell(struct binder *b, struct arena *a, struct collected *c)
{
    struct telling t = { .b = b, .a = a, .c = c };
    size_t n;

    for (size_t i = 0; i < c->in.n_waiting; i += n) {
        const struct sched_verdict *v = &c->verdicts[i];
        n = 1;
        if (v->node)
            continue;
        while (i + n < c->in.n_waiting && is_of_unit(&v[n], v))
            n++;
        struct gang *of = pod_at(&t, v)->of;
        if (of && !group_of(of)->let_in) {
            refuse_members(&t, v, n);
            continue;
        }
        if (!v->why.n || is_early(b, pod_at(&t, v), v) || is_early_group(b, pod_at(&t, v)))
            continue;
        str sentence = v->early ? STR_NONE : sentence_of(&t, v, n);
        refuse_group(&t, pod_at(&t, v), v, n, sentence);
        for (size_t k = 0; k < n; k++)
            refuse_pod(pod_at(&t, &v[k]), v->why, sentence);
    }
}

/* ---- saying it */

static void on_told(struct binder *b, str key, const struct kube_answer *ans)
{
    struct pod *p = map_get(&b->pods.items, key);
    jv c = meta_condition(ans->obj, S("PodScheduled"));
    str message = jv_str(jv_at(c, "message"), S(""));

    if (!p)
        return;
    p->busy = false;
    if (ans->err.code == ERR_OK) {
        p->told = str_hash(message) | 1;
        p->was_false = true;
        pod_tell(p, true, "FailedScheduling", message);
    } else if (ans->err.code != ERR_NOT_FOUND && ans->err.code != ERR_CONFLICT) {
        log_warn("cannot write the reason why a pod waits, retrying", KV("pod", key),
                 KVZ("error", ans->err.msg));
        p->told_nodes = p->told_group = 0;
        binder_retry(b);
    }
    pod_queue(p); /* it may have another reason by now, or a node */
}

void reason_send(struct binder *b, struct pod *p)
{
    AUTO(arena) struct arena *a = arena_new();
    jv c = jobj(
        a, { "type", jstrz(a, "PodScheduled") }, { "status", jstrz(a, "False") },
        { "reason", jstrz(a, "Unschedulable") },
        { "message", jstr(a, arena_str(a, str_of(p->why))) }, { "lastProbeTime", JV_NULL_V },
        { "lastTransitionTime", p->was_false ? JV_ABSENT : jstr(a, time_text(a, b->o.wall_ms())) });
    struct kube_request r = {
        .verb = KUBE_PATCH,
        .res = &kube_pods,
        .ns = p->p.ns,
        .name = p->p.name,
        .sub = S("status"),
        .patch = KUBE_PATCH_STRATEGIC,
        .body = jobj(a, { "metadata", jobj(a, { "uid", jstr(a, p->p.uid) }) },
                     { "status", jobj(a, { "conditions", jarr(a, c) }) }),
    };

    free(p->why);
    p->why = NULL;
    p->busy = true;
    send_write(b, &r, on_told, str_of(p->h.key));
}
