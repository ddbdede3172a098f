/* Queues, and PriorityClasses: what they say of the groups that name them. */

#include "binder/groups.h"

#include "loop/log.h"
#include "sched/why.h"

static const struct kube_resource queues = { "scheduling.volcano.sh", "v1beta1", "queues", "Queue",
                                             true };

/* ---- queues as they come in */

static jv queue_slim(struct arena *a, jv obj)
{
    jv meta = jobj(a, { "name", jv_at(obj, "metadata", "name") },
                   { "uid", jv_at(obj, "metadata", "uid") });
    jv spec = jv_get(obj, S("spec"));

    return jobj(a, { "metadata", meta }, { "weight", jv_get(spec, S("weight")) },
                { "capability", jv_get(spec, S("capability")) },
                { "strategy", jv_get(spec, S("dequeueStrategy")) },
                { "status", jv_get(obj, S("status")) });
}

static bool is_state(const struct queue *q, const char *state)
{
    return str_eqz(jv_str(jv_at(q->h.obj, "status", "state"), S("")), state);
}

static void queue_changed(struct shelf *s, struct held *h, jv obj, bool is_new)
{
    struct queue *q = (struct queue *)h;
    int64_t weight = jv_int(jv_get(h->obj, S("weight")), 1);

    (void)obj;
    (void)is_new;
    q->b = s->b;
    q->written = 0;
    q->closed = is_state(q, "Closed") || is_state(q, "Closing");
    q->q = (struct sched_queue){
        .name = meta_name(h->obj),
        .weight = weight > 0 ? weight : 1,
        .capability = amounts_of_list(h->a, jv_get(h->obj, S("capability"))),
        .closed = q->closed,
        .strict = str_eqz(jv_str(jv_get(h->obj, S("strategy")), S("")), "fifo"),
    };
    s->b->groups_due = s->b->place_all = true;
    binder_work(s->b);
}

static void look_again(struct shelf *s, struct held *h)
{
    (void)h;
    s->b->groups_due = s->b->place_all = true;
    binder_work(s->b);
}

const struct shelf_ops queue_shelf = { &queues, sizeof(struct queue), queue_slim, queue_changed,
                                       look_again };

/* ---- priorities */

static jv priority_slim(struct arena *a, jv obj)
{
    jv meta = jobj(a, { "name", jv_at(obj, "metadata", "name") },
                   { "uid", jv_at(obj, "metadata", "uid") });

    return jobj(a, { "metadata", meta }, { "value", jv_get(obj, S("value")) },
                { "policy", jv_get(obj, S("preemptionPolicy")) });
}

static void priority_changed(struct shelf *s, struct held *h, jv obj, bool is_new)
{
    (void)obj;
    (void)is_new;
    look_again(s, h);
}

const struct shelf_ops priority_shelf = { &kube_priority_classes, sizeof(struct held),
                                          priority_slim, priority_changed, look_again };

/* ---- status */

struct use {
    struct arena *a;
    struct sched_amount *at;
    size_t n, cap;
};

static void use_add(struct use *u, str name, int64_t n)
{
    enum { FEW = 8 };
    size_t i = 0;

    while (i < u->n && !str_eq(u->at[i].name, name))
        i++;
    if (i == u->cap) {
        struct sched_amount *more = ARENA_ARRAY(u->a, struct sched_amount, u->cap + FEW);
        if (u->n)
            memcpy(more, u->at, u->n * sizeof(*more));
        u->at = more;
        u->cap += FEW;
    }
    if (i == u->n)
        u->at[u->n++] = (struct sched_amount){ name, 0 };
    u->at[i].n += n;
}

static jv allocated(struct arena *a, const struct queue *q)
{
    struct use u = { .a = a };
    struct jbuild b = jb_obj(a);

    use_add(&u, S("cpu"), 0);
    use_add(&u, S("memory"), 0);
    MAP_EACH (slot, &q->b->pods.items) {
        const struct pod *p = slot->value;
        struct gang *g = p->state == POD_BOUND ? p->of : NULL;
        if (!g || group_of(g)->form != GROUP_VOLCANO || !str_eq(group_of(g)->queue, q->q.name))
            continue;
        for (size_t i = 0; i < p->p.need.n; i++)
            use_add(&u, p->p.need.at[i].name, p->p.need.at[i].n);
    }
    for (size_t i = 0; i < u.n; i++)
        jb_add(&b, u.at[i].name, jstr(a, amount_text(a, u.at[i].name, u.at[i].n)));
    return jb_done(&b);
}

static bool has_groups_in(const struct queue *q)
{
    MAP_EACH (slot, &q->b->groups[GROUP_VOLCANO].items) {
        const struct group *g = slot->value;
        if (g->let_in && !phase_is_over(g->phase) && str_eq(g->queue, q->q.name))
            return true;
    }
    return false;
}

static str state_of(const struct queue *q)
{
    if (!q->closed)
        return S("Open");
    return is_state(q, "Closing") && has_groups_in(q) ? S("Closing") : S("Closed");
}

static void on_queue(struct binder *b, str key, const struct kube_answer *ans)
{
    struct queue *q = map_get(&b->queues.items, key);

    if (!q)
        return;
    q->busy = false;
    if (ans->err.code == ERR_OK) {
        b->groups_dirty = true;
        return;
    }
    q->written = 0;
    q->write_ms = binder_rest(b);
    if (ans->err.code != ERR_NOT_FOUND && ans->err.code != ERR_CONFLICT)
        log_warn("cannot write the status of a queue, retrying", KV("queue", key),
                 KVZ("error", ans->err.msg));
}

static void queue_send(struct queue *q)
{
    AUTO(arena) struct arena *a = arena_new();
    jv use = allocated(a, q), there = jv_at(q->h.obj, "status", "allocated");
    str state = state_of(q);
    jv status = jobj(a, { "state", jstr(a, state) }, { "allocated", use });
    uint64_t hash = str_hash(json_text(a, status)) | 1;

    if (hash == q->written ||
        (!q->written && jv_equal(use, there) && is_state(q, arena_z(a, state))))
        return;
    JV_EACH (it, there)
        if (!jv_exists(jv_get(use, it.key)))
            status = jv_with(a, status, JV_NULL_V, "allocated", arena_z(a, it.key));
    struct kube_request r = {
        .verb = KUBE_PATCH,
        .res = &queues,
        .name = q->q.name,
        .sub = S("status"),
        .patch = KUBE_PATCH_MERGE,
        .body = jobj(a, { "metadata", jobj(a, { "uid", jstr(a, meta_uid(q->h.obj)) }) },
                     { "status", status }),
    };
    q->written = hash;
    q->busy = true;
    send_write(q->b, &r, on_queue, str_of(q->h.key));
}

bool queues_send(struct binder *b)
{
    MAP_EACH (slot, &b->queues.items) {
        struct queue *q = slot->value;
        if (q->busy || binder_is_resting(b, q->write_ms))
            continue;
        if (b->n_sent >= SENT_MAX)
            return false;
        queue_send(q);
    }
    return true;
}
