/* S3: the sentence that says why a unit waits. */

#include "model.h"
#include "sched/why.h"

#include <stdio.h>

static void add_pod(struct arena *a, const struct sched_pod **to, size_t *n,
                    const struct sched_pod *pod, str node)
{
    struct sched_pod *p = ARENA_NEW(a, struct sched_pod);

    *p = *pod;
    p->node = node;
    to[(*n)++] = p;
}

static bool is_member_of(const struct sched_reserve *r, const struct sched_pod *pod)
{
    return str_eq(pod->owner, r->gang->uid) && str_eq(pod->member, r->member);
}

/* What is taken once the decision is carried out, but for what is kept for the unit itself; as the
 * binder tells it to why_of. */
static struct why_world *world_of(const struct pass *p, const struct why_unit *u)
{
    const struct sched_input *in = p->in;
    const struct sched_pod **all = ARENA_ARRAY(p->a, const struct sched_pod *,
                                               in->n_bound + in->n_waiting + in->n_reserves + 1);
    size_t n = 0;

    for (size_t i = 0; i < in->n_bound; i++)
        all[n++] = in->bound[i];
    for (size_t i = 0; i < in->n_waiting; i++)
        if (p->verdicts[i].node)
            add_pod(p->a, all, &n, p->verdicts[i].of->pod, p->verdicts[i].node->name);
    for (size_t i = 0; i < in->n_reserves; i++) {
        const struct sched_reserve *r = &in->reserves[i];
        const struct sched_pod kept = { .ns = r->gang->ns,
                                        .name = r->gang->name,
                                        .owner_kind = r->gang->kind,
                                        .owner_name = r->gang->name,
                                        .need = r->need };
        bool given = false; /* to its replacement, which is among those placed */
        for (size_t k = 0; k < in->n_waiting; k++)
            given = given || (p->verdicts[k].node && is_member_of(r, p->verdicts[k].of->pod));
        for (size_t k = 0; k < u->n_pods; k++)
            given = given || is_member_of(r, u->pods[k]->pod);
        if (!given)
            add_pod(p->a, all, &n, &kept, r->node);
    }
    return why_world_new(p->a, in->nodes, in->n_nodes, all, n);
}

static size_t resource_number(str name)
{
    size_t r = 0;

    while (r < RESOURCES && !str_eqz(name, resource_names[r]))
        r++;
    return r;
}

static int64_t left_of(const struct room *r, size_t node, size_t resource)
{
    return resource < RESOURCES ? r->left[node][resource] : r->pods[node];
}

/* Sums over the nodes, or the most of one. */
static int64_t fold(const struct room *r, size_t n_nodes, size_t resource, enum why_scope scope)
{
    int64_t all = 0;

    for (size_t n = 0; n < n_nodes; n++) {
        int64_t left = left_of(r, n, resource);
        all = scope == WHY_TOTAL ? all + left : left > all ? left : all;
    }
    return all;
}

static void check_lack(struct model *m, const struct pass *p, const struct why_lack *l,
                       const struct room *now)
{
    size_t r = resource_number(l->resource);
    struct room empty;
    int64_t held = 0;

    room_empty(p->shape, &empty);
    int64_t has = fold(&empty, p->shape->n_nodes, r, l->scope);
    int64_t left = fold(now, p->shape->n_nodes, r, l->scope);
    if (l->has != has || l->free != left || l->need <= left || l->never != (l->need > has))
        broken(m, "S3: needs %lld %.*s, has %lld, %lld free; there are %lld, %lld free",
               (long long)l->need, STR_ARG(l->resource), (long long)l->has, (long long)l->free,
               (long long)has, (long long)left);
    for (size_t i = 0; i < l->n_holders; i++)
        held += l->holders[i].n;
    if (l->scope == WHY_TOTAL && held != has - left)
        broken(m, "S3: %lld %.*s are said to be held, %lld are", (long long)held,
               STR_ARG(l->resource), (long long)(has - left));
}

/* What is kept for them is theirs. */
static void give_back(const struct pass *p, const struct why_unit *told, struct room *r)
{
    for (size_t k = 0; k < told->n_pods; k++) {
        size_t g, i;
        pass_pod(told->pods[k]->pod, &g, &i);
        if (p->after->slot[g][i].at == OWED)
            room_give(p->shape, r, p->after, g, i);
    }
}

static void check_why(struct model *m, const struct pass *p, const struct unit *u,
                      const struct why_unit *told, const struct why *why)
{
    struct room now, empty;
    str said = why_sentence(p->a, why);

    room_empty(p->shape, &now);
    room_empty(p->shape, &empty);
    for (size_t g = 0; g < p->shape->n_gangs; g++)
        for (size_t i = 0; i < gang_size(p->shape, p->after, g); i++)
            room_take(p->shape, &now, p->after, g, i);
    enum fit fits = room_fits(p->shape, p->after, now, u);
    if (room_fits(p->shape, p->after, empty, u) == (why->never ? FIT_YES : FIT_NO))
        broken(m, "S3: wrong about never: %.*s", STR_ARG(said));
    switch (why->cause) {
    case WHY_LACKS:
        give_back(p, told, &now);
        check_lack(m, p, &why->lacks[0], &now);
        break;
    case WHY_PACKING:
        if (fits == FIT_YES)
            broken(m, "S3: it fits: %.*s", STR_ARG(said));
        break;
    case WHY_BEHIND:
        if (fits == FIT_NO || p->after->age < p->shape->patience)
            broken(m, "S3: nothing is kept from gang %c: %.*s", (char)('a' + (int)u->gang),
                   STR_ARG(said));
        break;
    case WHY_NOTHING:
    case WHY_NO_NODES:
    case WHY_REFUSED:
    case WHY_MEMBERS:
    case WHY_NODES:
        broken(m, "S3: gang %c waits for another reason than \"%.*s\"", (char)('a' + (int)u->gang),
               STR_ARG(said));
        break;
    }
}

static bool is_of(const struct sched_verdict *v, const struct unit *u)
{
    size_t g, i;

    pass_pod(v->of->pod, &g, &i);
    return !v->node && g == u->gang && (u->member == MEMBERS_MAX || u->member == i);
}

void rules_of_sentences(struct model *m, const struct pass *p)
{
    struct unit units[UNITS_MAX];
    size_t n = units_in_order(p->shape, p->before, units);

    for (size_t u = 0; u < n; u++) {
        const struct sched_waiting *pods[MEMBERS_MAX];
        const struct sched_verdict *first = NULL;
        struct why_unit unit = { .pods = pods };
        if (units[u].early || !unit_waits(p, &units[u]))
            continue;
        for (size_t i = 0; i < p->in->n_waiting && unit.n_pods < units[u].need; i++) {
            if (!is_of(&p->verdicts[i], &units[u]))
                continue;
            struct sched_waiting *w = ARENA_NEW(p->a, struct sched_waiting);
            struct sched_pod *pod = ARENA_NEW(p->a, struct sched_pod);
            first = first ? first : &p->verdicts[i];
            *pod = *p->verdicts[i].of->pod;
            pod->gang = NULL;
            w->pod = pod;
            pods[unit.n_pods++] = w;
        }
        if (!first)
            continue; /* other rules say that */
        unit.min = first->together;
        unit.never = first->never;
        unit.behind = first->behind;
        struct why why = why_of(world_of(p, &unit), &unit);
        check_why(m, p, &units[u], &unit, &why);
    }
}
