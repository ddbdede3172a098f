/* Pods that make way for more important ones. What they have is nobody's until all of them are
 * gone: else others would take the first of it, and more pods would have to go. */

#include "binder/groups.h"

#include "base/mem.h"
#include "base/time.h"
#include "loop/log.h"

#include <stdlib.h>

enum stage { DUE, TOLD, DELETED };

struct eviction {
    struct eviction *next;
    struct arena *a; /* holds what is kept of the pod */
    struct sched_pod pod;
    const char *key;
    const char *for_whom;
    enum stage stage;
    bool busy;
};

static struct pod *pod_of(const struct binder *b, const struct eviction *v)
{
    struct pod *p = map_get(&b->pods.items, str_of(v->key));

    return p && str_eq(p->p.uid, v->pod.uid) && !p->ended ? p : NULL;
}

static struct eviction *find(const struct binder *b, str key)
{
    struct eviction *v = b->evictions;

    while (v && !str_eqz(key, v->key))
        v = v->next;
    return v;
}

static void clear(struct binder *b)
{
    while (b->evictions) {
        struct eviction *v = b->evictions;
        b->evictions = v->next;
        arena_free(v->a);
        free(v);
    }
}

/* ---- requests */

static void failed(struct binder *b, struct eviction *v, const struct kube_answer *ans)
{
    if (ans->err.code == ERR_NOT_FOUND || ans->err.code == ERR_CONFLICT) {
        v->stage = DELETED; /* the pods' watch says so */
        return;
    }
    log_warn("cannot evict pod, retrying", KVZ("pod", v->key), KVZ("error", ans->err.msg));
    binder_retry(b);
}

static void on_deleted(struct binder *b, str key, const struct kube_answer *ans)
{
    AUTO(arena) struct arena *a = arena_new();
    struct eviction *v = find(b, key);
    struct pod *p = v ? pod_of(b, v) : NULL;

    if (!v)
        return;
    v->busy = false;
    if (ans->err.code != ERR_OK) {
        failed(b, v, ans);
        return;
    }
    v->stage = DELETED;
    if (p)
        pod_tell(p, false, "Preempted",
                 arena_printf(a, "Preempted by %s on node %" PRI_STR, v->for_whom,
                              STR_ARG(v->pod.node)));
}

static void on_told(struct binder *b, str key, const struct kube_answer *ans)
{
    struct eviction *v = find(b, key);

    if (!v)
        return;
    v->busy = false;
    if (ans->err.code == ERR_OK)
        v->stage = TOLD;
    else
        failed(b, v, ans);
}

static jv disruption(struct binder *b, struct arena *a, const struct eviction *v)
{
    jv c = jobj(a, { "type", jstrz(a, "DisruptionTarget") }, { "status", jstrz(a, "True") },
                { "reason", jstrz(a, "PreemptionByScheduler") },
                { "message",
                  jstrz(a, "default-scheduler: preempting to accommodate a higher priority pod") },
                { "lastTransitionTime", jstr(a, time_text(a, b->o.wall_ms())) });

    return jobj(a, { "metadata", jobj(a, { "uid", jstr(a, v->pod.uid) }) },
                { "status", jobj(a, { "conditions", jarr(a, c) }) });
}

static jv deletion(struct arena *a, const struct eviction *v)
{
    return jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "DeleteOptions") },
                { "preconditions", jobj(a, { "uid", jstr(a, v->pod.uid) }) });
}

static void next_step(struct binder *b, struct eviction *v)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r = { .verb = KUBE_DELETE,
                              .res = &kube_pods,
                              .ns = v->pod.ns,
                              .name = v->pod.name };

    if (v->stage == DUE) {
        r.verb = KUBE_PATCH;
        r.sub = S("status");
        r.patch = KUBE_PATCH_STRATEGIC;
        r.body = disruption(b, a, v);
    } else {
        r.body = deletion(a, v);
    }
    v->busy = true;
    send_write(b, &r, v->stage == DUE ? on_told : on_deleted, str_of(v->key));
}

void evictions_send(struct binder *b)
{
    for (struct eviction *v = b->evictions; v && b->n_sent < SENT_MAX; v = v->next)
        if (!v->busy && v->stage != DELETED && !b->retry)
            next_step(b, v);
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
        v->pod = sched_pod_read(v->a, jv_copy(v->a, p->h.obj));
        v->pod.node = arena_str(v->a, of->node);
        v->key = arena_str(v->a, str_of(p->h.key)).p;
        v->for_whom = arena_str(v->a, d->victims[i].makes_way_for).p;
        v->next = b->evictions;
        b->evictions = v;
        p->evicted = true;
        if (g)
            gang_drop_reserves(g);
    }
}

size_t evictions_count(struct binder *b)
{
    size_t n = 0;
    bool all_gone = true;

    for (struct eviction *v = b->evictions; v; v = v->next) {
        n++;
        all_gone = all_gone && !v->busy && !pod_of(b, v);
    }
    if (!all_gone)
        return n;
    clear(b);
    return 0;
}

void evictions_collect(struct binder *b, struct sched_input *in, const struct sched_pod **bound)
{
    in->preempts = b->o.preempts && !b->evictions;
    for (const struct eviction *v = b->evictions; v; v = v->next)
        if (!pod_of(b, v))
            bound[in->n_bound++] = &v->pod;
}

void evictions_done(struct binder *b)
{
    clear(b);
}
