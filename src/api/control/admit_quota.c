/* Only namespaces that have a quota pay. What their objects use is counted once, then kept by the
 * changes the store tells of; the status of a quota follows, one write at a time, so that however
 * many objects come and go it is written no more often than the disk allows. */

#include "api/control/admit_quota.h"

#include "api/write.h"
#include "base/mem.h"
#include "base/vec.h"
#include "kube/meta.h"

#include <stdlib.h>

struct live_quota {
    struct arena *a; /* holds everything in now */
    struct quota_now now;
    bool writing; /* its status */
    bool dirty;   /* its status may not be true */
};

struct space { /* a namespace with quotas */
    struct quotas *of;
    str ns; /* owned */
    struct {
        VEC(struct live_quota);
    } list;
    bool stale; /* quotas came, went or changed: count again */
    bool queued;
};

struct quotas {
    struct api *api;
    struct resource *res;
    struct map spaces;      /* by namespace */
    struct quota_hold held; /* a ring */
};

struct quotas *quotas_new(struct api *api)
{
    struct quotas *q = mem_new(sizeof(*q));

    q->api = api;
    q->res = registry_find(&api->registry, S(""), S("v1"), S("resourcequotas"));
    q->held.prev = q->held.next = &q->held;
    return q;
}

static void forget_list(struct space *s)
{
    for (size_t i = 0; i < s->list.n; i++)
        arena_free(s->list.at[i].a);
    vec_done(&s->list);
}

static void space_free(struct space *s)
{
    forget_list(s);
    free((char *)(uintptr_t)s->ns.p);
    free(s);
}

void quotas_free(struct quotas *q)
{
    if (!q)
        return;
    MAP_EACH (s, &q->spaces)
        space_free(s->value);
    map_done(&q->spaces);
    free(q);
}

/* ---- counting */

static bool is_counted(struct arena *a, const struct live_quota *l, const struct resource *res)
{
    for (size_t i = 0; i < l->now.hard.n; i++)
        if (quota_counts(a, res->group_resource, l->now.hard.at[i].name))
            return true;
    return false;
}

/* A name of the quota came to mean something after it was counted: a definition was added. */
static bool is_news(struct arena *a, const struct live_quota *l, const struct resource *res)
{
    for (size_t i = 0; i < l->now.hard.n; i++) {
        str name = l->now.hard.at[i].name;
        if (!amounts_get(&l->now.used, name) && quota_counts(a, res->group_resource, name))
            return true;
    }
    return false;
}

/* Adds (or takes away) what an object uses of the names this quota has. */
static void charge(struct arena *a, struct live_quota *l, const struct resource *res, jv obj,
                   bool add)
{
    struct amounts use;

    if (!quota_covers(a, l->now.spec, res->group_resource, obj))
        return;
    use = quota_usage(a, res->group_resource, obj);
    for (size_t i = 0; i < l->now.used.n; i++) {
        struct amount *u = &l->now.used.at[i];
        const struct quantity *q = amounts_get(&use, u->name);
        if (q && add)
            quantity_add(&u->q, q);
        else if (q)
            quantity_sub(&u->q, q);
        u->q.text = STR_NONE; /* borrowed from an object that goes */
    }
}

static void count_all(struct space *s, struct live_quota *l, const struct resource *res)
{
    AUTO(arena) struct arena *names = arena_new();
    str prefix = arena_printf(names, "%" PRI_STR "/", STR_ARG(s->ns));

    if (!is_counted(names, l, res))
        return;
    for (size_t i = 0; i < l->now.hard.n; i++)
        if (quota_counts(names, res->group_resource, l->now.hard.at[i].name))
            amounts_set_int(&l->now.used, l->now.hard.at[i].name, 0);
    for (struct store_obj *o = store_seek(res->coll, prefix); o && str_starts(o->key, prefix);
         o = store_next(res->coll, o)) {
        AUTO(arena) struct arena *a = arena_new();
        bool blind = quota_counts_only(res->group_resource);
        charge(a, l, res, blind ? JV_EMPTY_OBJ : resource_parse_value(a, res, o->value), true);
    }
}

static void add_quota(struct space *s, struct store_obj *o)
{
    struct registry *g = &s->of->api->registry;
    struct arena *a = arena_new();
    jv obj = resource_parse_value(a, s->of->res, o->value);
    struct live_quota l = { .a = a,
                            .now = { .name = arena_str(a, meta_name(obj)),
                                     .spec = jv_at(obj, "spec"),
                                     .hard = amounts_of(a, jv_at(obj, "spec", "hard")),
                                     .used = amounts_new(a) },
                            .dirty = true };

    for (struct store_coll *c = NULL; (c = store_coll_next(s->of->api->store, c));) {
        const struct resource *res = registry_of_coll(g, c);
        if (res && res->namespaced)
            count_all(s, &l, res);
    }
    vec_push(&s->list, l);
}

/* Reads the quotas of the namespace and counts what they speak of. */
static void refresh(struct space *s)
{
    AUTO(arena) struct arena *a = arena_new();
    struct store_coll *c = s->of->res->coll;
    str prefix = arena_printf(a, "%" PRI_STR "/", STR_ARG(s->ns));

    if (!s->stale)
        return;
    s->stale = false;
    forget_list(s);
    for (struct store_obj *o = store_seek(c, prefix); o && str_starts(o->key, prefix);
         o = store_next(c, o))
        add_quota(s, o);
}

/* ---- status */

static jv status_of(struct arena *a, const struct live_quota *l)
{
    return jobj(a, { "hard", amounts_json(a, &l->now.hard) },
                { "used", amounts_json(a, &l->now.used) });
}

static struct live_quota *find_quota(struct space *s, str name)
{
    for (size_t i = 0; s && i < s->list.n; i++)
        if (str_eq(s->list.at[i].now.name, name))
            return &s->list.at[i];
    return NULL;
}

struct sync {
    struct change_op op;
    struct arena *a;
    struct quotas *of;
    str ns;
    str name;
};

static void queue(struct space *s);

static struct live_quota *quota_of(const struct sync *y)
{
    return find_quota(map_get(&y->of->spaces, y->ns), y->name);
}

static int decide(struct change_op *op, struct arena *a, jv live, struct change *out)
{
    struct live_quota *l = quota_of(op->ctx);

    if (!l || !jv_exists(live))
        return 0;
    jv status = status_of(a, l);
    l->dirty = false;
    if (!jv_equal(jv_at(live, "status"), status))
        *out = (struct change){ CHANGE_PUT, jv_with(a, live, status, "status") };
    return 0;
}

static void done(struct change_op *op, enum change_kind kind, struct blob *stored,
                 const struct err *e)
{
    struct sync *y = op->ctx;
    struct live_quota *l = quota_of(y);

    (void)kind;
    (void)stored;
    if (l) {
        l->writing = false;
        if (l->dirty)
            queue(map_get(&y->of->spaces, y->ns));
        l->dirty = l->dirty || e; /* a full disk: the next change in the namespace tries again */
    }
    arena_free(y->a);
}

static void write_status(struct space *s, struct live_quota *l)
{
    struct arena *a = arena_new();
    struct sync *y = ARENA_NEW(a, struct sync);

    l->writing = true;
    y->a = a;
    y->of = s->of;
    y->ns = arena_str(a, s->ns);
    y->name = arena_str(a, l->now.name);
    y->op = (struct change_op){ .api = s->of->api,
                                .res = s->of->res,
                                .key = resource_key(a, s->of->res, y->ns, y->name),
                                .decide = decide,
                                .done = done,
                                .ctx = y };
    change_start(&y->op);
}

static void look(void *ctx)
{
    struct space *s = ctx;

    s->queued = false;
    refresh(s);
    if (!s->list.n) {
        map_remove(&s->of->spaces, s->ns);
        space_free(s);
        return;
    }
    for (size_t i = 0; i < s->list.n; i++)
        if (s->list.at[i].dirty && !s->list.at[i].writing)
            write_status(s, &s->list.at[i]);
}

static void queue(struct space *s)
{
    if (s->queued)
        return;
    s->queued = true;
    loop_defer(s->of->api->loop, look, s);
}

/* ---- changes */

static struct space *space_for(struct quotas *q, str ns)
{
    struct space *s = map_get(&q->spaces, ns);
    char *copy;

    if (s)
        return s;
    s = calloc(1, sizeof(*s));
    copy = strndup(ns.p, ns.n);
    if (!s || !copy)
        abort();
    s->of = q;
    s->ns = (str){ copy, ns.n };
    map_put(&q->spaces, s->ns, s);
    return s;
}

/* A change of a quota itself. Its status is ours: whoever wrote it, we look whether it is true. */
static void on_quota(struct quotas *q, struct space *s, str ns, const struct store_event *ev)
{
    AUTO(arena) struct arena *a = arena_new();
    jv now = json_parse(a, value_text(a, ev->value), NULL, NULL);
    jv before = ev->prev ? json_parse(a, value_text(a, ev->prev), NULL, NULL) : JV_ABSENT;

    if (!s)
        s = space_for(q, ns);
    struct live_quota *l = find_quota(s, meta_name(now));
    if (ev->is_delete || !l || !jv_equal(jv_at(now, "spec"), jv_at(before, "spec")))
        s->stale = true;
    else if (jv_equal(jv_at(now, "status"), status_of(a, l)))
        return;
    else
        l->dirty = true;
    queue(s);
}

static void on_object(struct space *s, const struct resource *res, const struct store_event *ev)
{
    AUTO(arena) struct arena *a = arena_new();
    bool blind = quota_counts_only(res->group_resource);
    jv now = JV_ABSENT;
    jv before = JV_ABSENT;

    if (blind && ev->prev && !ev->is_delete)
        return;
    if (!ev->is_delete)
        now = blind ? JV_EMPTY_OBJ : resource_parse_value(a, res, ev->value);
    if (ev->prev)
        before = blind ? JV_EMPTY_OBJ : resource_parse_value(a, res, ev->prev);
    for (size_t i = 0; i < s->list.n; i++) {
        struct live_quota *l = &s->list.at[i];
        if (!is_counted(a, l, res))
            continue;
        if (jv_exists(now))
            charge(a, l, res, now, true);
        if (jv_exists(before))
            charge(a, l, res, before, false);
        l->dirty = true;
        s->stale = s->stale || is_news(a, l, res);
        queue(s);
    }
}

void quotas_on_event(struct quotas *q, struct store_coll *c, const struct store_event *ev)
{
    bool is_quota = c == q->res->coll;
    ptrdiff_t slash = q->spaces.n || is_quota ? str_find(ev->key, '/') : -1;

    if (slash < 0)
        return;
    str ns = str_sub(ev->key, 0, (size_t)slash);
    struct space *s = map_get(&q->spaces, ns);
    if (is_quota)
        on_quota(q, s, ns, ev);
    s = map_get(&q->spaces, ns);
    const struct resource *res = s && !s->stale ? registry_of_coll(&q->api->registry, c) : NULL;
    if (res && res->namespaced)
        on_object(s, res, ev);
}

void quotas_load(struct quotas *q)
{
    for (struct store_obj *o = store_seek(q->res->coll, STR_NONE); o;
         o = store_next(q->res->coll, o)) {
        ptrdiff_t slash = str_find(o->key, '/');
        struct space *s = space_for(q, str_sub(o->key, 0, slash > 0 ? (size_t)slash : 0));
        s->stale = true;
        queue(s);
    }
}

/* ---- admission */

/* The quotas as they will be once all writes under way are done. */
static struct quota_now *with_held(struct arena *a, const struct space *s)
{
    struct quota_now *now = ARENA_ARRAY(a, struct quota_now, s->list.n + 1);

    for (size_t i = 0; i < s->list.n; i++) {
        now[i] = s->list.at[i].now;
        now[i].used = amounts_mask(a, &s->list.at[i].now.used, &s->list.at[i].now.used);
    }
    for (const struct quota_hold *h = s->of->held.next; h != &s->of->held; h = h->next) {
        if (!str_eq(h->ns, s->ns))
            continue;
        for (size_t i = 0; i < s->list.n; i++)
            for (size_t j = 0; j < h->n; j++)
                if (str_eq(now[i].name, h->quotas[j]))
                    amounts_add(&now[i].used, &h->delta[j]);
    }
    return now;
}

static void hold(struct api_req *r, const struct space *s, const struct amounts *delta,
                 struct quota_hold *h)
{
    struct quota_hold *ring = &r->api->quotas->held;
    str *names = ARENA_ARRAY(r->a, str, s->list.n);

    for (size_t i = 0; i < s->list.n; i++)
        names[i] = arena_str(r->a, s->list.at[i].now.name);
    *h = (struct quota_hold){ .prev = ring->prev,
                              .next = ring,
                              .ns = r->ns,
                              .quotas = names,
                              .delta = delta,
                              .n = s->list.n };
    ring->prev->next = h;
    ring->prev = h;
}

int quotas_admit(struct api_req *r, jv obj, jv old, struct quota_hold *h)
{
    struct space *s = r->res->namespaced ? map_get(&r->api->quotas->spaces, r->ns) : NULL;
    struct quota_write w = { r->res->group_resource, obj, old };

    if (!s)
        return 0;
    refresh(s);
    struct quota_now *now = with_held(r->a, s);
    struct amounts *delta = ARENA_ARRAY(r->a, struct amounts, s->list.n + 1);
    str why = quota_check(r->a, now, s->list.n, &w, delta);
    if (why.n) {
        fail_forbidden(r, meta_name(obj), "%" PRI_STR, STR_ARG(why));
        return -1;
    }
    if (!r->q.dry_run && s->list.n)
        hold(r, s, delta, h);
    return 0;
}

void quota_hold_release(struct quota_hold *h)
{
    if (!h->next)
        return;
    h->prev->next = h->next;
    h->next->prev = h->prev;
    *h = (struct quota_hold){ 0 };
}
