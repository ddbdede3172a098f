/* Pods and nodes as they come in: who waits, who has a node, and what of it matters to whom. */

#include "binder/groups.h"

void pod_queue(struct pod *p)
{
    struct binder *b = p->b;

    if (p->queued)
        return;
    p->queued = true;
    p->next = NULL;
    *(b->last ? &b->last->next : &b->first) = p;
    b->last = p;
}

static void unqueue(struct pod *p)
{
    struct binder *b = p->b;
    struct pod **at = &b->first, *before = NULL;

    if (!p->queued)
        return;
    for (; *at != p; at = &(*at)->next)
        before = *at;
    *at = p->next;
    if (b->last == p)
        b->last = before;
    p->queued = false;
}

static void set_state(struct pod *p, enum pod_state state)
{
    struct binder *b = p->b;

    b->n_waiting += (state == POD_WAITS) - (p->state == POD_WAITS);
    p->state = state;
    if (state == POD_WAITS)
        b->place_due = p->fresh = true;
    if (state != POD_WAITS) {
        free(p->why);
        p->why = NULL;
    }
    if (state != POD_PLACED && state != POD_BINDING) {
        if (p->starts)
            b->place_due = true; /* the others of its gang are looked at now */
        p->starts = false;
        batch_leave(p);
        free(p->node);
        p->node = NULL;
    }
}

void pod_unplace(struct pod *p)
{
    set_state(p, POD_WAITS);
}

bool pod_uses(const struct pod *p, str ns, str claim)
{
    if (!str_eq(p->p.ns, ns))
        return false;
    for (size_t i = 0; i < p->p.n_claims; i++)
        if (str_eq(p->p.claims[i], claim))
            return true;
    return false;
}

/* ---- what is kept */

static bool is_ours(const struct binder *b, str scheduler)
{
    return scheduler_is_ours(scheduler) || (b->o.scheduler.n && str_eq(scheduler, b->o.scheduler));
}

static bool can_wait(jv pod)
{
    return !meta_being_deleted(pod) && !jv_len(jv_at(pod, "spec", "schedulingGates"));
}

/* Members of gangs that succeeded still count, and of PodGroups those that failed. */
static jv ended_slim(struct arena *a, jv pod)
{
    bool succeeded = str_eqz(jv_str(jv_at(pod, "status", "phase"), S("")), "Succeeded");
    jv group = group_of_pod_slim(a, pod);

    if (jv_exists(group)) {
        jv kept = jv_without(a, sched_pod_slim(a, pod), "spec", "volumes");
        kept = jv_with(a, jv_with(a, kept, group, "group"), JV_TRUE, "ended");
        kept = jv_with(a, kept, jbool(meta_being_deleted(pod)), "going");
        return succeeded ? jv_with(a, kept, JV_TRUE, "done") : kept;
    }
    if (!succeeded || !jv_exists(meta_controller(pod)) || !gang_member_name(a, pod).n)
        return JV_ABSENT;
    return jobj(a, { "metadata", meta_of(sched_pod_slim(a, pod)) }, { "done", JV_TRUE });
}

static jv pod_slim(struct arena *a, jv pod)
{
    if (sched_pod_has_ended(pod))
        return ended_slim(a, pod);
    jv slim = jv_with(a, sched_pod_slim(a, pod), jbool(can_wait(pod)), "canWait");
    jv group = group_of_pod_slim(a, pod);
    if (jv_exists(group))
        slim = jv_with(a, slim, group, "group");
    if (meta_being_deleted(pod))
        slim = jv_with(a, slim, JV_TRUE, "going");
    return jv_with(a, slim, jstr(a, jv_str(jv_at(pod, "spec", "schedulerName"), S(""))),
                   "scheduler");
}

static void read_condition(struct pod *p, jv obj)
{
    jv c = meta_condition(obj, S("PodScheduled"));
    str message = jv_str(jv_at(c, "message"), S(""));
    bool is_told = str_eqz(jv_str(jv_at(c, "reason"), S("")), "Unschedulable");

    p->was_false = str_eqz(jv_str(jv_at(c, "status"), S("")), "False");
    p->told = p->was_false && is_told ? str_hash(message) | 1 : 0;
}

static void read_group(struct pod *p)
{
    jv group = jv_get(p->h.obj, S("group"));

    p->form = jv_int(jv_get(group, S("form")), GROUP_NONE) & 3;
    if (!group_form_is_on(p->b, p->form))
        p->form = GROUP_NONE; /* stored when they were */
    p->group = jv_str(jv_get(group, S("name")), STR_NONE);
    p->role = jv_str(jv_get(group, S("role")), STR_NONE);
    p->is_running = str_eqz(jv_str(jv_get(group, S("phase")), S("")), "Running");
    p->going = jv_bool(jv_get(p->h.obj, S("going")), false);
    p->p.ending = p->going || p->evicted;
    p->ended = jv_bool(jv_get(p->h.obj, S("ended")), false);
    if (p->form) {
        p->member = p->p.name;
        p->b->groups_due = true;
    }
}

static void pod_changed(struct shelf *s, struct held *h, jv obj, bool is_new)
{
    struct pod *p = (struct pod *)h;
    struct binder *b = s->b;

    p->b = b;
    if (is_new)
        p->seq = b->seq++;
    bool was_bound = p->state == POD_BOUND;
    p->p = sched_pod_read(h->a, h->obj);
    if (is_new)
        p->came_placed = p->p.node.n && informer_is_listed(s->inf);
    p->member = gang_member_name(h->a, h->obj);
    p->done = jv_bool(jv_at(h->obj, "done"), false);
    read_group(p);
    read_condition(p, obj);
    if (p->ended && !p->done && was_bound && !p->evicted)
        gang_lost(p);
    if ((p->done || p->ended) && was_bound)
        b->place_due = b->place_all = true;
    if (p->p.n_claims)
        b->volumes_due = true;
    if (p->p.node.n && !p->ended)
        set_state(p, POD_BOUND);
    else if (b->o.no_placing || !jv_bool(jv_at(h->obj, "canWait"), false) ||
             !is_ours(b, jv_str(jv_at(h->obj, "scheduler"), S(""))))
        set_state(p, POD_APART);
    else if (p->state == POD_APART || p->state == POD_WAITS)
        set_state(p, POD_WAITS);
    binder_work(b);
}

static void pod_gone(struct shelf *s, struct held *h)
{
    struct pod *p = (struct pod *)h;

    unqueue(p);
    if (p->state == POD_BOUND && !p->evicted)
        gang_lost(p);
    if (p->form)
        s->b->groups_due = true;
    s->b->place_due = s->b->place_all = true; /* there is room, or a claim is free */
    if (p->p.n_claims)
        s->b->volumes_due = true;
    set_state(p, POD_APART);
    event_budget_done(&p->budget);
    binder_work(s->b);
}

const struct shelf_ops pod_shelf = { &kube_pods, sizeof(struct pod), pod_slim, pod_changed,
                                     pod_gone };

/* ---- nodes */

static jv node_slim(struct arena *a, jv node)
{
    jv n = sched_node_slim(a, node);

    /* a node's age is not looked at, and its version changes with each heartbeat */
    return jv_without(a, n, "metadata", "creationTimestamp");
}

static void node_changed(struct shelf *s, struct held *h, jv obj, bool is_new)
{
    (void)h;
    (void)obj;
    (void)is_new;
    s->b->place_due = s->b->place_all = s->b->volumes_due = true;
    binder_work(s->b);
}

static void place_anew(struct shelf *s, struct held *h)
{
    (void)h;
    s->b->place_due = s->b->place_all = true;
    binder_work(s->b);
}

const struct shelf_ops node_shelf = { &kube_nodes, sizeof(struct held), node_slim, node_changed,
                                      place_anew };

/* ---- namespaces */

static jv namespace_slim(struct arena *a, jv ns)
{
    jv meta = jobj(a, { "name", jstr(a, meta_name(ns)) }, { "uid", jstr(a, meta_uid(ns)) },
                   { "labels", meta_labels(ns) });

    return jobj(a, { "metadata", meta });
}

static void namespace_changed(struct shelf *s, struct held *h, jv obj, bool is_new)
{
    (void)obj;
    (void)is_new;
    place_anew(s, h);
}

const struct shelf_ops namespace_shelf = { &kube_namespaces, sizeof(struct held), namespace_slim,
                                           namespace_changed, place_anew };
