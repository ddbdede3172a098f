/* Pods, services and other things jobs own: taken in from watches and from the answers to our own
 * writes alike, so that the next pass sees what the last one did. Revisions decide what is newer:
 * a watch that lags does not undo what an answer told, and an answer that comes late does not bring
 * back what the watch saw go. */

#include "ctl/internal.h"

#include "base/mem.h"
#include "kube/meta.h"

struct store *store_of(struct ctl *c, const struct kube_resource *res)
{
    for (size_t i = 0; i < c->n_stores; i++)
        if (strcmp(c->stores[i].res->plural, res->plural) == 0 &&
            strcmp(c->stores[i].res->group, res->group) == 0)
            return &c->stores[i];
    return NULL;
}

bool store_may_lack(const struct store *s)
{
    if (s->what == ITEM_CLASS)
        return informer_trouble(s->inf).n > 0;
    return s->what == ITEM_OTHER && !s->needed && !informer_is_served(s->inf);
}

bool store_is_ready(const struct store *s)
{
    return informer_is_listed(s->inf) || store_may_lack(s) ||
           (s->needed && !informer_is_served(s->inf));
}

struct kind *kind_of_controller(struct ctl *c, str controller)
{
    for (size_t i = 0; i < c->n_kinds; i++)
        if (str_eqz(controller, c->kinds[i].planner->controller))
            return &c->kinds[i];
    return NULL;
}

static str key_of(struct arena *a, str ns, str name)
{
    return arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(ns), STR_ARG(name));
}

struct item *item_find(const struct store *s, str ns, str name)
{
    AUTO(arena) struct arena *a = arena_new();

    return map_get(&s->items, key_of(a, ns, name));
}

/* ---- who it belongs to */

static struct item_list *list_of(struct ctl_job *j, const struct item *it)
{
    struct item_list *lists[] = {
        [ITEM_POD] = &j->pods, [ITEM_SERVICE] = &j->services, [ITEM_OTHER] = &j->others
    };

    return lists[it->what];
}

const struct orphans *orphans_of(const struct ctl *c, const struct ctl_job *j)
{
    AUTO(arena) struct arena *a = arena_new();

    if (!c->orphans.n)
        return NULL;
    return map_get(&c->orphans, arena_printf(a, "%s/%s", j->kind->planner->controller, j->key));
}

static void orphan_link(struct ctl *c, struct item *it, str controller, str for_job)
{
    AUTO(arena) struct arena *a = arena_new();
    str ns = { it->text, it->n_ns };
    str job_key = key_of(a, ns, for_job);
    str key = key_of(a, controller, job_key);
    struct kind *k = kind_of_controller(c, controller);
    struct orphans *o = map_get(&c->orphans, key);

    if (!k || !for_job.n)
        return;
    if (!o) {
        o = mem_new(sizeof(*o) + key.n + 1);
        memcpy(o->key, key.p, key.n);
        map_put(&c->orphans, str_of(o->key), o);
    }
    vec_push(&o->items, it);
    it->orphans = o;
    ctl_job_items_changed(c, map_get(&k->jobs, job_key));
}

static void orphan_unlink(struct ctl *c, struct item *it)
{
    struct orphans *o = it->orphans;

    if (!o)
        return;
    for (size_t i = 0; i < o->items.n; i++)
        if (o->items.at[i] == it)
            o->items.at[i--] = o->items.at[--o->items.n];
    if (o->items.n)
        return;
    map_remove(&c->orphans, str_of(o->key));
    vec_done(&o->items);
    free(o);
}

static void unlink_item(struct store *s, struct item *it)
{
    map_remove(&s->items, item_key(it));
    orphan_unlink(s->c, it);
    if (!it->job)
        return;
    item_list_remove(&s->c->slab, list_of(it->job, it), it);
    ctl_job_release(s->c, it->job);
}

static void link_item(struct store *s, struct item *it, jv obj)
{
    str owner = jv_str(jv_at(meta_controller(obj), "uid"), S(""));
    jv labels = meta_labels(obj);

    map_put(&s->items, item_key(it), it);
    if (owner.n && it->what != ITEM_CLASS) {
        it->job = ctl_job_of_uid(s->c, owner);
        item_list_add(&s->c->slab, list_of(it->job, it), it);
    } else if (it->what == ITEM_SERVICE) {
        orphan_link(s->c, it, jv_str(jv_at(labels, LABEL_OPERATOR), S("")),
                    jv_str(jv_at(labels, LABEL_JOB), S("")));
    }
}

/* ---- in and out */

static struct item *read_item(struct arena *a, struct store *s, jv obj)
{
    str ns = meta_namespace(obj);

    if (s->what == ITEM_POD) {
        struct kind *k =
            kind_of_controller(s->c, jv_str(jv_at(meta_labels(obj), LABEL_OPERATOR), S("")));
        struct seen_pod p = seen_pod_read(a, obj, k ? k->planner->main_container : NULL);
        return item_of_pod(&s->c->slab, ns, &p);
    }
    if (s->what == ITEM_SERVICE) {
        struct seen_service v = seen_service_read(a, obj);
        return item_of_service(&s->c->slab, ns, &v);
    }
    if (s->what == ITEM_CLASS)
        return item_of_class(&s->c->slab, obj);
    return item_of_other(&s->c->slab, jv_without(a, obj, "metadata", "managedFields"));
}

/* Whether what comes is no news: as old as what is known, or gone since. */
static bool is_old(const struct store *s, struct item *old, uint64_t rev, enum put_from from)
{
    if (!rev)
        return false;
    if (!old)
        return from != PUT_WATCH && rev <= informer_rev(s->inf);
    if (!old->rev || rev > old->rev)
        return false;
    old->seen = informer_number(s->inf);
    return true;
}

/* Those that do not own it, but look at it. */
static void tell_others(struct store *s, const struct item *it)
{
    struct ctl *c = s->c;

    if (s->what == ITEM_CLASS)
        for (size_t i = 0; i < c->n_kinds; i++)
            ctl_jobs_touch_all(&c->kinds[i]);
    else if (s->needed)
        ctl_jobs_touch_named(c, item_key(it));
}

bool item_put(struct store *s, jv obj, enum put_from from)
{
    AUTO(arena) struct arena *a = arena_new();
    str ns = meta_namespace(obj), name = meta_name(obj), uid = meta_uid(obj);
    str owner = jv_str(jv_at(meta_controller(obj), "uid"), S(""));
    uint64_t rev = revision_of(meta_resource_version(obj));
    struct item *old = map_get(&s->items, key_of(a, ns, name));

    if (!name.n || !uid.n || ns.n + name.n > 1024)
        return false;
    if (is_old(s, old, rev, from))
        return old != NULL;
    struct item *it = read_item(a, s, obj);
    bool same = old && str_eq(item_uid(old), uid);
    it->asked_s = same ? old->asked_s : 0;
    it->rev = rev;
    it->seen = informer_number(s->inf);
    if (same && item_equal(old, it) && str_eq(old->job ? ctl_job_uid(old->job) : S(""), owner)) {
        old->rev = it->rev;
        old->seen = it->seen;
        item_free(&s->c->slab, it);
        return true;
    }
    struct ctl_job *was = old ? old->job : NULL;
    if (was && from == PUT_WATCH)
        ctl_job_items_changed(s->c, was);
    if (old)
        unlink_item(s, old);
    link_item(s, it, obj);
    item_free(&s->c->slab, old);
    if (it->job && it->job != was && from == PUT_WATCH)
        ctl_job_items_changed(s->c, it->job);
    if (from == PUT_WATCH)
        tell_others(s, it);
    return true;
}

void item_drop(struct store *s, struct item *it)
{
    AUTO(arena) struct arena *a = arena_new();
    str ns = arena_str(a, (str){ it->text, it->n_ns });
    str name = arena_str(a, item_name(it));

    ctl_job_items_changed(s->c, it->job);
    tell_others(s, it);
    unlink_item(s, it);
    item_free(&s->c->slab, it);
    name_freed(s->c, s->res, ns, name);
}

void item_gone(struct store *s, jv obj)
{
    struct item *it = item_find(s, meta_namespace(obj), meta_name(obj));
    uint64_t rev = revision_of(meta_resource_version(obj));

    if (!it || (!str_eq(item_uid(it), meta_uid(obj)) && rev && rev < it->rev))
        return;
    item_drop(s, it);
}

void item_sweep(struct store *s, unsigned n, uint64_t rev)
{
    MAP_EACH (slot, &s->items) {
        struct item *it = slot->value;
        if (it->seen != n && (!rev || !it->rev || it->rev <= rev))
            item_drop(s, it);
    }
}

void cache_free(struct ctl *c)
{
    for (size_t i = 0; i < c->n_stores; i++) {
        MAP_EACH (s, &c->stores[i].items)
            item_free(&c->slab, s->value);
        map_done(&c->stores[i].items);
    }
    MAP_EACH (s, &c->orphans) {
        struct orphans *o = s->value;
        vec_done(&o->items);
        free(o);
    }
    map_done(&c->orphans);
}
