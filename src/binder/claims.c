/* Claims and volumes: for each that something changed about, the next step is asked for and sent,
 * one at a time. */

#include "binder/internal.h"

#include "loop/log.h"

static const char component[] = "persistentvolume-controller";

static jv slim(struct arena *a, jv obj)
{
    return jv_without(a, obj, "metadata", "managedFields");
}

void claim_wake_pods(struct binder *b, jv claim)
{
    MAP_EACH (slot, &b->pods.items) {
        struct pod *p = slot->value;
        if (p->p.n_claims && p->state == POD_PLACED &&
            pod_uses(p, meta_namespace(claim), meta_name(claim)))
            pod_queue(p);
    }
}

static void changed(struct shelf *s, struct held *h, jv obj, bool is_new)
{
    (void)obj;
    (void)is_new;
    s->b->place_due = s->b->place_all = s->b->volumes_due = true;
    if (s == &s->b->claims)
        claim_wake_pods(s->b, h->obj);
    binder_work(s->b);
}

static void thing_changed(struct shelf *s, struct held *h, jv obj, bool is_new)
{
    struct thing *t = (struct thing *)h;

    t->b = s->b;
    changed(s, h, obj, is_new);
}

static void thing_gone(struct shelf *s, struct held *h)
{
    struct thing *t = (struct thing *)h;

    event_budget_done(&t->budget);
    changed(s, h, h->obj, false);
}

static void class_gone(struct shelf *s, struct held *h)
{
    changed(s, h, h->obj, false);
}

const struct shelf_ops claim_shelf = { &kube_claims, sizeof(struct thing), slim, thing_changed,
                                       thing_gone };
const struct shelf_ops volume_shelf = { &kube_volumes, sizeof(struct thing), slim, thing_changed,
                                        thing_gone };
const struct shelf_ops class_shelf = { &kube_classes, sizeof(struct held), slim, changed,
                                       class_gone };

static jv find(const struct shelf *s, str name)
{
    struct held *h = name.n ? shelf_find(s, STR_NONE, name) : NULL;

    return h ? h->obj : JV_ABSENT;
}

struct claim_seen claim_seen_of(struct binder *b, struct arena *a, jv claim)
{
    return (struct claim_seen){
        .claim = claim,
        .cls = find(&b->classes, jv_str(jv_at(claim, "spec", "storageClassName"), S(""))),
        .volume = find(&b->volumes, claim_volume_name(a, claim)),
        .node = find(&b->nodes, jv_str(jv_get(meta_annotations(claim), S(ANNOTATION_NODE)), S(""))),
        .dir = str_of(b->dir),
        .named = b->o.named,
        .strict = b->o.strict_classes,
    };
}

/* ---- sending a step */

static struct thing *thing_at(struct binder *b, str key)
{
    bool of_volume = key.n && key.p[0] == '/'; /* in no namespace */

    return map_get(of_volume ? &b->volumes.items : &b->claims.items, key);
}

static void on_step(struct binder *b, str key, const struct kube_answer *ans)
{
    struct thing *t = thing_at(b, key);
    bool fine = ans->err.code == ERR_OK || ans->err.code == ERR_EXISTS ||
                ans->err.code == ERR_NOT_FOUND || ans->err.code == ERR_CONFLICT;

    if (!t)
        return;
    t->busy = false;
    if (ans->err.code == ERR_OK) {
        b->volumes_due = true; /* for what was seen meanwhile */
        return;
    }
    if (!fine)
        log_warn("volume update failed, retrying", KV("of", key), KVZ("error", ans->err.msg));
    t->retry_ms = binder_rest(b);
}

static void send_step(struct binder *b, struct arena *a, struct thing *t, const struct plan_step *s)
{
    static const enum kube_verb verbs[] = { [PLAN_CREATE] = KUBE_CREATE,
                                            [PLAN_DELETE] = KUBE_DELETE,
                                            [PLAN_PATCH] = KUBE_PATCH,
                                            [PLAN_CONFIRM] = KUBE_GET };
    struct kube_request r = { .verb = verbs[s->kind],
                              .res = s->res,
                              .ns = s->ns,
                              .name = s->name,
                              .sub = s->sub,
                              .patch = s->patch,
                              .body = step_object(a, s) };

    if (s->kind == PLAN_DELETE)
        r.body = jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "DeleteOptions") },
                      { "preconditions", jobj(a, { "uid", jstr(a, s->uid) }) });
    if (s->kind == PLAN_CREATE)
        r.name = STR_NONE;
    t->busy = true;
    send_write(b, &r, on_step, str_of(t->h.key));
}

static void carry_out(struct binder *b, struct thing *t, const struct plan *p,
                      const struct kube_resource *res)
{
    for (size_t i = 0; i < p->n_notes; i++)
        binder_tell(b, t->h.obj, res, component, &t->budget, &p->notes[i]);
    for (size_t i = 0; i < p->n_steps && i < 1; i++) {
        const struct plan_step *s = &p->steps[i];
        for (size_t k = 0; k < s->n_notes; k++)
            binder_tell(b, t->h.obj, res, component, &t->budget, &s->notes[k]);
        send_step(b, p->a, t, s);
    }
}

/* ---- the pass */

static bool is_in_use(struct binder *b, jv claim)
{
    MAP_EACH (slot, &b->pods.items) {
        struct pod *p = slot->value;
        if (p->p.n_claims && (p->state == POD_BOUND || p->state == POD_BINDING || p->p.node.n) &&
            pod_uses(p, meta_namespace(claim), meta_name(claim)))
            return true;
    }
    return false;
}

static bool is_resting(struct binder *b, const struct thing *t)
{
    return t->busy || binder_is_resting(b, t->retry_ms);
}

static void look_at_volume(struct binder *b, struct thing *t)
{
    AUTO(arena) struct arena *a = arena_new();
    struct plan *p = plan_new(a);
    jv ref = jv_at(t->h.obj, "spec", "claimRef");
    struct held *claim = shelf_find(&b->claims, jv_str(jv_at(ref, "namespace"), S("")),
                                    jv_str(jv_at(ref, "name"), S("")));
    struct volume_seen seen = { t->h.obj, claim ? claim->obj : JV_ABSENT, str_of(b->dir) };

    if (volume_plan(p, &seen))
        trash_put(b, volume_own_path(t->h.obj, str_of(b->dir)));
    carry_out(b, t, p, &kube_volumes);
}

/* Volumes that are to be had. */
struct offers {
    jv *at;
    size_t n;
};

static void withdraw(struct offers *o, str name)
{
    for (size_t i = 0; i < o->n; i++)
        if (str_eq(meta_name(o->at[i]), name)) {
            o->at[i] = o->at[--o->n];
            return;
        }
}

static void look_at_claim(struct binder *b, struct thing *t, struct offers *o)
{
    AUTO(arena) struct arena *a = arena_new();
    struct plan *p = plan_new(a);
    struct claim_seen seen = claim_seen_of(b, a, t->h.obj);

    seen.in_use = meta_being_deleted(t->h.obj) && is_in_use(b, t->h.obj);
    seen.others = o->at;
    seen.n_others = o->n;
    claim_plan(p, &seen);
    if (p->n_steps && p->steps[0].kind == PLAN_PATCH && p->steps[0].res == &kube_volumes)
        withdraw(o, p->steps[0].name);
    carry_out(b, t, p, &kube_claims);
}

void claims_pass(struct binder *b)
{
    AUTO(arena) struct arena *a = arena_new();
    struct offers o = { .at = ARENA_ARRAY(a, jv, b->volumes.items.n + 1) };

    b->volumes_due = false;
    MAP_EACH (slot, &b->volumes.items) {
        struct thing *t = slot->value;
        o.at[o.n++] = t->h.obj;
        if (!is_resting(b, t))
            look_at_volume(b, t);
    }
    MAP_EACH (slot, &b->claims.items) {
        struct thing *t = slot->value;
        withdraw(&o, jv_str(jv_at(t->h.obj, "spec", "volumeName"), S("")));
    }
    MAP_EACH (slot, &b->claims.items) {
        struct thing *t = slot->value;
        if (!is_resting(b, t))
            look_at_claim(b, t, &o);
    }
}
