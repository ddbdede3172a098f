/* Units and room for them, without anything of src/sched. */

#include "model.h"

#include <stdlib.h>

const int64_t *need_of(const struct shape *sh, size_t g, size_t i)
{
    return i ? sh->gang[g].need : sh->gang[g].lead;
}

/* ---- units */

struct ranked {
    struct unit u;
    int64_t priority;
    size_t rank, seq;
};

static int compare(const void *x, const void *y)
{
    const struct ranked *r = x, *q = y;

    if (r->priority != q->priority)
        return r->priority > q->priority ? -1 : 1;
    if (r->u.returning != q->u.returning)
        return r->u.returning ? -1 : 1;
    if (r->rank != q->rank)
        return r->rank < q->rank ? -1 : 1;
    return r->seq < q->seq ? -1 : r->seq > q->seq;
}

static size_t units_of_gang(const struct shape *sh, const struct state *s, size_t g,
                            struct ranked *out)
{
    size_t have = gang_count(sh, s, g, SEATED), waiting = gang_count(sh, s, g, UNSEATED), n = 0;
    size_t need = have < sh->gang[g].min ? sh->gang[g].min - have : 0;
    bool stopped = s->gang[g].phase == STOPPED;
    bool whole = stopped || (!s->gang[g].started && need);
    struct ranked r = { .priority = sh->gang[g].priority, .rank = s->gang[g].rank };

    if (s->gang[g].phase == GONE || !waiting || gang_count(sh, s, g, AT(BATCHED)))
        return 0; /* its start is to be written first */
    if (whole) {
        r.u = (struct unit){ .gang = g,
                             .member = MEMBERS_MAX,
                             .need = need,
                             .early = stopped || waiting < need,
                             .returning = have && need };
        out[n++] = r;
    }
    for (size_t i = 0; i < gang_size(sh, s, g) && !stopped; i++)
        if (AT(s->slot[g][i].at) & UNSEATED) {
            r.seq = i + 1;
            r.u = (struct unit){ .gang = g,
                                 .member = i,
                                 .need = 1,
                                 .returning = need && (!whole || have),
                                 .follows = whole };
            out[n++] = r;
        }
    return n;
}

size_t units_in_order(const struct shape *sh, const struct state *s, struct unit *out)
{
    struct ranked all[UNITS_MAX];
    size_t n = 0;

    for (size_t g = 0; g < sh->n_gangs; g++)
        n += units_of_gang(sh, s, g, &all[n]);
    qsort(all, n, sizeof(*all), compare);
    for (size_t i = 0; i < n; i++)
        out[i] = all[i].u;
    return n;
}

/* ---- room */

void room_empty(const struct shape *sh, struct room *r)
{
    for (size_t n = 0; n < sh->n_nodes; n++) {
        memcpy(r->left[n], sh->node[n].has, sizeof(r->left[n]));
        r->pods[n] = sh->node[n].pods;
    }
}

static void change(struct room *r, size_t node, const int64_t *need, int64_t sign)
{
    for (size_t k = 0; k < RESOURCES; k++)
        r->left[node][k] += sign * need[k];
    r->pods[node] += sign;
}

void room_take(const struct shape *sh, struct room *r, const struct state *s, size_t g, size_t i)
{
    const struct slot *p = &s->slot[g][i];

    if (p->at != ABSENT && p->at != WAITS && p->at != DONE)
        change(r, p->node, need_of(sh, g, i), -1);
}

void room_give(const struct shape *sh, struct room *r, const struct state *s, size_t g, size_t i)
{
    change(r, s->slot[g][i].node, need_of(sh, g, i), 1);
}

static bool has_room(const struct room *r, size_t node, const int64_t *need)
{
    for (size_t k = 0; k < RESOURCES; k++)
        if (need[k] && need[k] > r->left[node][k])
            return false;
    return r->pods[node] > 0;
}

struct search {
    const struct shape *sh;
    const struct state *s;
    struct room r;
    size_t gang, size, steps;
};

/* Members from i on get a node each, or are left out, until `need` of them have one. */
static bool search_from(struct search *x, size_t i, size_t need)
{
    if (!need)
        return true;
    if (i == x->size || !x->steps)
        return false;
    x->steps--;
    const struct slot *p = &x->s->slot[x->gang][i];
    const int64_t *n = need_of(x->sh, x->gang, i);
    if (AT(p->at) & UNSEATED) {
        if (p->at == OWED)
            change(&x->r, p->node, n, 1);
        for (size_t node = 0; node < x->sh->n_nodes; node++) {
            if (!has_room(&x->r, node, n))
                continue;
            change(&x->r, node, n, -1);
            if (search_from(x, i + 1, need - 1))
                return true;
            change(&x->r, node, n, 1);
        }
        if (p->at == OWED)
            change(&x->r, p->node, n, -1);
    }
    return search_from(x, i + 1, need);
}

enum fit room_fits(const struct shape *sh, const struct state *s, struct room r,
                   const struct unit *u)
{
    enum { STEPS = 20 * 1000 };
    bool one = u->member < MEMBERS_MAX;
    struct search x = { sh, s, r, u->gang, one ? u->member + 1 : gang_size(sh, s, u->gang), STEPS };

    bool fits = search_from(&x, one ? u->member : 0, u->need);

    return fits ? FIT_YES : x.steps ? FIT_NO : FIT_UNKNOWN;
}

bool node_is_usable(const struct shape *sh, const struct state *s, const struct unit *u,
                    size_t node)
{
    struct room r;

    room_empty(sh, &r);
    for (size_t i = 0; i < gang_size(sh, s, u->gang); i++)
        if ((u->member == MEMBERS_MAX || u->member == i) &&
            (AT(s->slot[u->gang][i].at) & UNSEATED) && has_room(&r, node, need_of(sh, u->gang, i)))
            return true;
    return false;
}
