/* Pods that make way for more important ones: told so, then deleted. The decision knows that they
 * are going, so nobody is sent away twice, and nobody else gets their room. */

#include "binder/groups.h"

#include "base/mem.h"
#include "base/time.h"
#include "loop/log.h"

#include <stdlib.h>

struct eviction {
    struct eviction *next;
    struct arena *a; /* holds what is kept of the pod */
    str ns, name, uid, node;
    const char *key, *for_whom;
    bool told, busy;
    int64_t retry_ms; /* monotonic; not before */
};

static struct pod *pod_of(const struct binder *b, const struct eviction *v)
{
    struct pod *p = map_get(&b->pods.items, str_of(v->key));

    return p && str_eq(p->p.uid, v->uid) ? p : NULL;
}

static void drop(struct binder *b, struct eviction *v)
{
    struct eviction **at = &b->evictions;

    while (*at != v)
        at = &(*at)->next;
    *at = v->next;
    arena_free(v->a);
    free(v);
}

static struct eviction *find(const struct binder *b, str uid)
{
    struct eviction *v = b->evictions;

    while (v && !str_eq(uid, v->uid))
        v = v->next;
    return v;
}

/* ---- requests */

static void failed(struct binder *b, struct eviction *v, const struct kube_answer *ans)
{
    if (ans->err.code == ERR_NOT_FOUND || ans->err.code == ERR_CONFLICT) {
        drop(b, v); /* it is gone, as the pods' watch says */
        return;
    }
    log_warn("cannot evict pod, retrying", KVZ("pod", v->key), KVZ("error", ans->err.msg));
    v->retry_ms = binder_rest(b);
}

static void on_deleted(struct binder *b, str uid, const struct kube_answer *ans)
{
    struct eviction *v = find(b, uid);

    if (!v)
        return;
    v->busy = false;
    if (ans->err.code == ERR_OK)
        drop(b, v);
    else
        failed(b, v, ans);
}

/* Once it is deleted it may be gone before that is answered. */
static void tell_why(struct binder *b, const struct eviction *v)
{
    AUTO(arena) struct arena *a = arena_new();
    struct pod *p = pod_of(b, v);

    if (p)
        pod_tell(
            p, false, "Preempted",
            arena_printf(a, "Preempted by %s on node %" PRI_STR, v->for_whom, STR_ARG(v->node)));
}

static void on_told(struct binder *b, str uid, const struct kube_answer *ans)
{
    struct eviction *v = find(b, uid);

    if (!v)
        return;
    v->busy = false;
    if (ans->err.code != ERR_OK) {
        failed(b, v, ans);
        return;
    }
    v->told = true;
    tell_why(b, v);
}

static jv disruption(struct binder *b, struct arena *a, const struct eviction *v)
{
    jv c = jobj(a, { "type", jstrz(a, "DisruptionTarget") }, { "status", jstrz(a, "True") },
                { "reason", jstrz(a, "PreemptionByScheduler") },
                { "message",
                  jstrz(a, "default-scheduler: preempting to accommodate a higher priority pod") },
                { "lastTransitionTime", jstr(a, time_text(a, b->o.wall_ms())) });

    return jobj(a, { "metadata", jobj(a, { "uid", jstr(a, v->uid) }) },
                { "status", jobj(a, { "conditions", jarr(a, c) }) });
}

static jv deletion(struct arena *a, const struct eviction *v)
{
    return jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "DeleteOptions") },
                { "preconditions", jobj(a, { "uid", jstr(a, v->uid) }) });
}

static void next_step(struct binder *b, struct eviction *v)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r = {
        .verb = KUBE_DELETE, .res = &kube_pods, .ns = v->ns, .name = v->name
    };

    if (!v->told) {
        r.verb = KUBE_PATCH;
        r.sub = S("status");
        r.patch = KUBE_PATCH_STRATEGIC;
        r.body = disruption(b, a, v);
    } else {
        r.body = deletion(a, v);
    }
    v->busy = true;
    send_write(b, &r, v->told ? on_deleted : on_told, v->uid);
}

/* It has made way by itself, and keeps its result. */
static bool has_ended(struct binder *b, struct eviction *v)
{
    struct pod *p = pod_of(b, v);

    if (p && !p->ended && !p->done)
        return false;
    if (p) {
        p->evicted = false;
        p->p.ending = p->going;
        b->groups_due = true; /* it counts as what it is */
        binder_work(b);
    }
    drop(b, v);
    return true;
}

void evictions_send(struct binder *b)
{
    for (struct eviction *v = b->evictions, *next; v && b->n_sent < SENT_MAX; v = next) {
        next = v->next;
        if (!v->busy && !has_ended(b, v) && !binder_is_resting(b, v->retry_ms))
            next_step(b, v);
    }
}

/* ---- passes */

void evictions_begin(struct binder *b, const struct sched_decision *d)
{
    for (size_t i = 0; i < d->n_victims; i++) {
        const struct sched_pod *of = d->victims[i].pod;
        struct pod *p = (struct pod *)shelf_find(&b->pods, of->ns, of->name);
        if (!p || p->evicted || p->ended || !str_eq(p->p.uid, of->uid))
            continue;
        struct eviction *v = mem_new(sizeof(*v));
        struct gang *g = gang_of_pod(p);
        v->a = arena_new();
        v->ns = arena_str(v->a, p->p.ns);
        v->name = arena_str(v->a, p->p.name);
        v->uid = arena_str(v->a, p->p.uid);
        v->node = arena_str(v->a, of->node);
        v->key = arena_str(v->a, str_of(p->h.key)).p;
        v->for_whom = arena_str(v->a, d->victims[i].makes_way_for).p;
        v->next = b->evictions;
        b->evictions = v;
        p->evicted = p->p.ending = true;
        b->groups_due = b->place_due = true;
        if (g && d->victims[i].whole)
            gang_drop_reserves(g);
    }
}

void evictions_done(struct binder *b)
{
    while (b->evictions)
        drop(b, b->evictions);
}
