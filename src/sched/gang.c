/* What waits, as units: which pods must start together. */

#include "sched/internal.h"

int waiting_compare(const struct sched_waiting *v, const struct sched_waiting *w)
{
    int d = compare(w->pod->priority, v->pod->priority);

    d = d ? d : compare(v->pod->created_ms, w->pod->created_ms);
    d = d ? d : (v->seq > w->seq) - (v->seq < w->seq);
    d = d ? d : str_cmp(v->pod->ns, w->pod->ns);
    return d ? d : str_cmp(v->pod->name, w->pod->name);
}

static int compare_members(const struct sched_pod *v, const struct sched_pod *w)
{
    int d = str_cmp(v->gang->uid, w->gang->uid);

    return d ? d : str_cmp(v->member, w->member);
}

static int compare_waiting_members(const void *x, const void *y)
{
    const struct sched_waiting *const *v = x, *const *w = y;
    int d = compare_members((*v)->pod, (*w)->pod);

    return d ? d : waiting_compare(*v, *w);
}

static int compare_bound_members(const void *x, const void *y)
{
    return compare_members(*(const struct sched_pod *const *)x,
                           *(const struct sched_pod *const *)y);
}

static int compare_in_unit(const void *x, const void *y)
{
    return waiting_compare(*(const struct sched_waiting *const *)x,
                           *(const struct sched_waiting *const *)y);
}

static struct unit unit_of_one(const struct sched_waiting **at, bool returning)
{
    return (struct unit){ .at = at,
                          .n = 1,
                          .n_distinct = 1,
                          .priority = (*at)->pod->priority,
                          .created_ms = (*at)->pod->created_ms,
                          .seq = (*at)->seq,
                          .returning = returning };
}

/* Members of one gang that have a node, sorted; a step through them beside those that wait. */
struct seated {
    const struct sched_pod **at;
    size_t n;
};

static bool is_seated(const struct seated *s, const struct sched_pod *pod)
{
    return s->n && bsearch(&pod, s->at, s->n, sizeof(struct sched_pod *), compare_bound_members);
}

static int64_t count_distinct(const struct seated *s)
{
    int64_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += !i || compare_members(s->at[i - 1], s->at[i]) != 0;
    return n;
}

/* at: its pods that wait, sorted by member; those that count are put first. */
static void unit_fill(struct arena *a, struct unit *u, const struct seated *s)
{
    const struct sched_waiting **rest = ARENA_ARRAY(a, const struct sched_waiting *, u->n);
    size_t n_rest = 0;
    str last = STR_NONE;

    u->priority = INT64_MIN;
    u->seq = UINT64_MAX;
    for (size_t i = 0; i < u->n; i++) {
        const struct sched_waiting *w = u->at[i];
        bool counts = w->pod->member.n && !str_eq(w->pod->member, last) && !is_seated(s, w->pod);
        last = w->pod->member;
        u->priority = w->pod->priority > u->priority ? w->pod->priority : u->priority;
        u->seq = w->seq < u->seq ? w->seq : u->seq;
        if (counts)
            u->at[u->n_distinct++] = w;
        else
            rest[n_rest++] = w;
    }
    memcpy(&u->at[u->n_distinct], rest, n_rest * sizeof(*rest));
    qsort(u->at, u->n_distinct, sizeof(*u->at), compare_in_unit);
}

/* Its own time and name count, not those of its pods; they are in the order of these. */
static void order_group(struct unit *u)
{
    u->created_ms = u->gang->created_ms;
    u->seq = 0;
    u->returning = u->returning || u->gang->returning;
    if (u->gang->has_priority)
        u->priority = u->gang->priority;
}

static void add_gang(struct arena *a, struct unit *out, size_t *n, struct unit u,
                     const struct seated *s)
{
    const struct sched_gang *g = u.gang;

    unit_fill(a, &u, s);
    int64_t have = count_distinct(s) + g->n_done;
    u.created_ms = g->created_ms;
    u.need = g->min - have;
    u.returning = have > 0 && u.need > 0;
    if (g->is_group)
        order_group(&u);
    u.enters = g->is_group && !g->let_in;
    if (u.enters || g->stopped || (!g->started && u.need > 0)) {
        out[(*n)++] = u;
        return;
    }
    for (size_t i = 0; i < u.n; i++) {
        struct unit one = unit_of_one(&u.at[i], u.need > 0 && i < u.n_distinct);
        one.priority = g->has_priority ? g->priority : one.priority;
        out[(*n)++] = one;
    }
}

static bool may_be_bound(const struct sched_pod *p)
{
    return p->gang && p->member.n;
}

static int compare_groups(const void *x, const void *y)
{
    return str_cmp((*(const struct sched_gang *const *)x)->uid,
                   (*(const struct sched_gang *const *)y)->uid);
}

/* Those of which no pod waits; the others are in out, sorted by uid. */
static void add_empty_groups(struct arena *a, const struct sched_input *in, struct unit *out,
                             size_t *n)
{
    const struct sched_gang **enter = ARENA_ARRAY(a, const struct sched_gang *, in->n_groups + 1);
    size_t n_enter = 0, with_pods = *n, k = 0;

    for (size_t i = 0; i < in->n_groups; i++)
        if (!in->groups[i]->let_in && !in->groups[i]->stopped)
            enter[n_enter++] = in->groups[i];
    qsort(enter, n_enter, sizeof(*enter), compare_groups);
    for (size_t i = 0; i < n_enter; i++) {
        while (k < with_pods && (!out[k].enters || str_cmp(out[k].gang->uid, enter[i]->uid) < 0))
            k++;
        if (k < with_pods && str_eq(out[k].gang->uid, enter[i]->uid))
            continue;
        struct unit u = { .gang = enter[i], .need = enter[i]->min, .enters = true };
        order_group(&u);
        out[(*n)++] = u;
    }
}

struct unit *units_of(struct arena *a, const struct sched_input *in, size_t *n)
{
    struct unit *out = ARENA_ARRAY(a, struct unit, in->n_waiting + in->n_groups + 1);
    const struct sched_waiting **single =
        ARENA_ARRAY(a, const struct sched_waiting *, in->n_waiting + 1);
    const struct sched_waiting **member =
        ARENA_ARRAY(a, const struct sched_waiting *, in->n_waiting + 1);
    size_t n_member = 0, n_bound = 0;

    *n = 0;
    for (size_t i = 0; i < in->n_waiting; i++) {
        if (in->waiting[i].pod->gang) {
            member[n_member++] = &in->waiting[i];
        } else {
            single[i] = &in->waiting[i];
            out[(*n)++] = unit_of_one(&single[i], false);
        }
    }
    if (!n_member) {
        add_empty_groups(a, in, out, n);
        return out;
    }
    const struct sched_pod **bound = ARENA_ARRAY(a, const struct sched_pod *, in->n_bound + 1);
    for (size_t i = 0; i < in->n_bound; i++)
        if (may_be_bound(in->bound[i]))
            bound[n_bound++] = in->bound[i];
    qsort(member, n_member, sizeof(*member), compare_waiting_members);
    qsort(bound, n_bound, sizeof(*bound), compare_bound_members);
    for (size_t i = 0, b = 0, end; i < n_member; i = end) {
        const struct sched_gang *g = member[i]->pod->gang;
        for (end = i; end < n_member && member[end]->pod->gang == g; end++)
            ;
        while (b < n_bound && str_cmp(bound[b]->gang->uid, g->uid) < 0)
            b++;
        struct seated s = { &bound[b], 0 };
        while (b < n_bound && str_eq(bound[b]->gang->uid, g->uid)) {
            b++;
            s.n++;
        }
        add_gang(a, out, n, (struct unit){ .gang = g, .at = &member[i], .n = end - i }, &s);
    }
    add_empty_groups(a, in, out, n);
    return out;
}
