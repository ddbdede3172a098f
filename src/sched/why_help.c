/* Looks for the least that would be enough: others that end, less that is asked for, other nodes,
 * a machine that offers more. */

#include "sched/why_internal.h"
#include "sched/why_try.h"

enum { OWNERS_MAX = 32, SINGLES_MAX = 3, MEBI = 1 << 20 };

struct finder {
    struct arena *a;
    const struct why_scene *scene;
    const struct why *why;
    struct why_help *out;
    size_t n;
};

static void add_help(struct finder *f, const struct help_step *steps, size_t n)
{
    struct help_step *copy = ARENA_ARRAY(f->a, struct help_step, n + 1);

    if (f->n == HELPS_MAX || !n)
        return;
    memcpy(copy, steps, n * sizeof(*steps));
    f->out[f->n++] = (struct why_help){ copy, n };
}

static bool try_help(struct finder *f, const struct help_step *steps, size_t n)
{
    if (!n || !why_try(f->scene, steps, n))
        return false;
    add_help(f, steps, n);
    return true;
}

/* ---- others that end */

struct owners {
    struct help_step at[OWNERS_MAX];
    size_t n;
};

static void add_owner(struct owners *o, str kind, str ns, str name)
{
    for (size_t i = 0; i < o->n; i++)
        if (str_eq(o->at[i].name, name) && str_eq(o->at[i].ns, ns) && str_eq(o->at[i].kind, kind))
            return;
    if (o->n < OWNERS_MAX)
        o->at[o->n++] =
            (struct help_step){ .what = HELP_END, .kind = kind, .ns = ns, .name = name };
}

static void add_those_before(const struct why_scene *scene, struct owners *o)
{
    const struct sched_input *in = scene->in;
    const struct sched_waiting *last = NULL;

    for (size_t i = 0; i < in->n_waiting; i++)
        if (scene->ours[i] && (!last || waiting_compare(last, &in->waiting[i]) < 0))
            last = &in->waiting[i];
    for (size_t i = 0; last && i < in->n_waiting; i++) {
        const struct sched_pod *p = in->waiting[i].pod;
        if (!scene->ours[i] && !in->waiting[i].refused.n && !why_is_ours(scene, p) &&
            waiting_compare(&in->waiting[i], last) < 0)
            add_owner(o, p->owner_kind, p->ns, p->owner_name);
    }
}

size_t why_queue_before(struct arena *a, const struct why_scene *scene,
                        const struct help_step **out)
{
    struct owners *o = ARENA_NEW(a, struct owners);

    add_those_before(scene, o);
    *out = o->at;
    return o->n;
}

/* The holders of what is missing first, the largest of them first. */
static void find_owners(const struct finder *f, struct owners *o)
{
    const struct sched_input *in = f->scene->in;

    for (size_t i = 0; i < f->why->n_lacks; i++)
        for (size_t k = 0; k < f->why->lacks[i].n_holders; k++) {
            const struct why_holder *h = &f->why->lacks[i].holders[k];
            struct sched_pod like = { .ns = h->ns, .owner_kind = h->kind, .owner_name = h->name };
            if (h->ns.n && !why_is_ours(f->scene, &like))
                add_owner(o, h->kind, h->ns, h->name);
        }
    add_those_before(f->scene, o);
    for (size_t i = 0; i < in->n_bound; i++)
        if (in->bound[i]->ns.n && !why_is_ours(f->scene, in->bound[i]))
            add_owner(o, in->bound[i]->owner_kind, in->bound[i]->ns, in->bound[i]->owner_name);
}

/* Enough of them, and then none that is not needed. */
static void find_several(struct finder *f, struct owners *o)
{
    size_t n = 1;

    while (n <= o->n && !why_try(f->scene, o->at, n))
        n++;
    if (n > o->n)
        return;
    for (size_t i = n; i-- > 0 && n > 1;) {
        struct help_step out = o->at[i];
        memmove(&o->at[i], &o->at[i + 1], (n - i - 1) * sizeof(out));
        if (why_try(f->scene, o->at, n - 1)) {
            n--;
            continue;
        }
        memmove(&o->at[i + 1], &o->at[i], (n - i - 1) * sizeof(out));
        o->at[i] = out;
    }
    add_help(f, o->at, n);
}

static void find_ends(struct finder *f)
{
    struct owners o = { 0 };
    size_t found = 0;

    find_owners(f, &o);
    for (size_t i = 0; i < o.n && found < SINGLES_MAX; i++)
        found += try_help(f, &o.at[i], 1);
    if (!found)
        find_several(f, &o);
}

/* ---- less that is asked for */

static int64_t most_asked(const struct why_scene *scene, str resource)
{
    int64_t most = 0;

    for (size_t i = 0; i < scene->in->n_waiting; i++) {
        int64_t n = why_need_of(scene->in->waiting[i].pod, resource);
        if (scene->ours[i] && n > most)
            most = n;
    }
    return most;
}

/* The most that still fits, in steps that people would write. */
static void raise(const struct finder *f, struct help_step *steps, size_t n, size_t i)
{
    bool in_bytes = str_eqz(steps[i].resource, "memory") ||
                    str_eqz(steps[i].resource, "ephemeral-storage") ||
                    str_starts(steps[i].resource, S("hugepages-"));
    int64_t unit = in_bytes ? MEBI : 1, low = 0, high = steps[i].from / unit + 1;

    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        steps[i].to = middle * unit;
        if (why_try(f->scene, steps, n))
            low = middle;
        else
            high = middle;
    }
    steps[i].to = low * unit;
}

static void find_lower(struct finder *f)
{
    struct help_step *steps = ARENA_ARRAY(f->a, struct help_step, f->why->n_lacks + 1);
    size_t n = 0;
    bool is_less = false;

    for (size_t i = 0; i < f->why->n_lacks; i++) {
        const struct why_lack *l = &f->why->lacks[i];
        if (!str_eqz(l->resource, "pods"))
            steps[n++] = (struct help_step){ .what = HELP_LOWER,
                                             .resource = l->resource,
                                             .from = most_asked(f->scene, l->resource) };
    }
    if (!n || !why_try(f->scene, steps, n))
        return;
    for (size_t i = 0; i < n; i++) {
        raise(f, steps, n, i);
        is_less = is_less || steps[i].to < steps[i].from;
    }
    if (is_less) /* else being created again would be all that helps */
        try_help(f, steps, n);
}

/* ---- other nodes */

static bool has_selector(const struct why_scene *scene)
{
    for (size_t i = 0; i < scene->in->n_waiting; i++) {
        const struct sched_pod *p = scene->in->waiting[i].pod;
        if (scene->ours[i] &&
            (jv_len(p->selector) || jv_exists(FIELD(p->affinity, "nodeAffinity"))))
            return true;
    }
    return false;
}

/* All taints of one node, so that it can be used. */
static size_t tolerate_node(const struct sched_node *n, struct help_step *steps, size_t cap)
{
    size_t found = 0;

    JV_EACH (it, n->taints) {
        str key = FIELD_STR(it.value, "key");
        if (str_eqz(FIELD_STR(it.value, "effect"), "PreferNoSchedule"))
            continue;
        if (found == cap || str_starts(key, S("node.kubernetes.io/")))
            return 0;
        steps[found++] = (struct help_step){ .what = HELP_TOLERATE, .key = key };
    }
    return found;
}

static void find_nodes(struct finder *f)
{
    const struct sched_input *in = f->scene->in;
    struct help_step steps[8] = { { .what = HELP_UNSELECT } };
    bool done = false;

    if (has_selector(f->scene))
        try_help(f, steps, 1);
    for (size_t i = 0; i < in->n_nodes && !done; i++)
        done = try_help(f, steps, tolerate_node(in->nodes[i], steps, COUNT(steps)));
    done = false;
    for (size_t i = 0; i < in->n_nodes && !done; i++) {
        steps[0] = (struct help_step){ .what = HELP_UNCORDON, .node = in->nodes[i]->name };
        done = in->nodes[i]->unschedulable && try_help(f, steps, 1);
    }
}

/* ---- a machine that offers more */

static int64_t asked_before(const struct finder *f, str resource)
{
    const struct sched_input *in = f->scene->in;
    int64_t n = 0;

    for (size_t i = 0; i < in->n_waiting; i++)
        if (!f->scene->ours[i])
            n = amount_sum(n, why_need_of(in->waiting[i].pod, resource));
    return n;
}

/* others: so much that those who wait, too, are no reason. */
static bool try_add(struct finder *f, bool others)
{
    struct help_step *steps = ARENA_ARRAY(f->a, struct help_step, f->why->n_lacks + 1);
    size_t n = 0;

    for (size_t i = 0; i < f->why->n_lacks; i++) {
        const struct why_lack *l = &f->why->lacks[i];
        int64_t more = others ? asked_before(f, l->resource) : 0;
        if (l->scope == WHY_TOTAL)
            steps[n++] =
                (struct help_step){ .what = HELP_ADD,
                                    .node = f->scene->in->nodes[0]->name,
                                    .resource = l->resource,
                                    .from = l->has,
                                    .to = amount_sum(amount_sum(l->has, l->need - l->free), more) };
    }
    return try_help(f, steps, n);
}

static void find_add(struct finder *f)
{
    if (f->scene->can_add && f->scene->in->n_nodes == 1 && !try_add(f, false))
        try_add(f, true);
}

size_t why_help_find(struct arena *a, const struct why_scene *scene, const struct why *why,
                     struct why_help out[HELPS_MAX])
{
    struct finder f = { .a = a, .scene = scene, .why = why, .out = out };

    if (why->partial || why->cause == WHY_REFUSED || why->cause == WHY_MEMBERS)
        return 0;
    if (why_try(scene, NULL, 0)) /* it is not this that it waits for */
        return 0;
    find_ends(&f);
    find_lower(&f);
    find_nodes(&f);
    find_add(&f);
    return f.n;
}
