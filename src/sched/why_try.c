/* The world as it would be after some steps, given to sched_decide. */

#include "sched/why_try.h"

struct trial {
    struct arena *a;
    const struct why_scene *scene;
    const struct help_step *steps;
    size_t n;
    bool rewritten;                /* ours are created again, so they come last ... */
    const struct sched_gang *gang; /* ... and together; NULL: one by one */
};

static bool owns(const struct help_step *s, const struct sched_pod *pod)
{
    return str_eq(s->name, pod->owner_name) && str_eq(s->ns, pod->ns) &&
           str_eq(s->kind, pod->owner_kind);
}

static bool has_ended(const struct trial *t, const struct sched_pod *pod)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->steps[i].what == HELP_END && owns(&t->steps[i], pod))
            return true;
    return false;
}

bool why_is_ours(const struct why_scene *scene, const struct sched_pod *pod)
{
    for (size_t i = 0; i < scene->in->n_waiting; i++) {
        const struct sched_pod *own = scene->in->waiting[i].pod;
        if (scene->ours[i] && str_eq(own->owner_name, pod->owner_name) &&
            str_eq(own->owner_kind, pod->owner_kind) && str_eq(own->ns, pod->ns))
            return true;
    }
    return false;
}

static struct sched_amounts with_most(struct arena *a, const struct sched_amounts *l, str name,
                                      int64_t most)
{
    struct sched_amount *at = ARENA_ARRAY(a, struct sched_amount, l->n + 1);

    for (size_t i = 0; i < l->n; i++) {
        at[i] = l->at[i];
        if (str_eq(at[i].name, name) && at[i].n > most)
            at[i].n = most;
    }
    return (struct sched_amounts){ at, l->n };
}

static struct sched_amounts with_amount(struct arena *a, const struct sched_amounts *l, str name,
                                        int64_t n)
{
    struct sched_amounts out = with_most(a, l, name, INT64_MAX);
    struct sched_amount *at = (struct sched_amount *)(uintptr_t)out.at;
    size_t i = 0;

    while (i < l->n && !str_eq(at[i].name, name))
        i++;
    at[i] = (struct sched_amount){ name, n };
    out.n = i == l->n ? l->n + 1 : l->n;
    return out;
}

static jv tolerating(struct arena *a, jv tolerations, str key)
{
    struct jbuild b = jb_arr(a);

    JV_EACH (it, tolerations)
        jb_push(&b, it.value);
    jb_push(&b, jobj(a, { "key", jstr(a, key) }, { "operator", jstrz(a, "Exists") }));
    return jb_done(&b);
}

static const struct sched_pod *rewritten(const struct trial *t, const struct sched_pod *pod)
{
    struct sched_pod *p = ARENA_NEW(t->a, struct sched_pod);

    *p = *pod;
    p->created_ms = INT64_MAX;
    p->gang = t->gang;
    for (size_t i = 0; i < t->n; i++) {
        const struct help_step *s = &t->steps[i];
        if (s->what == HELP_LOWER)
            p->need = with_most(t->a, &p->need, s->resource, s->to);
        if (s->what == HELP_TOLERATE)
            p->tolerations = tolerating(t->a, p->tolerations, s->key);
        if (s->what != HELP_UNSELECT)
            continue;
        p->selector = JV_ABSENT;
        if (jv_exists(FIELD(p->affinity, "nodeAffinity")))
            p->affinity = jv_without(t->a, p->affinity, "nodeAffinity");
    }
    return p;
}

static const struct sched_node *node_after(const struct trial *t, const struct sched_node *node)
{
    struct sched_node *n = ARENA_NEW(t->a, struct sched_node);

    *n = *node;
    for (size_t i = 0; i < t->n; i++) {
        const struct help_step *s = &t->steps[i];
        if (!str_eq(s->node, n->name))
            continue;
        if (s->what == HELP_ADD)
            n->has = with_amount(t->a, &n->has, s->resource, s->to);
        if (s->what != HELP_UNCORDON)
            continue;
        struct jbuild taints = jb_arr(t->a);
        JV_EACH (it, n->taints) /* the node's controller writes this one */
            if (!str_eqz(FIELD_STR(it.value, "key"), "node.kubernetes.io/unschedulable"))
                jb_push(&taints, it.value);
        n->taints = jb_done(&taints);
        n->unschedulable = false;
    }
    return n;
}

static bool rewrites(const struct help_step *s)
{
    return s->what == HELP_LOWER || s->what == HELP_UNSELECT || s->what == HELP_TOLERATE;
}

/* Who changes a job's pods has all of them created again: those with a node wait, too. */
static void create_again(const struct trial *t, struct sched_input *out, struct sched_waiting *to,
                         bool *ours, const struct sched_pod *pod)
{
    struct sched_pod *p = ARENA_NEW(t->a, struct sched_pod);

    *p = *rewritten(t, pod);
    p->node = STR_NONE;
    to[out->n_waiting] = (struct sched_waiting){ .pod = p, .seq = UINT64_MAX };
    ours[out->n_waiting++] = true;
}

/* ours: by waiting of what is made. */
static struct sched_input world_after(const struct trial *t, bool *ours)
{
    const struct sched_input *in = t->scene->in;
    const struct sched_node **nodes = ARENA_ARRAY(t->a, const struct sched_node *, in->n_nodes + 1);
    const struct sched_pod **bound = ARENA_ARRAY(t->a, const struct sched_pod *, in->n_bound + 1);
    struct sched_waiting *waiting =
        ARENA_ARRAY(t->a, struct sched_waiting, in->n_waiting + in->n_bound + 1);
    struct sched_input out = { .nodes = nodes, .bound = bound, .waiting = waiting };

    for (size_t i = 0; i < in->n_nodes; i++)
        nodes[out.n_nodes++] = node_after(t, in->nodes[i]);
    for (size_t i = 0; i < in->n_bound; i++)
        if (t->rewritten && why_is_ours(t->scene, in->bound[i]))
            create_again(t, &out, waiting, ours, in->bound[i]);
        else if (!has_ended(t, in->bound[i]))
            bound[out.n_bound++] = in->bound[i];
    for (size_t i = 0; i < in->n_waiting; i++) {
        struct sched_waiting *w = &waiting[out.n_waiting];
        if (has_ended(t, in->waiting[i].pod))
            continue;
        *w = in->waiting[i];
        if (t->scene->ours[i] && t->rewritten) {
            w->pod = rewritten(t, w->pod);
            w->seq = UINT64_MAX;
        }
        ours[out.n_waiting++] = t->scene->ours[i];
    }
    return out;
}

static const struct sched_gang *gang_again(const struct trial *t)
{
    const struct sched_gang *of = NULL;
    struct sched_gang *g = ARENA_NEW(t->a, struct sched_gang);

    for (size_t i = 0; i < t->scene->in->n_waiting && !of; i++)
        of = t->scene->ours[i] ? t->scene->in->waiting[i].pod->gang : NULL;
    if (!of)
        return NULL;
    *g = *of;
    g->started = false;
    g->created_ms = INT64_MAX;
    return g;
}

bool why_try(const struct why_scene *scene, const struct help_step *steps, size_t n)
{
    AUTO(arena) struct arena *a = arena_new();
    struct trial t = { .a = a, .scene = scene, .steps = steps, .n = n };
    bool *ours = ARENA_ARRAY(a, bool, scene->in->n_waiting + scene->in->n_bound + 1);

    for (size_t i = 0; i < n; i++)
        t.rewritten = t.rewritten || rewrites(&steps[i]);
    t.gang = gang_again(&t);
    struct sched_input in = world_after(&t, ours);
    const struct sched_verdict *v = sched_decide(a, &in).pods;
    int64_t n_ours = 0, placed = 0;
    for (size_t i = 0; i < in.n_waiting; i++) {
        n_ours += ours[i];
        placed += v[i].node && ours[v[i].of - in.waiting];
    }
    return placed >= (scene->min && scene->min < n_ours ? scene->min : n_ours);
}
