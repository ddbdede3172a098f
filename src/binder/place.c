/* A pass of the scheduler, and what comes of it: a pod gets its node once its claims have their
 * volumes, others are told why not. Nothing is written that is written already. */

#include "binder/groups.h"

#include "base/mem.h"

#include <stdlib.h>

/* ---- what the claims of a pod say */

/* Only that node. */
static jv on_node(struct arena *a, str node)
{
    jv field = jobj(a, { "key", jstrz(a, "metadata.name") }, { "operator", jstrz(a, "In") },
                    { "values", jarr(a, jstr(a, node)) });

    return jobj(a, { "nodeSelectorTerms", jarr(a, jobj(a, { "matchFields", jarr(a, field) })) });
}

static void ask_claim(struct binder *b, struct arena *a, const struct pod *p, str name,
                      struct sched_waiting *w, jv *reach)
{
    struct held *claim = shelf_find(&b->claims, p->p.ns, name);
    const char *bad = !claim                           ? "not found"
                      : meta_being_deleted(claim->obj) ? "is being deleted"
                                                       : NULL;

    if (bad) {
        w->refused =
            arena_printf(a, "persistentvolumeclaim \"%" PRI_STR "\" %s", STR_ARG(name), bad);
        return;
    }
    struct claim_seen seen = claim_seen_of(b, a, claim->obj);
    jv where = jv_at(seen.volume, "spec", "nodeAffinity", "required");
    str node = jv_str(jv_get(meta_annotations(claim->obj), S(ANNOTATION_NODE)), S(""));
    if (claim_is_bound(claim->obj)) {
        if (!jv_is_null(where))
            reach[w->n_volumes++] = where;
    } else if (node.n && shelf_find(&b->nodes, STR_NONE, node)) {
        reach[w->n_volumes++] = on_node(a, node);
    } else if (!claim_waits_for_consumer(&seen)) {
        w->refused = S("pod has unbound immediate PersistentVolumeClaims");
    }
}

/* One more pod takes room and makes none, so those that had none before need not be asked again,
 * unless it is company that they wait for. */
static bool is_asked(const struct binder *b, const struct pod *p)
{
    return p->fresh || b->place_all || (b->place_released && !p->never) || jv_len(p->p.spread) ||
           jv_exists(jv_at(p->p.affinity, "podAffinity"));
}

static struct sched_waiting waiting_of(struct binder *b, struct arena *a, const struct pod *p)
{
    struct sched_waiting w = { .pod = &p->p, .seq = p->seq };
    jv *reach = ARENA_ARRAY(a, jv, p->p.n_claims + 1);

    w.unchanged = !is_asked(b, p);
    w.never = p->never;
    if (p->p.claims_devices)
        w.refused = S("pod claims devices (spec.resourceClaims), which this scheduler does not "
                      "allocate");
    if (p->form)
        w.refused = group_refuses(a, p);
    for (size_t i = 0; i < p->p.n_claims && !w.refused.n; i++)
        ask_claim(b, a, p, p->p.claims[i], &w, reach);
    w.volumes = reach;
    return w;
}

/* ---- the pass */

static jv namespaces_of(struct binder *b, struct arena *a)
{
    struct jbuild all = jb_obj(a);

    MAP_EACH (slot, &b->namespaces.items) {
        const struct held *h = slot->value;
        jb_add(&all, meta_name(h->obj), meta_labels(h->obj));
    }
    return jb_done(&all);
}

static void collect(struct binder *b, struct arena *a, struct collected *c)
{

    const struct sched_node **nodes =
        ARENA_ARRAY(a, const struct sched_node *, b->nodes.items.n + 1);
    const struct sched_pod **bound =
        ARENA_ARRAY(a, const struct sched_pod *, b->pods.items.n + b->nodes.items.n + 1);
    struct sched_waiting *waiting = ARENA_ARRAY(a, struct sched_waiting, b->n_waiting + 1);

    c->in = (struct sched_input){ .nodes = nodes, .bound = bound, .waiting = waiting };
    c->pods = ARENA_ARRAY(a, struct pod *, b->n_waiting + 1);
    MAP_EACH (slot, &b->nodes.items) {
        struct held *h = slot->value;
        struct sched_node *n = ARENA_NEW(a, struct sched_node);
        *n = sched_node_read(a, h->obj);
        nodes[c->in.n_nodes++] = n;
        if (n->others)
            bound[c->in.n_bound++] = n->others;
    }
    c->in.namespaces = namespaces_of(b, a);
    c->in.preempts = b->o.preempts;
    gangs_mark_starting(b);
    MAP_EACH (slot, &b->pods.items) {
        struct pod *p = slot->value;
        bool is_known = gang_join(p);
        if (p->state == POD_WAITS) {
            if (!is_known)
                continue;
            c->pods[c->in.n_waiting] = p;
            waiting[c->in.n_waiting++] = waiting_of(b, a, p);
            p->fresh = false;
        } else if (p->state == POD_BOUND) {
            bound[c->in.n_bound++] = &p->p;
        } else if (p->node) {
            struct sched_pod *taken = ARENA_NEW(a, struct sched_pod);
            *taken = p->p;
            taken->node = str_of(p->node);
            bound[c->in.n_bound++] = taken;
        }
    }
}

static void place(struct pod *p, const struct sched_verdict *v)
{
    free(p->why);
    p->why = NULL;
    p->node = mem_or_abort(strndup(v->node->name.p, v->node->name.n));
    p->state = POD_PLACED;
    p->b->n_waiting--;
    gang_started(p);
    pod_queue(p);
}

static void note_never(const struct collected *c)
{
    for (size_t i = 0; i < c->in.n_waiting; i++) {
        const struct sched_verdict *v = &c->verdicts[i];
        struct pod *p = c->pods[v->of - c->in.waiting];
        p->never = v->never;
        if (p->of && v->never)
            group_of(p->of)->is_void = true;
    }
}

void place_pass(struct binder *b)
{
    AUTO(arena) struct arena *a = arena_new();
    struct collected c = { 0 };
    struct batch *batch = NULL;
    const struct sched_gang *of = NULL;

    b->place_due = false;
    if (!b->n_waiting && !b->gangs_due && !b->groups_due && !b->n_groups_out)
        return;
    groups_count(b, a);
    collect(b, a, &c);
    gang_collect(b, a);
    groups_collect(b, a, &c.in);
    gang_reserves(b, a, &c.in);
    b->place_all = b->place_released = false;
    if (!b->n_waiting && !b->n_groups_out)
        return;
    b->guard.now_ms = loop_now_ms(b->loop);
    c.in.guard = &b->guard;
    struct sched_decision d = sched_decide(a, &c.in);
    c.verdicts = d.pods;
    c.groups = d.groups;
    c.n_groups = d.n_groups;
    note_never(&c);
    groups_decided(b, a, &c);
    for (size_t i = 0; i < c.in.n_waiting; i++) {
        const struct sched_verdict *v = &c.verdicts[i];
        struct pod *p = c.pods[v->of - c.in.waiting];
        if (!v->node)
            continue;
        place(p, v);
        if (v->of->pod->gang != of)
            batch = NULL;
        of = v->of->pod->gang;
        if (v->whole)
            batch_add(&batch, p);
    }
    evictions_begin(b, &d);
    gang_reserves(b, a, &c.in);
    reasons_tell(b, a, &c);
    if (b->guard.released) {
        b->place_due = b->place_released = true;
        binder_work(b);
    }
}

/* ---- carrying it out */

/* Pods that were placed for it are looked at again. */
static void unplace_users(struct binder *b, jv claim)
{
    MAP_EACH (slot, &b->pods.items) {
        struct pod *p = slot->value;
        if (p->state == POD_PLACED && pod_uses(p, meta_namespace(claim), meta_name(claim)))
            pod_unplace(p);
    }
}

static void on_chosen(struct binder *b, str key, const struct kube_answer *ans)
{
    struct thing *claim = map_get(&b->claims.items, key);

    if (!claim)
        return;
    claim->choosing = false;
    if (ans->err.code == ERR_OK) {
        claim_wake_pods(b, claim->h.obj);
        return;
    }
    unplace_users(b, claim->h.obj);
    if (ans->err.code != ERR_CONFLICT) {
        b->place_due = false;
        binder_retry(b);
    }
}

/* The claim is to be where the pod is; it follows when there is a volume. */
static void send_choice(struct binder *b, struct arena *a, const struct pod *p, struct thing *claim)
{
    jv notes = jobj(a, { ANNOTATION_NODE, jstr(a, str_of(p->node)) });
    jv obj = claim->h.obj;
    struct kube_request r = {
        .verb = KUBE_PATCH,
        .res = &kube_claims,
        .ns = p->p.ns,
        .name = meta_name(obj),
        .patch = KUBE_PATCH_MERGE,
        .body = jobj(
            a, { "metadata", jobj(a, { "annotations", notes }, { "uid", jstr(a, meta_uid(obj)) },
                                  { "resourceVersion", jstr(a, meta_resource_version(obj)) }) }),
    };

    claim->choosing = true;
    send_write(b, &r, on_chosen, str_of(claim->h.key));
}

/* Whether all its claims have volumes. Those that nobody has said a node for are given the pod's;
 * it is looked at again when they change. */
static bool claims_are_ready(struct binder *b, struct arena *a, struct pod *p)
{
    bool ready = true;

    for (size_t i = 0; i < p->p.n_claims; i++) {
        struct thing *claim = (struct thing *)shelf_find(&b->claims, p->p.ns, p->p.claims[i]);
        if (!claim) {
            pod_unplace(p);
            return false;
        }
        if (claim_is_bound(claim->h.obj))
            continue;
        ready = false;
        str node = jv_str(jv_get(meta_annotations(claim->h.obj), S(ANNOTATION_NODE)), S(""));
        if (claim->choosing || str_eqz(node, p->node))
            continue;
        if (node.n && shelf_find(&b->nodes, STR_NONE, node)) {
            pod_unplace(p); /* another pod was first */
            return false;
        }
        send_choice(b, a, p, claim);
    }
    return ready;
}

void place_send(struct binder *b)
{
    while (b->first && b->n_sent < SENT_MAX) {
        AUTO(arena) struct arena *a = arena_new();
        struct pod *p = b->first;
        b->first = p->next;
        if (!b->first)
            b->last = NULL;
        p->queued = false;
        if (p->busy)
            continue; /* its answer looks again */
        if (p->state == POD_PLACED && claims_are_ready(b, a, p))
            batch_ready(b, p);
        else if (p->state == POD_WAITS && p->why)
            reason_send(b, p);
    }
}
