/* What nodes have and who holds it, one resource after another as they are asked for: hundreds of
 * units may be explained with one look at the pods. */

#include "sched/why_internal.h"

static int64_t amount_in(const struct sched_amounts *l, str name)
{
    for (size_t i = 0; i < l->n; i++)
        if (str_eq(l->at[i].name, name))
            return l->at[i].n;
    return 0;
}

int64_t why_need_of(const struct sched_pod *pod, str resource)
{
    return str_eqz(resource, "pods") ? 1 : amount_in(&pod->need, resource);
}

static int compare_nodes(const void *x, const void *y)
{
    const struct sched_node *const *n = x, *const *m = y;

    return str_cmp((*n)->name, (*m)->name);
}

static size_t node_index(const struct why_world *w, str name)
{
    size_t lo = 0;

    for (size_t hi = w->n; lo < hi;) {
        size_t mid = lo + (hi - lo) / 2;
        if (str_cmp(w->nodes[mid]->name, name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < w->n && str_eq(w->nodes[lo]->name, name) ? lo : w->n;
}

struct why_world *why_world_new(struct arena *a, const struct sched_node *const *nodes,
                                size_t n_nodes, const struct sched_pod *const *bound,
                                size_t n_bound)
{
    struct why_world *w = ARENA_NEW(a, struct why_world);

    *w = (struct why_world){ .a = a, .n = n_nodes, .bound = bound, .n_bound = n_bound };
    w->nodes = ARENA_ARRAY(a, const struct sched_node *, n_nodes + 1);
    if (n_nodes)
        memcpy(w->nodes, nodes, n_nodes * sizeof(struct sched_node *));
    qsort(w->nodes, n_nodes, sizeof(struct sched_node *), compare_nodes);
    w->node_of = ARENA_ARRAY(a, size_t, n_bound + 1);
    for (size_t i = 0; i < n_bound; i++)
        w->node_of[i] = node_index(w, bound[i]->node);
    return w;
}

void why_world_set_partial(struct why_world *w)
{
    w->partial = true;
}

/* Whoever makes pods names resources, and each is a look at all pods. */
bool world_is_full(const struct why_world *w, str name)
{
    enum { MANY = 128 };
    const struct why_resource *r = w->n_resources < MANY ? NULL : w->resources;

    while (r && !str_eq(r->name, name))
        r = r->next;
    return w->n_resources >= MANY && !r;
}

struct why_resource *world_resource(struct why_world *w, str name)
{
    struct why_resource *r = w->resources;

    while (r && !str_eq(r->name, name))
        r = r->next;
    if (r)
        return r;
    r = ARENA_NEW(w->a, struct why_resource);
    *r = (struct why_resource){ .name = name,
                                .has = ARENA_ARRAY(w->a, int64_t, w->n + 1),
                                .used = ARENA_ARRAY(w->a, int64_t, w->n + 1),
                                .next = w->resources };
    w->resources = r;
    w->n_resources++;
    for (size_t i = 0; i < w->n; i++)
        r->has[i] = amount_in(&w->nodes[i]->has, name);
    for (size_t i = 0; i < w->n_bound; i++) {
        int64_t *used = &r->used[w->node_of[i]]; /* one more than nodes: pods elsewhere */
        *used = amount_sum(*used, why_need_of(w->bound[i], name));
    }
    return r;
}

/* ---- holders */

static int compare_owners(const struct why_holder *x, const struct why_holder *y)
{
    int d = str_cmp(x->kind, y->kind);

    d = d ? d : str_cmp(x->ns, y->ns);
    return d ? d : str_cmp(x->name, y->name);
}

static int by_owner(const void *x, const void *y)
{
    return compare_owners(x, y);
}

static int by_size(const void *x, const void *y)
{
    const struct why_holder *h = x, *k = y;

    if (h->n != k->n)
        return h->n > k->n ? -1 : 1;
    return compare_owners(h, k);
}

static size_t merge_owners(struct why_holder *at, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        struct why_holder *h = kept ? &at[kept - 1] : NULL;
        if (!h || compare_owners(h, &at[i])) {
            at[kept++] = at[i];
            continue;
        }
        h->n = amount_sum(h->n, at[i].n);
        h->pods += at[i].pods;
        if (at[i].since_ms < h->since_ms)
            h->since_ms = at[i].since_ms;
    }
    return kept;
}

static const struct why_holder *find_holders(const struct why_world *w, str resource,
                                             const bool *usable, size_t *n)
{
    struct why_holder *at = ARENA_ARRAY(w->a, struct why_holder, w->n_bound + 1);
    size_t found = 0;

    for (size_t i = 0; i < w->n_bound; i++) {
        const struct sched_pod *b = w->bound[i];
        size_t node = w->node_of[i];
        int64_t need = why_need_of(b, resource);
        if (need > 0 && node < w->n && (!usable || usable[node]))
            at[found++] = (struct why_holder){ .kind = b->owner_kind,
                                               .ns = b->ns,
                                               .name = b->owner_name,
                                               .n = need,
                                               .since_ms = b->created_ms,
                                               .pods = 1 };
    }
    qsort(at, found, sizeof(*at), by_owner);
    *n = merge_owners(at, found);
    qsort(at, *n, sizeof(*at), by_size);
    return at;
}

const struct why_holder *world_holders(struct why_world *w, struct why_resource *r,
                                       const bool *usable, size_t *n)
{
    bool all = true;

    for (size_t i = 0; usable && i < w->n; i++)
        all = all && usable[i];
    if (!all)
        return find_holders(w, r->name, usable, n);
    if (!r->holders_known)
        r->holders = find_holders(w, r->name, NULL, &r->n_holders);
    r->holders_known = true;
    *n = r->n_holders;
    return r->holders;
}
