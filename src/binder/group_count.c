/* Which pods are those of a PodGroup, and what they do. */

#include "binder/groups.h"

static bool asks_for_nothing(const struct sched_pod *p)
{
    for (size_t i = 0; i < p->need.n; i++)
        if (p->need.at[i].n)
            return false;
    return true;
}

static int64_t *count_of(struct group_pods *n, const struct pod *p)
{
    if (p->going || p->evicted)
        return &n->going;
    if (p->ended)
        return p->done ? &n->succeeded : &n->failed;
    if (p->is_running)
        return &n->running;
    if (p->state == POD_BOUND)
        return &n->bound;
    if (p->node)
        return &n->binding;
    return asks_for_nothing(&p->p) ? &n->weightless : &n->waiting;
}

static jv roles_of(const struct group *g)
{
    return jv_at(g->g.h.obj, "spec", "minTaskMember");
}

static bool is_seated(const struct pod *p)
{
    return p->ended || p->state == POD_BOUND || p->node;
}

/* Of roles that have a least number so many pods start together; others are members if there are
 * more to start than these. */
struct places {
    int64_t *left; /* of each role, in the order of the object */
    int64_t others;
};

static void take_place(struct group *g, struct places *w, struct pod *p)
{
    size_t i = 0;

    JV_EACH (it, roles_of(g)) {
        if (str_eq(it.key, p->role) && w->left[i] > 0) {
            w->left[i]--;
            return;
        }
        i++;
    }
    p->surplus = w->others <= 0 && !g->g.g.started && !is_seated(p);
    w->others -= !p->surplus;
}

/* p: of the group, those with a node first. */
static void look_at_roles(struct arena *a, struct group *g, struct pod *const *p, size_t n)
{
    jv roles = roles_of(g);
    struct places w = { ARENA_ARRAY(a, int64_t, jv_len(roles) + 1), group_min(g) };
    size_t i = 0;

    JV_EACH (it, roles) {
        w.left[i] = jv_int(it.value, 0);
        w.others -= w.left[i++];
    }
    for (size_t k = 0; k < n; k++)
        if (is_seated(p[k]))
            take_place(g, &w, p[k]);
    for (size_t k = 0; k < n; k++)
        if (!is_seated(p[k]))
            take_place(g, &w, p[k]);
    i = 0;
    JV_EACH (it, roles)
        if (w.left[i++] > 0)
            g->lacking_role = it.key;
}

/* Those of g alone; few groups have roles. */
static void collect_roles(struct arena *a, struct group *g)
{
    struct pod **of = ARENA_ARRAY(a, struct pod *, (size_t)group_pods_total(&g->pods) + 1);
    size_t n = 0;

    for (struct pod *p = g->members; p; p = p->sibling)
        if (!p->going)
            of[n++] = p;
    look_at_roles(a, g, of, n);
}

static struct reserve *find_reserve(struct gang *g, str member)
{
    struct reserve *r = g->reserves;

    while (r && (r->taken || (member.n && !str_eq(r->r.member, member))))
        r = r->next;
    return r;
}

static bool takes_place(const struct pod *p)
{
    return !p->going && !is_seated(p);
}

/* Pods of a group may have any name: those that wait take the places of members that are gone,
 * their own first. */
static void fill_gaps(struct arena *a, struct group *g)
{
    struct reserve *r;

    for (r = g->g.reserves; r; r = r->next)
        r->taken = false;
    for (struct pod *p = g->members; p; p = p->sibling)
        if (takes_place(p) && (r = find_reserve(&g->g, p->p.name)))
            r->taken = true;
    for (struct pod *p = g->members; p; p = p->sibling) {
        if (!takes_place(p))
            continue;
        for (r = g->g.reserves; r && !str_eq(r->r.member, p->p.name); r = r->next)
            ;
        if (!r && (r = find_reserve(&g->g, STR_NONE))) {
            r->taken = true;
            p->slot = arena_str(a, r->r.member); /* the reserve may be dropped in this pass */
        }
    }
}

void groups_count(struct binder *b, struct arena *a)
{
    GROUP_EACH (slot, form, b) {
        struct group *g = slot->value;
        g->pods = (struct group_pods){ 0 };
        g->members = NULL;
        g->is_void = false;
        g->lacking_role = STR_NONE;
    }
    MAP_EACH (slot, &b->pods.items) {
        struct pod *p = slot->value;
        struct gang *g = p->form ? gang_of_pod(p) : NULL;
        p->of = g;
        p->surplus = false;
        p->slot = STR_NONE;
        if (!g)
            continue;
        ++*count_of(&group_of(g)->pods, p);
        group_of(g)->is_void |= p->never && p->state == POD_WAITS;
        p->sibling = group_of(g)->members;
        group_of(g)->members = p;
    }
    GROUP_EACH (slot, form, b) {
        struct group *g = slot->value;
        if (jv_len(roles_of(g)))
            collect_roles(a, g);
        if (g->g.reserves)
            fill_gaps(a, g);
    }
}
