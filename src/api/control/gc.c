/* Dependents go when their last owner has gone; foreground deletion waits for those that block it;
 * orphaning cuts the ties first. What to do is decided from the live objects each time. */

#include "api/control/gc.h"

#include "api/control/gc_index.h"
#include "api/delete.h"
#include "api/write.h"
#include "base/mem.h"
#include "kube/meta.h"

#include <stdlib.h>

enum { TURN = 200, RETRY_MS = 1000 };

struct look { /* an object to look at, soon */
    struct look *next;
    struct store_coll *coll;
    str key;
    str place; /* coll and key as one text */
};

struct gc {
    struct api *api;
    struct gc_index index;
    struct map queued; /* by place, so that nothing waits twice */
    struct look *first, **last;
    bool running;
    struct loop_timer *retry; /* after a write that failed */
};

struct gc *gc_new(struct api *api)
{
    struct gc *g = mem_new(sizeof(*g));

    g->api = api;
    g->last = &g->first;
    return g;
}

void gc_free(struct gc *g)
{
    if (!g)
        return;
    loop_timer_stop(g->retry);
    for (struct look *l = g->first, *next; l; l = next) {
        next = l->next;
        free(l);
    }
    map_done(&g->queued);
    gc_index_done(&g->index);
    free(g);
}

/* ---- the queue */

static void process(struct gc *g, struct store_coll *coll, str key);

static void run(void *ctx)
{
    struct gc *g = ctx;

    g->running = false;
    for (int i = 0; i < TURN && g->first; i++) { /* then let others have a turn */
        struct look *l = g->first;
        g->first = l->next;
        if (!g->first)
            g->last = &g->first;
        map_remove(&g->queued, l->place);
        process(g, l->coll, l->key);
        free(l);
    }
    if (g->first && !g->running) {
        g->running = true;
        loop_post(g->api->loop, run, g);
    }
}

static void queue(struct gc *g, struct store_coll *coll, str key)
{
    struct look *l = mem_room(sizeof(*l) + sizeof(coll) + key.n);

    char *text = (char *)(l + 1);
    memcpy(text, &coll, sizeof(coll));
    memcpy(text + sizeof(coll), key.p, key.n);
    *l =
        (struct look){ NULL, coll, { text + sizeof(coll), key.n }, { text, sizeof(coll) + key.n } };
    if (map_get(&g->queued, l->place)) {
        free(l);
        return;
    }
    map_put(&g->queued, l->place, l);
    *g->last = l;
    g->last = &l->next;
    if (g->running)
        return;
    g->running = true;
    loop_post(g->api->loop, run, g);
}

static void on_retry(void *ctx)
{
    struct gc *g = ctx;

    loop_timer_stop(g->retry);
    g->retry = NULL;
    run(g);
}

/* The disk may be full: it waits a little, and everything after it. */
static void retry_later(struct gc *g, struct store_coll *coll, str key)
{
    g->running = true;
    queue(g, coll, key);
    if (!g->retry)
        g->retry = loop_timer_start(g->api->loop, RETRY_MS, 0, on_retry, g);
}

static void queue_dependents(struct gc *g, str uid)
{
    for (struct gc_edge *e = gc_index_of(&g->index, uid); e; e = e->next)
        queue(g, e->of->coll, e->of->key);
}

/* ---- deciding */

/* What an owner reference points to, as it is now; absent: gone. *judged: false if its kind is not
 * served, and so nobody can tell. */
static jv owner_of(struct gc *g, struct arena *a, jv ref, str ns, bool *judged)
{
    struct resource *res =
        registry_find_owner(&g->api->registry, jv_str(jv_at(ref, "apiVersion"), STR_NONE),
                            jv_str(jv_at(ref, "kind"), STR_NONE));

    *judged = res && res->coll;
    if (!*judged)
        return JV_ABSENT;
    str key = resource_key(a, res, ns, jv_str(jv_at(ref, "name"), STR_NONE));
    struct store_obj *o = store_get(res->coll, key);
    jv obj = o ? json_parse(a, value_text(a, o->value), NULL, NULL) : JV_ABSENT;
    return jv_equal(jv_at(obj, "metadata", "uid"), jv_at(ref, "uid")) ? obj : JV_ABSENT;
}

static bool is_ending(jv obj, str finalizer)
{
    return meta_being_deleted(obj) && meta_has_finalizer(obj, finalizer);
}

enum owner_state {
    OWNER_SOLID,
    OWNER_GONE,
    OWNER_WAITS,   /* is deleted in the foreground */
    OWNER_ORPHANS, /* lets its dependents go first */
};

static enum owner_state owner_state(struct gc *g, struct arena *a, jv ref, str ns)
{
    bool judged;
    jv obj = owner_of(g, a, ref, ns, &judged);

    if (!judged)
        return OWNER_SOLID; /* a CRD may come back */
    if (!jv_exists(obj))
        return OWNER_GONE;
    if (is_ending(obj, S("orphan")))
        return OWNER_ORPHANS;
    return is_ending(obj, S("foregroundDeletion")) ? OWNER_WAITS : OWNER_SOLID;
}

static jv without_finalizer(struct arena *a, jv obj, str name)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, jv_at(obj, "metadata", "finalizers"))
        if (!str_eq(jv_str(it.value, STR_NONE), name))
            jb_push(&b, it.value);
    jv left = jb_done(&b);
    return jv_with(a, obj, jv_len(left) ? left : JV_ABSENT, "metadata", "finalizers");
}

/* An object that is being deleted and waits for us; each dependent that goes brings it back here.
 */
static bool decide_deleting(struct gc *g, struct arena *a, jv obj, struct change *out)
{
    str uid = meta_uid(obj);

    if (meta_has_finalizer(obj, S("orphan"))) {
        if (gc_index_of(&g->index, uid))
            return true;
        obj = without_finalizer(a, obj, S("orphan"));
    } else if (meta_has_finalizer(obj, S("foregroundDeletion"))) {
        if (gc_index_blocking(&g->index, uid))
            return true;
        obj = without_finalizer(a, obj, S("foregroundDeletion"));
    } else {
        return false;
    }
    bool over = jv_len(jv_at(obj, "metadata", "finalizers")) == 0 &&
                jv_int(jv_at(obj, "metadata", "deletionGracePeriodSeconds"), 0) == 0;
    *out = (struct change){ over ? CHANGE_REMOVE : CHANGE_PUT, obj };
    return true;
}

/* Among its own dependents is one that waits for its dependents: perhaps a circle. */
static bool may_be_circle(struct gc *g, struct arena *a, jv obj)
{
    for (struct gc_edge *e = gc_index_of(&g->index, meta_uid(obj)); e; e = e->next) {
        struct store_obj *o = store_get(e->of->coll, e->of->key);
        if (o &&
            is_ending(json_parse(a, value_text(a, o->value), NULL, NULL), S("foregroundDeletion")))
            return true;
    }
    return false;
}

static jv without_blocking(struct arena *a, jv obj)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, jv_at(obj, "metadata", "ownerReferences"))
        jb_push(&b, jv_with(a, it.value, JV_FALSE, "blockOwnerDeletion"));
    return jv_with(a, obj, jb_done(&b), "metadata", "ownerReferences");
}

static struct change end_dependent(struct gc *g, const struct resource *res, struct arena *a,
                                   jv obj, bool owner_waits)
{
    struct delete_opts o = { .grace_s = -1, .propagation = PROPAGATE_BACKGROUND };

    if (meta_has_finalizer(obj, S("orphan"))) {
        o.propagation = PROPAGATE_ORPHAN;
    } else if (owner_waits && gc_index_of(&g->index, meta_uid(obj))) {
        o.propagation = PROPAGATE_FOREGROUND;
        if (may_be_circle(g, a, obj))
            obj = without_blocking(a, obj);
    } else if (meta_has_finalizer(obj, S("foregroundDeletion"))) {
        o.propagation = PROPAGATE_FOREGROUND;
    }
    return delete_decide(a, res, obj, &o, wall_now_ms());
}

/* A dependent: goes when no owner is left, else drops its ties to those that are gone. */
static void decide_dependent(struct gc *g, const struct resource *res, struct arena *a, jv obj,
                             struct change *out)
{
    jv refs = jv_at(obj, "metadata", "ownerReferences");
    struct jbuild solid = jb_arr(a);
    bool waits = false;
    bool cut = false;

    JV_EACH (it, refs) {
        enum owner_state s = owner_state(g, a, it.value, meta_namespace(obj));
        waits = waits || s == OWNER_WAITS;
        cut = cut || s == OWNER_ORPHANS;
        if (s == OWNER_SOLID)
            jb_push(&solid, it.value);
    }
    jv left = jb_done(&solid);
    if (jv_len(left) == jv_len(refs))
        return;
    if (jv_len(left) || cut)
        *out = (struct change){ CHANGE_PUT, jv_with(a, obj, jv_len(left) ? left : JV_ABSENT,
                                                    "metadata", "ownerReferences") };
    else
        *out = end_dependent(g, res, a, obj, waits);
}

struct work {
    struct change_op op;
    struct arena *a;
    struct gc *g;
    struct resource *res;
};

static int decide(struct change_op *op, struct arena *a, jv live, struct change *out)
{
    struct work *w = op->ctx;

    if (jv_exists(live) && !(meta_being_deleted(live) && decide_deleting(w->g, a, live, out)))
        decide_dependent(w->g, op->res, a, live, out);
    return 0;
}

static void done(struct change_op *op, enum change_kind kind, struct blob *stored,
                 const struct err *e)
{
    struct work *w = op->ctx;

    (void)kind;
    (void)stored;
    if (e)
        retry_later(w->g, op->res->coll, op->key);
    resource_unref(w->res);
    arena_free(w->a);
}

static void process(struct gc *g, struct store_coll *coll, str key)
{
    struct resource *res = registry_of_coll(&g->api->registry, coll);

    if (!res)
        return;
    struct arena *a = arena_new();
    struct work *w = ARENA_NEW(a, struct work);
    w->a = a;
    w->g = g;
    w->res = resource_ref(res);
    w->op = (struct change_op){ .api = g->api,
                                .res = res,
                                .key = arena_str(a, key),
                                .decide = decide,
                                .done = done,
                                .ctx = w };
    change_start(&w->op);
}

/* ---- what happens */

/* A dependent has gone or let go: an owner that is being deleted may have waited for it. */
static void queue_owners(struct gc *g, struct arena *a, jv obj)
{
    JV_EACH (it, jv_at(obj, "metadata", "ownerReferences")) {
        struct resource *res =
            registry_find_owner(&g->api->registry, jv_str(jv_at(it.value, "apiVersion"), STR_NONE),
                                jv_str(jv_at(it.value, "kind"), STR_NONE));
        str key = res && res->coll ? resource_key(a, res, meta_namespace(obj),
                                                  jv_str(jv_at(it.value, "name"), STR_NONE))
                                   : STR_NONE;
        struct store_obj *o = key.n ? store_get(res->coll, key) : NULL;
        if (o && str_contains(value_text(a, o->value), S("\"deletionTimestamp\"")))
            queue(g, res->coll, key);
    }
}

/* An object whose deletion waits for its dependents: they are looked at, then it. */
static void look_at_ending(struct gc *g, struct arena *a, struct store_coll *c, str key, str text)
{
    if (!str_contains(text, S("\"deletionTimestamp\"")) ||
        !(str_contains(text, S("\"foregroundDeletion\"")) || str_contains(text, S("\"orphan\""))))
        return;
    queue_dependents(g, meta_uid(json_parse(a, text, NULL, NULL)));
    queue(g, c, key);
}

/* An object with no more of it than what ties it to its owners; the rest is not parsed. Absent: it
 * has none. */
static jv tied(struct arena *a, str text)
{
    str refs = json_skim(text, "metadata", "ownerReferences");
    str ns = json_skim(text, "metadata", "namespace");
    str uid = json_skim(text, "metadata", "uid");

    if (!refs.n)
        return JV_ABSENT;
    return jobj(a, { "metadata", jobj(a, { "namespace", json_parse(a, ns, NULL, NULL) },
                                      { "uid", json_parse(a, uid, NULL, NULL) },
                                      { "ownerReferences", json_parse(a, refs, NULL, NULL) }) });
}

/* Some owner is gone, or does something to its dependents on its way. */
static bool has_loose_owner(struct gc *g, struct arena *a, jv obj)
{
    str ns = meta_namespace(obj);

    JV_EACH (it, jv_at(obj, "metadata", "ownerReferences"))
        if (owner_state(g, a, it.value, ns) != OWNER_SOLID)
            return true;
    return false;
}

void gc_load(struct gc *g, struct store_coll *c, const struct store_obj *o)
{
    AUTO(arena) struct arena *a = arena_new();
    jv obj = tied(a, value_text(a, o->value));

    if (!jv_exists(obj))
        return;
    gc_index_set(&g->index, c, o->key, jv_at(obj, "metadata"));
    if (has_loose_owner(g, a, obj))
        queue(g, c, o->key); /* we died between an owner's end and this one's */
}

void gc_load_ending(struct gc *g, struct store_coll *c, const struct store_obj *o)
{
    AUTO(arena) struct arena *a = arena_new();

    look_at_ending(g, a, c, o->key, value_text(a, o->value));
}

void gc_on_event(struct gc *g, struct store_coll *c, const struct store_event *ev)
{
    AUTO(arena) struct arena *a = arena_new();
    str text = value_text(a, ev->value);
    jv before = ev->prev ? tied(a, value_text(a, ev->prev)) : JV_ABSENT;
    jv now = ev->is_delete ? JV_ABSENT : tied(a, text);

    if (jv_exists(before) || jv_exists(now))
        gc_index_set(&g->index, c, ev->key, jv_at(now, "metadata"));
    if (jv_exists(before))
        queue_owners(g, a, before);
    if (!ev->prev && has_loose_owner(g, a, now))
        queue(g, c, ev->key);
    if (ev->is_delete && g->index.owners.n)
        queue_dependents(g, meta_uid(json_parse(a, text, NULL, NULL)));
    else if (!ev->is_delete)
        look_at_ending(g, a, c, ev->key, text);
}
