/* Dependents go when their last owner has gone; foreground deletion waits for those that block it;
 * orphaning cuts the ties first. An index from owner uid to dependents is all the state there is;
 * what to do is decided from the live objects each time. */

#include "api/gc.h"

#include "api/delete.h"
#include "api/write.h"
#include "kube/meta.h"

#include <stdlib.h>

struct edge { /* one dependent of one owner */
    struct edge *next;
    struct store_coll *coll;
    bool blocks; /* blockOwnerDeletion */
    str key;     /* in the same piece of memory */
};

struct owner {
    struct edge *edges;
    size_t n;
    char uid[64];
};

struct look { /* an object to look at, soon */
    struct look *next;
    struct store_coll *coll;
    str key;
};

struct gc {
    struct api *api;
    struct map owners; /* uid to struct owner */
    struct look *first, **last;
    bool running;
};

struct gc *gc_new(struct api *api)
{
    struct gc *g = calloc(1, sizeof(*g));

    if (!g)
        abort();
    g->api = api;
    g->last = &g->first;
    return g;
}

void gc_free(struct gc *g)
{
    if (!g)
        return;
    for (struct map_slot *s = NULL; (s = map_next(&g->owners, s));) {
        struct owner *o = s->value;
        for (struct edge *e = o->edges, *next; e; e = next) {
            next = e->next;
            free(e);
        }
        free(o);
    }
    for (struct look *l = g->first, *next; l; l = next) {
        next = l->next;
        free(l);
    }
    map_done(&g->owners);
    free(g);
}

/* ---- the index */

static void edge_add(struct gc *g, str uid, struct store_coll *coll, str key, bool blocks)
{
    struct owner *o = map_get(&g->owners, uid);

    if (uid.n == 0 || uid.n >= sizeof(o->uid))
        return;
    if (!o) {
        o = calloc(1, sizeof(*o));
        if (!o)
            abort();
        memcpy(o->uid, uid.p, uid.n);
        map_put(&g->owners, (str){ o->uid, uid.n }, o);
    }
    struct edge *e = malloc(sizeof(*e) + key.n);
    if (!e)
        abort();
    char *text = (char *)(e + 1);
    memcpy(text, key.p, key.n);
    *e = (struct edge){ o->edges, coll, blocks, { text, key.n } };
    o->edges = e;
    o->n++;
}

static void edge_remove(struct gc *g, str uid, const struct store_coll *coll, str key)
{
    struct owner *o = map_get(&g->owners, uid);

    for (struct edge **at = o ? &o->edges : NULL; at && *at; at = &(*at)->next) {
        struct edge *e = *at;
        if (e->coll != coll || !str_eq(e->key, key))
            continue;
        *at = e->next;
        free(e);
        o->n--;
        break;
    }
    if (o && !o->edges) {
        map_remove(&g->owners, uid);
        free(o);
    }
}

/* ---- the queue */

static void process(struct gc *g, struct store_coll *coll, str key);

static void run(void *ctx)
{
    struct gc *g = ctx;
    int budget = 200; /* then let others have a turn */

    g->running = false;
    while (g->first && budget--) {
        struct look *l = g->first;
        g->first = l->next;
        if (!g->first)
            g->last = &g->first;
        process(g, l->coll, l->key);
        free(l);
    }
    if (g->first) {
        g->running = true;
        loop_post(g->api->loop, run, g);
    }
}

static void queue(struct gc *g, struct store_coll *coll, str key)
{
    struct look *l = malloc(sizeof(*l) + key.n);

    if (!l)
        abort();
    char *text = (char *)(l + 1);
    memcpy(text, key.p, key.n);
    *l = (struct look){ NULL, coll, { text, key.n } };
    *g->last = l;
    g->last = &l->next;
    if (g->running)
        return;
    g->running = true;
    loop_post(g->api->loop, run, g);
}

static void queue_dependents(struct gc *g, str uid)
{
    struct owner *o = map_get(&g->owners, uid);

    for (struct edge *e = o ? o->edges : NULL; e; e = e->next)
        queue(g, e->coll, e->key);
}

/* ---- deciding */

enum owner_state { OWNER_GONE, OWNER_SOLID, OWNER_WAITS }; /* waits: deleted in the foreground */

static enum owner_state owner_state(struct gc *g, struct arena *a, jv ref, str ns)
{
    struct resource *res =
        registry_find_owner(&g->api->registry, jv_str(jv_at(ref, "apiVersion"), STR_NONE),
                            jv_str(jv_at(ref, "kind"), STR_NONE));

    if (!res || !res->coll)
        return OWNER_SOLID; /* not ours to judge: a CRD may come back */
    str key = resource_key(a, res, ns, jv_str(jv_at(ref, "name"), STR_NONE));
    struct store_obj *o = store_get(res->coll, key);
    if (!o)
        return OWNER_GONE;
    jv obj = json_parse(a, value_text(a, o->value), NULL, NULL);
    if (!jv_equal(jv_at(obj, "metadata", "uid"), jv_at(ref, "uid")))
        return OWNER_GONE;
    return meta_being_deleted(obj) && meta_has_finalizer(obj, S("foregroundDeletion"))
               ? OWNER_WAITS
               : OWNER_SOLID;
}

static size_t blocking_dependents(struct gc *g, str uid)
{
    struct owner *o = map_get(&g->owners, uid);
    size_t n = 0;

    for (struct edge *e = o ? o->edges : NULL; e; e = e->next)
        n += e->blocks;
    return n;
}

static jv without_finalizer(struct arena *a, jv obj, str name)
{
    struct jbuild b = jb_arr(a);

    for (struct jv_iter it = jv_iter(jv_at(obj, "metadata", "finalizers")); jv_next(&it);)
        if (!str_eq(jv_str(it.value, STR_NONE), name))
            jb_push(&b, it.value);
    jv left = jb_done(&b);
    return jv_with(a, obj, jv_len(left) ? left : JV_ABSENT, "metadata", "finalizers");
}

/* An object that is being deleted and waits for us. */
static bool decide_deleting(struct gc *g, struct arena *a, jv obj, struct change *out)
{
    str uid = meta_uid(obj);

    if (meta_has_finalizer(obj, S("orphan"))) {
        if (map_get(&g->owners, uid)) {
            queue_dependents(g, uid); /* each cuts its tie; the last one brings us back */
            return true;
        }
        obj = without_finalizer(a, obj, S("orphan"));
    } else if (meta_has_finalizer(obj, S("foregroundDeletion"))) {
        if (blocking_dependents(g, uid)) {
            queue_dependents(g, uid);
            return true;
        }
        obj = without_finalizer(a, obj, S("foregroundDeletion"));
    } else {
        return false;
    }
    bool over = jv_len(jv_at(obj, "metadata", "finalizers")) == 0 &&
                jv_int(jv_at(obj, "metadata", "deletionGracePeriodSeconds"), 0) == 0;
    *out = (struct change){ over ? CHANGE_REMOVE : CHANGE_PUT, obj };
    return true;
}

static bool is_orphaning(struct gc *g, struct arena *a, jv ref, str ns)
{
    struct resource *res =
        registry_find_owner(&g->api->registry, jv_str(jv_at(ref, "apiVersion"), STR_NONE),
                            jv_str(jv_at(ref, "kind"), STR_NONE));
    struct store_obj *o =
        res && res->coll
            ? store_get(res->coll, resource_key(a, res, ns, jv_str(jv_at(ref, "name"), STR_NONE)))
            : NULL;
    jv obj = o ? json_parse(a, value_text(a, o->value), NULL, NULL) : JV_ABSENT;

    return jv_equal(jv_at(obj, "metadata", "uid"), jv_at(ref, "uid")) && meta_being_deleted(obj) &&
           meta_has_finalizer(obj, S("orphan"));
}

static enum propagation own_propagation(struct gc *g, jv obj, bool owner_waits)
{
    if (meta_has_finalizer(obj, S("orphan")))
        return PROPAGATE_ORPHAN;
    if (meta_has_finalizer(obj, S("foregroundDeletion")) ||
        (owner_waits && map_get(&g->owners, meta_uid(obj))))
        return PROPAGATE_FOREGROUND;
    return PROPAGATE_BACKGROUND;
}

/* A dependent: goes when no owner is left, else drops its ties to those that are gone. */
static void decide_dependent(struct gc *g, const struct resource *res, struct arena *a, jv obj,
                             struct change *out)
{
    jv refs = jv_at(obj, "metadata", "ownerReferences");
    struct jbuild kept = jb_arr(a);
    size_t solid = 0;
    bool waits = false;
    bool cut = false;

    for (struct jv_iter it = jv_iter(refs); jv_next(&it);) {
        enum owner_state s = owner_state(g, a, it.value, meta_namespace(obj));
        if (is_orphaning(g, a, it.value, meta_namespace(obj))) {
            cut = true;
            continue;
        }
        waits = waits || s == OWNER_WAITS;
        solid += s == OWNER_SOLID;
        if (s == OWNER_SOLID)
            jb_push(&kept, it.value);
    }
    if (cut || (solid && jb_done(&kept).node->n < jv_len(refs))) {
        jv left = jb_done(&kept);
        *out = (struct change){ CHANGE_PUT, jv_with(a, obj, jv_len(left) ? left : JV_ABSENT,
                                                    "metadata", "ownerReferences") };
        return;
    }
    if (solid || !jv_len(refs))
        return;
    struct delete_opts o = { .grace_s = -1, .propagation = own_propagation(g, obj, waits) };
    *out = delete_decide(a, res, obj, &o, wall_now_ms());
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
    (void)e;
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

static bool mentions(const struct value *v, str word)
{
    AUTO(blob) struct blob *b = value_blob(v);

    return b && str_contains(blob_str(b), word);
}

static void index_refs(struct gc *g, struct store_coll *c, str key, jv obj, bool add)
{
    for (struct jv_iter it = jv_iter(jv_at(obj, "metadata", "ownerReferences")); jv_next(&it);) {
        str uid = jv_str(jv_at(it.value, "uid"), STR_NONE);
        if (add)
            edge_add(g, uid, c, key, jv_bool(jv_at(it.value, "blockOwnerDeletion"), false));
        else
            edge_remove(g, uid, c, key);
    }
}

/* A dependent has gone or let go: an owner that is being deleted may have waited for it. */
static void queue_owners(struct gc *g, struct arena *a, jv obj)
{
    for (struct jv_iter it = jv_iter(jv_at(obj, "metadata", "ownerReferences")); jv_next(&it);) {
        struct resource *res =
            registry_find_owner(&g->api->registry, jv_str(jv_at(it.value, "apiVersion"), STR_NONE),
                                jv_str(jv_at(it.value, "kind"), STR_NONE));
        str key = res && res->coll ? resource_key(a, res, meta_namespace(obj),
                                                  jv_str(jv_at(it.value, "name"), STR_NONE))
                                   : STR_NONE;
        struct store_obj *o = key.n ? store_get(res->coll, key) : NULL;
        if (o && mentions(o->value, S("\"deletionTimestamp\"")))
            queue(g, res->coll, key);
    }
}

/* Some owner is gone, or on its way and does something to its dependents. */
static bool has_loose_owner(struct gc *g, struct arena *a, jv obj)
{
    str ns = meta_namespace(obj);

    for (struct jv_iter it = jv_iter(jv_at(obj, "metadata", "ownerReferences")); jv_next(&it);)
        if (owner_state(g, a, it.value, ns) != OWNER_SOLID || is_orphaning(g, a, it.value, ns))
            return true;
    return false;
}

void gc_load(struct gc *g, struct store_coll *c, const struct store_obj *o)
{
    AUTO(arena) struct arena *a = arena_new();
    str text = value_text(a, o->value);

    if (str_contains(text, S("\"deletionTimestamp\"")))
        queue(g, c, o->key);
    if (!str_contains(text, S("\"ownerReferences\"")))
        return;
    jv obj = json_parse(a, text, NULL, NULL);
    index_refs(g, c, o->key, obj, true);
    if (has_loose_owner(g, a, obj))
        queue(g, c, o->key); /* we died between an owner's end and this one's */
}

void gc_on_event(struct gc *g, struct store_coll *c, const struct store_event *ev)
{
    AUTO(arena) struct arena *a = arena_new();
    static const str refs = S_INIT("\"ownerReferences\"");
    bool had = mentions(ev->prev, refs);
    bool has = !ev->is_delete && mentions(ev->value, refs);

    if (had) {
        jv old = json_parse(a, value_text(a, ev->prev), NULL, NULL);
        index_refs(g, c, ev->key, old, false);
        if (ev->is_delete || !has)
            queue_owners(g, a, old);
    }
    if (has) {
        jv now = json_parse(a, value_text(a, ev->value), NULL, NULL);
        index_refs(g, c, ev->key, now, true);
        if (!ev->prev && has_loose_owner(g, a, now))
            queue(g, c, ev->key);
        if (ev->prev)
            queue_owners(g, a, now);
    }
    if (ev->is_delete && g->owners.n)
        queue_dependents(g, meta_uid(json_parse(a, value_text(a, ev->value), NULL, NULL)));
    else if (!ev->is_delete && mentions(ev->value, S("\"deletionTimestamp\"")) &&
             (mentions(ev->value, S("\"foregroundDeletion\"")) ||
              mentions(ev->value, S("\"orphan\""))))
        queue(g, c, ev->key);
}
