/* The records of jobs: by uid, as that is what everything a job owns says, and by name within a
 * kind, as that is what the watch says. A record may come before its job, when its pods were seen
 * first, and stay after it, until they are gone. */

#include "ctl/internal.h"

#include "kube/meta.h"

struct ctl_job *ctl_job_of_uid(struct ctl *c, str uid)
{
    struct ctl_job *j = map_get(&c->jobs, uid);

    if (j)
        return j;
    if (uid.n > UINT16_MAX)
        uid.n = UINT16_MAX;
    j = slab_alloc(&c->slab, sizeof(*j) + uid.n + 1);
    memset(j, 0, sizeof(*j) + uid.n + 1);
    memcpy(j->uid, uid.p ? uid.p : "", uid.n);
    j->n_uid = (uint16_t)uid.n;
    j->state = JOB_NONE;
    map_put(&c->jobs, ctl_job_uid(j), j);
    return j;
}

static void ctl_job_free(struct ctl *c, struct ctl_job *j)
{
    queue_forget(&c->queue, &j->q);
    job_advance(c, j, JOB_ON_GONE);
    if (j->read) {
        kube_cancel(c->api, j->read);
        c->n_reading--;
    }
    map_remove(&c->jobs, ctl_job_uid(j));
    holds_free(c, j);
    if (j->facts)
        event_budget_done(&j->facts->budget);
    slab_free(&c->slab, j->facts, sizeof(*j->facts));
    item_list_done(&c->slab, &j->pods);
    item_list_done(&c->slab, &j->services);
    item_list_done(&c->slab, &j->others);
    slab_free(&c->slab, j->text, j->n_text);
    slab_free(&c->slab, j->key, j->key ? strlen(j->key) + 1 : 0);
    slab_free(&c->slab, j, sizeof(*j) + j->n_uid + 1);
}

void ctl_job_release(struct ctl *c, struct ctl_job *j)
{
    if (!j->text && !j->run && !j->pods.n && !j->services.n && !j->others.n)
        ctl_job_free(c, j);
}

struct facts *ctl_job_facts(struct ctl *c, struct ctl_job *j)
{
    if (!j->facts) {
        j->facts = slab_alloc(&c->slab, sizeof(*j->facts));
        *j->facts = (struct facts){ 0 };
    }
    return j->facts;
}

/* ---- when to look at one */

void ctl_job_touch(struct ctl *c, struct ctl_job *j)
{
    job_advance(c, j, JOB_ON_ITEMS);
    if (job_is_at_rest(j->state))
        queue_add(&c->queue, &j->q);
}

static void told(struct ctl *c, struct ctl_job *j)
{
    if (!j->touched_us && j->kind && j->kind->ready)
        j->touched_us = queue_us();
    ctl_job_touch(c, j);
}

void ctl_job_items_changed(struct ctl *c, struct ctl_job *j)
{
    if (j && j->state != JOB_QUIET)
        told(c, j);
}

void ctl_jobs_touch_all(struct kind *k)
{
    MAP_EACH (s, &k->jobs)
        ctl_job_touch(k->c, s->value);
}

void ctl_jobs_touch_named(struct ctl *c, str key)
{
    for (size_t i = 0; i < c->n_kinds; i++)
        ctl_job_items_changed(c, map_get(&c->kinds[i].jobs, key));
}

/* ---- the object */

static void forget_object(struct ctl *c, struct ctl_job *j)
{
    if (!j->text)
        return;
    map_remove(&j->kind->jobs, str_of(j->key));
    queue_forget(&c->queue, &j->q);
    slab_free(&c->slab, j->text, j->n_text);
    j->text = NULL;
    j->n_text = 0;
    job_advance(c, j, JOB_ON_GONE);
    holds_free(c, j);
    ctl_job_release(c, j);
}

static void keep_text(struct ctl *c, struct ctl_job *j, jv obj)
{
    AUTO(buf) struct buf b = { 0 };

    json_print(&b, obj);
    slab_free(&c->slab, j->text, j->n_text);
    j->text = slab_alloc(&c->slab, b.n);
    memcpy(j->text, b.p, b.n);
    j->n_text = (uint32_t)b.n;
}

/* What lists leave out, and what nobody reads. */
static jv tidy(struct arena *a, const struct kind *k, jv obj)
{
    const struct kube_resource *r = k->planner->res;

    if (!jv_exists(jv_at(obj, "kind"))) {
        str version =
            *r->group ? arena_printf(a, "%s/%s", r->group, r->version) : str_of(r->version);
        struct jbuild b = jb_obj(a);
        jb_add(&b, S("apiVersion"), jstr(a, version));
        jb_add(&b, S("kind"), jstr(a, str_of(r->kind)));
        JV_EACH (it, obj)
            if (!str_eqz(it.key, "apiVersion"))
                jb_add(&b, it.key, it.value);
        obj = jb_done(&b);
    }
    if (jv_exists(jv_at(obj, "metadata", "managedFields")))
        obj = jv_without(a, obj, "metadata", "managedFields");
    const char *applied = "kubectl.kubernetes.io/last-applied-configuration";
    if (jv_exists(jv_at(obj, "metadata", "annotations", applied)))
        obj = jv_without(a, obj, "metadata", "annotations", applied);
    return obj;
}

/* The record that is to have the object, without what another job of that name left; NULL: what is
 * known is as new. */
static struct ctl_job *place_for(struct kind *k, str key, str uid, uint64_t rev)
{
    struct ctl_job *old = map_get(&k->jobs, key);

    if (old && rev && old->rev && rev <= old->rev) {
        old->seen = informer_number(k->inf);
        return NULL;
    }
    if (old && !str_eq(ctl_job_uid(old), uid))
        forget_object(k->c, old);
    return ctl_job_of_uid(k->c, uid);
}

void ctl_job_put(struct kind *k, jv obj, bool fresh)
{
    AUTO(arena) struct arena *a = arena_new();
    str ns = meta_namespace(obj), name = meta_name(obj), uid = meta_uid(obj);
    str key = arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(ns), STR_ARG(name));
    uint64_t rev = revision_of(meta_resource_version(obj));

    if (!name.n || !uid.n || ns.n > UINT16_MAX)
        return;
    bool known = map_get(&k->jobs, key) != NULL;
    if (!fresh && !known && rev && rev <= informer_rev(k->inf))
        return; /* gone again */
    struct ctl_job *j = place_for(k, key, uid, rev);
    if (!j)
        return;
    if (j->kind && j->kind != k)
        return; /* no two objects have one uid */
    if (!j->key) {
        j->key = slab_alloc(&k->c->slab, key.n + 1);
        memcpy(j->key, key.p, key.n + 1);
        j->n_ns = (uint16_t)ns.n;
    }
    j->kind = k;
    j->rev = rev;
    j->seen = informer_number(k->inf);
    job_advance(k->c, j, fresh ? JOB_ON_TOLD : JOB_ON_LEARNT);
    keep_text(k->c, j, tidy(a, k, obj));
    map_put(&k->jobs, str_of(j->key), j);
    if (fresh)
        told(k->c, j);
}

void ctl_job_gone(struct kind *k, jv obj)
{
    AUTO(arena) struct arena *a = arena_new();
    str key = arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(meta_namespace(obj)),
                           STR_ARG(meta_name(obj)));
    struct ctl_job *j = map_get(&k->jobs, key);
    uint64_t rev = revision_of(meta_resource_version(obj));

    if (!j || (!str_eq(ctl_job_uid(j), meta_uid(obj)) && rev && rev < j->rev))
        return;
    forget_object(k->c, j);
}

void ctl_job_sweep(struct kind *k, unsigned n, uint64_t rev)
{
    MAP_EACH (s, &k->jobs) {
        struct ctl_job *j = s->value;
        if (j->seen != n && (!rev || !j->rev || j->rev <= rev))
            forget_object(k->c, j);
    }
}

void ctl_job_slim(struct ctl *c, struct ctl_job *j, jv slim)
{
    keep_text(c, j, slim);
    holds_free(c, j);
    if (j->facts)
        event_budget_done(&j->facts->budget);
    slab_free(&c->slab, j->facts, sizeof(*j->facts));
    j->facts = NULL;
}

void ctl_jobs_free(struct ctl *c)
{
    MAP_EACH (s, &c->jobs)
        ctl_job_free(c, s->value);
    map_done(&c->jobs);
    for (size_t i = 0; i < c->n_kinds; i++)
        map_done(&c->kinds[i].jobs);
}
