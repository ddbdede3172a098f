/* S1: whole or not at all, nothing given twice. S2: what fits starts, unless something before it
 * keeps what it needs. S3: what a verdict says of one that waits is true. */

#include "model.h"

#include <stdarg.h>
#include <stdio.h>

void broken(struct model *m, const char *fmt, ...)
{
    va_list ap;

    if (m->message[0])
        return;
    va_start(ap, fmt);
    vsnprintf(m->message, sizeof(m->message), fmt, ap);
    va_end(ap);
}

static char letter(size_t gang)
{
    return (char)('a' + gang);
}

void rules_of_state(struct model *m, const struct state *s)
{
    const struct shape *sh = m->shape;
    struct room r;

    room_empty(sh, &r);
    for (size_t g = 0; g < sh->n_gangs; g++) {
        for (size_t i = 0; i < gang_size(sh, s, g); i++)
            room_take(sh, &r, s, g, i);
        if (!s->gang[g].whole && gang_count(sh, s, g, AT(BOUND) | AT(DONE)))
            broken(m, "S1: part of gang %c was bound", letter(g));
    }
    for (size_t n = 0; n < sh->n_nodes; n++) {
        if (r.pods[n] < 0)
            broken(m, "S1: node %zu has too many pods", n);
        for (size_t k = 0; k < RESOURCES; k++)
            if (r.left[n][k] < 0)
                broken(m, "S1: %s of node %zu is given twice", resource_names[k], n);
    }
}

/* ---- a pass */

static bool is_new(const struct pass *p, size_t g, size_t i)
{
    return (AT(p->before->slot[g][i].at) & UNSEATED) && (AT(p->after->slot[g][i].at) & SEATED);
}

/* Which unit it was placed with. */
static size_t unit_of(const struct unit *units, size_t n, size_t g, size_t i)
{
    size_t u = 0;

    while (u < n && (units[u].gang != g || (units[u].member != i && units[u].member < MEMBERS_MAX)))
        u++;
    return u;
}

struct room room_at(const struct pass *p, const struct unit *units, size_t n, size_t u)
{
    const struct shape *sh = p->shape;
    struct room r;

    room_empty(sh, &r);
    for (size_t g = 0; g < sh->n_gangs; g++)
        for (size_t i = 0; i < gang_size(sh, p->after, g); i++) {
            bool later = is_new(p, g, i) && unit_of(units, n, g, i) > u;
            room_take(sh, &r, later ? p->before : p->after, g, i);
        }
    return r;
}

static size_t count_new(const struct pass *p, size_t g)
{
    size_t n = 0;

    for (size_t i = 0; i < gang_size(p->shape, p->after, g); i++)
        n += is_new(p, g, i);
    return n;
}

static bool is_placed(const struct pass *p, const struct unit *u)
{
    return u->member < MEMBERS_MAX ? is_new(p, u->gang, u->member) : count_new(p, u->gang) > 0;
}

bool unit_waits(const struct pass *p, const struct unit *u)
{
    return !is_placed(p, u) && (!u->follows || count_new(p, u->gang));
}

/* ---- who waits longest */

struct kept { /* what it keeps others from */
    size_t unit;
    bool active;
    int64_t need[RESOURCES];
    int64_t spare[RESOURCES]; /* what others may take where it could be */
    bool usable[NODES_MAX];
};

static size_t number_of(const struct shape *sh, const struct unit *u)
{
    return u->member < MEMBERS_MAX ? 1 + sh->n_gangs + u->gang * MEMBERS_MAX + u->member
                                   : 1 + u->gang;
}

static void add_needs(const struct pass *p, const struct unit *u, size_t most, int64_t *need)
{
    for (size_t i = 0; i < gang_size(p->shape, p->before, u->gang) && most; i++)
        if ((u->member == MEMBERS_MAX || u->member == i) &&
            (AT(p->before->slot[u->gang][i].at) & UNSEATED)) {
            for (size_t x = 0; x < RESOURCES; x++)
                need[x] += need_of(p->shape, u->gang, i)[x];
            most--;
        }
}

static void find_spare(const struct pass *p, const struct unit *u, const struct room *r,
                       struct kept *k)
{
    bool lacks = false;

    add_needs(p, u, u->need, k->need);
    for (size_t x = 0; x < RESOURCES; x++) {
        for (size_t n = 0; n < p->shape->n_nodes; n++)
            k->spare[x] += k->usable[n] ? r->left[n][x] : 0;
        k->spare[x] -= k->need[x];
        lacks = lacks || k->spare[x] < 0;
    }
    for (size_t x = 0; x < RESOURCES; x++)
        if (!lacks || k->spare[x] < 0)
            k->spare[x] = 0;
}

static bool could_wait(const struct pass *p, const struct unit *u)
{
    struct room r;

    if (u->early || !unit_waits(p, u))
        return false;
    room_empty(p->shape, &r);
    return room_fits(p->shape, p->before, r, u) == FIT_YES;
}

/* The first of those that wait for others to end is the one whose time is taken. */
static struct kept check_first(struct model *m, const struct pass *p, const struct unit *units,
                               size_t n)
{
    struct kept k = { .unit = 0 };

    while (k.unit < n && !could_wait(p, &units[k.unit]))
        k.unit++;
    if (!p->in->guard)
        return k;
    size_t want = k.unit < n ? number_of(p->shape, &units[k.unit]) : 0;
    if (p->after->first != want)
        broken(m, "S2: the first that waits is %zu, and %u is taken for it", want, p->after->first);
    if (!want || p->after->age < p->shape->patience)
        return k;
    k.active = true;
    for (size_t node = 0; node < p->shape->n_nodes; node++)
        k.usable[node] = node_is_usable(p->shape, p->before, &units[k.unit], node);
    struct room r = room_at(p, units, n, k.unit);
    find_spare(p, &units[k.unit], &r, &k);
    return k;
}

/* What units after the first, but before `end`, took of what it keeps. */
static void find_taken(const struct pass *p, const struct unit *units, size_t end,
                       const struct kept *k, int64_t *taken)
{
    for (size_t u = k->unit + 1; u < end; u++) {
        size_t g = units[u].gang;
        for (size_t i = 0; i < gang_size(p->shape, p->after, g); i++) {
            const struct slot *was = &p->before->slot[g][i], *is = &p->after->slot[g][i];
            bool own = was->at == OWED && was->node == is->node;
            if (!is_new(p, g, i) || unit_of(units, end, g, i) != u || !k->usable[is->node] || own)
                continue;
            for (size_t x = 0; x < RESOURCES; x++)
                taken[x] += need_of(p->shape, g, i)[x];
        }
    }
}

static bool asks_for_kept(const struct pass *p, const struct kept *k, const struct unit *units,
                          size_t u)
{
    int64_t taken[RESOURCES] = { 0 };

    if (!k->active || u <= k->unit)
        return false;
    find_taken(p, units, u, k, taken);
    add_needs(p, &units[u], MEMBERS_MAX, taken);
    for (size_t x = 0; x < RESOURCES; x++)
        if (k->need[x] && taken[x] > k->spare[x])
            return true;
    return false;
}

/* Nobody after the first gets what it lacks, but what was kept for it anyway. */
static void check_kept(struct model *m, const struct pass *p, const struct unit *units, size_t n,
                       const struct kept *k)
{
    int64_t taken[RESOURCES] = { 0 };

    if (!k->active)
        return;
    find_taken(p, units, n, k, taken);
    for (size_t x = 0; x < RESOURCES; x++)
        if (k->need[x] && taken[x] > k->spare[x])
            broken(m, "S2: %lld of %lld spare %s were given away", (long long)taken[x],
                   (long long)k->spare[x], resource_names[x]);
}

/* ---- each unit */

static const struct sched_verdict *verdict_of(const struct pass *p, const struct unit *u)
{
    size_t g, i;

    for (size_t k = 0; k < p->in->n_waiting; k++) {
        pass_pod(p->verdicts[k].of->pod, &g, &i);
        if (g == u->gang && (u->member == MEMBERS_MAX || u->member == i))
            return &p->verdicts[k];
    }
    return NULL;
}

static void check_waiting(struct model *m, const struct pass *p, const struct unit *u,
                          const struct kept *k, bool after_first)
{
    const struct sched_verdict *v = verdict_of(p, u);
    struct room empty;

    if (!v || v->node) {
        broken(m, "S3: nothing is said of gang %c", letter(u->gang));
        return;
    }
    room_empty(p->shape, &empty);
    enum fit fits = room_fits(p->shape, p->before, empty, u);
    if (!v->why.n)
        broken(m, "S3: no reason is given for gang %c", letter(u->gang));
    if (v->early != u->early)
        broken(m, "S3: gang %c is said to %s", letter(u->gang),
               v->early ? "lack pods" : "be whole");
    if (!u->early && fits == (v->never ? FIT_YES : FIT_NO))
        broken(m, "S3: gang %c is said to fit %s", letter(u->gang), fits ? "never" : "later");
    if (v->behind.n && !(k->active && after_first))
        broken(m, "S3: gang %c waits behind %.*s, which keeps nothing", letter(u->gang),
               STR_ARG(v->behind));
}

static void check_unit(struct model *m, const struct pass *p, const struct unit *units, size_t n,
                       size_t at, const struct kept *k)
{
    const struct unit *u = &units[at];
    size_t placed = count_new(p, u->gang);

    if (u->member == MEMBERS_MAX && placed && (u->early || placed < u->need))
        broken(m, "S1: %zu of gang %c were placed, of %zu that must", placed, letter(u->gang),
               u->need);
    if (!unit_waits(p, u))
        return;
    check_waiting(m, p, u, k, at > k->unit);
    if (u->early || asks_for_kept(p, k, units, at))
        return;
    if (room_fits(p->shape, p->before, room_at(p, units, n, at), u) == FIT_YES)
        broken(m, "S2: unit %zu, of gang %c, fits and does not start", at, letter(u->gang));
}

void rules_of_pass(struct model *m, const struct pass *p)
{
    struct unit units[UNITS_MAX];
    size_t n = units_in_order(p->shape, p->before, units);
    struct kept k = check_first(m, p, units, n);

    check_kept(m, p, units, n, &k);
    for (size_t u = 0; u < n; u++)
        check_unit(m, p, units, n, u, &k);
}
