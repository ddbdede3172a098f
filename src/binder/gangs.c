/* Gangs: objects whose pods start together, which pods are members of which, and what is kept for
 * members that are gone. The binder's options have a function that reads such objects. */

#include "binder/groups.h"

#include "base/mem.h"
#include "base/time.h"

#include <stdlib.h>

/* ---- what a gang's object says */

struct gang *gang_find(const struct binder *b, str uid)
{
    return map_get(&b->gangs, uid);
}

static void reserve_free(struct reserve *r)
{
    arena_free(r->a);
    free(r);
}

static struct reserve **reserve_at(struct gang *g, str member)
{
    struct reserve **at = &g->reserves;

    while (*at && !str_eq((*at)->r.member, member))
        at = &(*at)->next;
    return at;
}

static void reserve_drop(struct gang *g, str member)
{
    struct reserve **at = reserve_at(g, member);
    struct reserve *r = *at;

    if (!r)
        return;
    *at = r->next;
    reserve_free(r);
}

void gang_drop_reserves(struct gang *g)
{
    while (g->reserves)
        reserve_drop(g, g->reserves->r.member);
}

/* "worker/0" is one of them if there is a worker of that number. */
static bool has_member(const struct gang *g, str member)
{
    str rest = member, role = str_cut(&rest, '/');
    int64_t index;

    if (g->is_group)
        return member.n > 0;
    return rest.p && str_to_int(rest, &index) && index >= 0 &&
           index < jv_int(jv_get(jv_get(g->h.obj, S("members")), role), 0);
}

static void read_gang(struct gang *g, jv obj)
{
    bool started = g->g.started;
    int64_t us = 0;

    (void)time_parse(jv_str(jv_at(obj, "metadata", "creationTimestamp"), S("")), &us, NULL);
    g->g = (struct sched_gang){ .uid = str_of(g->uid),
                                .ns = meta_namespace(obj),
                                .name = meta_name(obj),
                                .kind = jv_str(jv_get(obj, S("kind")), S("gang")),
                                .created_ms = us / 1000,
                                .min = jv_int(jv_get(obj, S("min")), 1),
                                .started = started,
                                .stopped = jv_bool(jv_get(obj, S("stopped")), false) };
}

static void gang_changed(struct shelf *s, struct held *h, jv obj, bool is_new)
{
    struct gang *g = (struct gang *)h;
    struct binder *b = s->b;

    (void)obj;
    if (is_new) {
        str uid = meta_uid(h->obj);
        g->uid = mem_or_abort(strndup(uid.p, uid.n));
        map_put(&b->gangs, str_of(g->uid), g);
    }
    read_gang(g, h->obj);
    b->gangs_due = true;
    for (struct reserve *r = g->reserves, *next; r; r = next) {
        next = r->next;
        if (g->g.stopped || !has_member(g, r->r.member))
            reserve_drop(g, r->r.member);
    }
    b->place_due = b->place_all = true;
    binder_work(b);
}

static void gang_gone(struct shelf *s, struct held *h)
{
    struct gang *g = (struct gang *)h;
    struct binder *b = s->b;

    map_remove(&b->gangs, str_of(g->uid));
    gang_drop_reserves(g);
    free(g->uid);
    b->place_due = b->place_all = true;
    binder_work(b);
}

/* ---- pods */

static bool gang_knows_kind(const struct binder *b, jv pod)
{
    jv owner = meta_controller(pod);

    if (!jv_exists(owner))
        return false;
    for (size_t i = 0; i < b->n_kinds; i++) {
        const struct kube_resource *res = b->kinds[i].ops.res;
        str group = jv_str(jv_get(owner, S("apiVersion")), S(""));
        if (str_eqz(jv_str(jv_get(owner, S("kind")), S("")), res->kind) &&
            str_eqz(str_cut(&group, '/'), res->group))
            return informer_is_listed(b->kinds[i].shelf.inf);
    }
    return false;
}

str gang_member_name(struct arena *a, jv pod)
{
    jv labels = meta_labels(pod);
    str role = jv_str(jv_get(labels, S(LABEL_ROLE)), STR_NONE);

    if (!role.n)
        return STR_NONE;
    return arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(role),
                        STR_ARG(jv_str(jv_get(labels, S(LABEL_INDEX)), S("0"))));
}

struct gang *gang_of_pod(const struct pod *p)
{
    struct gang *g;

    if (p->form) {
        struct group *found = group_find(p->b, p->form, p->p.ns, p->group);
        return found ? &found->g : NULL;
    }
    g = p->p.owner.n ? gang_find(p->b, p->p.owner) : NULL;
    /* whoever knows the uid of another namespace's gang has no pods in it */
    return g && str_eq(g->g.ns, p->p.ns) ? g : NULL;
}

bool gang_join(struct pod *p)
{
    struct gang *g = p->form ? p->of : gang_of_pod(p);

    p->p.gang = g ? &g->g : NULL;
    p->p.member =
        g && !p->surplus && !p->evicted && has_member(g, p->member) ? p->member : STR_NONE;
    if (p->p.member.n && p->slot.n)
        p->p.member = p->slot;
    if (p->form && g && str_eqz(p->p.owner_kind, "pod")) {
        p->p.owner_kind = g->g.kind; /* people know it by its group */
        p->p.owner_name = p->group;
    }
    if (p->form)
        return !g || !g->is_starting;
    return g ? !g->is_starting : !gang_knows_kind(p->b, p->h.obj);
}

void gang_lost(struct pod *p)
{
    struct gang *g = gang_of_pod(p);

    if (!g || !g->g.started || g->g.stopped || !has_member(g, p->member))
        return;
    if (g->is_group && p->came_placed)
        return; /* made and deleted again and again they would take all, past any quota */
    reserve_drop(g, p->member);
    struct reserve *r = mem_new(sizeof(*r));
    struct sched_amount *need;
    r->a = arena_new();
    need = ARENA_ARRAY(r->a, struct sched_amount, p->p.need.n + 1);
    for (size_t i = 0; i < p->p.need.n; i++)
        need[i] = (struct sched_amount){ arena_str(r->a, p->p.need.at[i].name), p->p.need.at[i].n };
    r->r = (struct sched_reserve){ .gang = &g->g,
                                   .member = arena_str(r->a, p->member),
                                   .node = arena_str(r->a, p->p.node),
                                   .need = { need, p->p.need.n } };
    r->next = g->reserves;
    g->reserves = r;
}

/* ---- a pass */

static int compare_members(const void *x, const void *y)
{
    const struct sched_pod *const *p = x, *const *q = y;
    int d = str_cmp((*p)->gang->uid, (*q)->gang->uid);

    return d ? d : str_cmp((*p)->member, (*q)->member);
}

/* Members that have a node, or had one and succeeded. */
static const struct sched_pod **seated(struct binder *b, struct arena *a, size_t *n)
{
    const struct sched_pod **all = ARENA_ARRAY(a, const struct sched_pod *, b->pods.items.n + 1);

    *n = 0;
    MAP_EACH (slot, &b->pods.items) {
        struct pod *p = slot->value;
        if (p->p.gang && p->p.member.n && (p->done || p->state == POD_BOUND || p->node))
            all[(*n)++] = &p->p;
    }
    qsort(all, *n, sizeof(*all), compare_members);
    return all;
}

static const struct pod *pod_of(const struct sched_pod *p)
{
    return (const struct pod *)((const char *)p - offsetof(struct pod, p));
}

/* Who is in a PodGroup beyond its least may go for good. */
static void drop_spare_reserves(struct gang *g)
{
    int64_t n = g->n_seated;

    for (const struct reserve *r = g->reserves; r; r = r->next)
        n++;
    for (; g->reserves && n > g->g.min; n--)
        reserve_drop(g, g->reserves->r.member);
}

static void count_seated(struct binder *b, struct arena *a)
{
    size_t n;
    const struct sched_pod **all = seated(b, a, &n);

    MAP_EACH (slot, &b->gangs)
        ((struct gang *)slot->value)->n_seated = ((struct gang *)slot->value)->g.n_done = 0;
    for (size_t i = 0; i < n; i++) {
        if (i && compare_members(&all[i - 1], &all[i]) == 0)
            continue;
        struct gang *g = gang_find(b, all[i]->gang->uid);
        g->n_seated++;
        g->g.n_done += pod_of(all[i])->done;
    }
    MAP_EACH (slot, &b->gangs) {
        struct gang *g = slot->value;
        g->g.started = g->n_seated && (g->g.started || g->n_seated >= g->g.min);
        if (g->is_group)
            drop_spare_reserves(g);
    }
}

void gang_collect(struct binder *b, struct arena *a)
{
    b->gangs_due = false;
    count_seated(b, a);
}

void gang_reserves(const struct binder *b, struct arena *a, struct sched_input *in)
{
    struct sched_reserve *reserves;
    size_t n = 0;

    MAP_EACH (slot, &b->gangs)
        for (struct reserve *r = ((struct gang *)slot->value)->reserves; r; r = r->next)
            n++;
    reserves = ARENA_ARRAY(a, struct sched_reserve, n + 1);
    in->reserves = reserves;
    in->n_reserves = 0;
    MAP_EACH (slot, &b->gangs)
        for (struct reserve *r = ((struct gang *)slot->value)->reserves; r; r = r->next)
            reserves[in->n_reserves++] = r->r;
}

void gangs_mark_starting(struct binder *b)
{
    MAP_EACH (slot, &b->gangs)
        ((struct gang *)slot->value)->is_starting = false;
    MAP_EACH (slot, &b->pods.items) {
        const struct pod *p = slot->value;
        struct gang *g = p->starts ? gang_of_pod(p) : NULL;
        if (g)
            g->is_starting = true;
    }
}

void gang_started(struct pod *p)
{
    struct gang *g = gang_of_pod(p);
    struct binder *b = p->b;

    if (!g)
        return;
    g->g.started = true;
    const struct reserve *r = *reserve_at(g, p->p.member);
    if (r && !str_eqz(r->r.node, p->node)) { /* others may have what was kept */
        b->place_due = b->place_all = true;
        binder_work(b);
    }
    reserve_drop(g, p->p.member);
    if (p->slot.n)
        p->p.member = p->member;
    p->slot = STR_NONE;
}

/* ---- kinds */

void gangs_init(struct binder *b)
{
    const struct binder_gangs *o = &b->o.gangs;

    b->kinds = mem_new((o->n_kinds + 1) * sizeof(*b->kinds));
    b->n_kinds = o->n_kinds;
    for (size_t i = 0; i < b->n_kinds; i++) {
        struct gang_kind *k = &b->kinds[i];
        k->ops = (struct shelf_ops){ o->kinds[i], sizeof(struct gang), o->read, gang_changed,
                                     gang_gone };
        shelf_init(&k->shelf, b, &k->ops);
    }
    for (enum group_form form = GROUP_VOLCANO; form < GROUP_FORMS; form++)
        shelf_init(&b->groups[form], b, group_shelf(form));
    shelf_init(&b->queues, b, &queue_shelf);
    shelf_init(&b->priorities, b, &priority_shelf);
    shelf_init(&b->quotas, b, &quota_shelf);
}

void gangs_start(struct binder *b)
{
    for (size_t i = 0; i < b->n_kinds; i++)
        informer_start(b->kinds[i].shelf.inf);
    if (b->o.no_placing)
        return; /* they are served with our scheduler alone */
    informer_start(b->priorities.inf);
    informer_start(b->quotas.inf);
    informer_start(b->queues.inf);
    for (enum group_form form = GROUP_VOLCANO; form < GROUP_FORMS; form++)
        if (group_form_is_on(b, form))
            informer_start(b->groups[form].inf);
}

static bool is_read(const struct informer *inf)
{
    return informer_is_listed(inf) || !informer_is_served(inf);
}

bool gangs_are_synced(const struct binder *b)
{
    for (size_t i = 0; i < b->n_kinds; i++)
        if (!is_read(b->kinds[i].shelf.inf))
            return false;
    if (b->o.no_placing)
        return true;
    for (enum group_form form = GROUP_VOLCANO; form < GROUP_FORMS; form++)
        if (group_form_is_on(b, form) && !is_read(b->groups[form].inf))
            return false;
    return is_read(b->queues.inf) && is_read(b->priorities.inf) && is_read(b->quotas.inf);
}

void gangs_done(struct binder *b)
{
    for (size_t i = 0; i < b->n_kinds; i++)
        shelf_done(&b->kinds[i].shelf);
    for (enum group_form form = GROUP_VOLCANO; form < GROUP_FORMS; form++)
        shelf_done(&b->groups[form]);
    shelf_done(&b->queues);
    shelf_done(&b->priorities);
    shelf_done(&b->quotas);
    loop_timer_stop(b->group_timer);
    map_done(&b->gangs);
    free(b->kinds);
}
