/* Whom a unit may send away: pods beyond what their gang must have, then whole gangs and pods that
 * are alone, the least important and newest first, none as important as it is. Only if it can start
 * then, which is tried on the ledger; and those that it does not need to send away stay. */

#include "sched/internal.h"

enum { REMOVALS_MAX = 32 * 1024 }; /* in a pass: some tens of milliseconds */

/* Pods that go together. */
struct evictee {
    const struct sched_pod **at;
    size_t n;
    bool whole; /* a gang's, all of them */
    int64_t priority, created_ms;
    bool chosen;
};

static int64_t priority_of(const struct sched_pod *p)
{
    return p->gang && p->gang->has_priority ? p->gang->priority : p->priority;
}

/* ---- who there is, in the order in which they go */

static int compare_gangs(const void *x, const void *y)
{
    const struct sched_pod *p = *(const struct sched_pod *const *)x,
                           *q = *(const struct sched_pod *const *)y;
    int d = str_cmp(p->gang ? p->gang->uid : p->uid, q->gang ? q->gang->uid : q->uid);

    d = d ? d : !p->gang - !q->gang;
    d = d ? d : (q->member.n > 0) - (p->member.n > 0);
    d = d ? d : compare(priority_of(q), priority_of(p));
    d = d ? d : compare(p->created_ms, q->created_ms);
    return d ? d : str_cmp(p->name, q->name);
}

static int compare_evictees(const void *x, const void *y)
{
    const struct evictee *e = x, *f = y;
    int d = e->whole - f->whole;

    d = d ? d : compare(e->priority, f->priority);
    d = d ? d : compare(f->created_ms, e->created_ms);
    return d ? d : str_cmp(e->at[0]->uid, f->at[0]->uid);
}

static struct evictee evictee_of(const struct sched_pod **at, size_t n, bool whole)
{
    struct evictee e = { .at = at, .n = n, .whole = whole, .priority = INT64_MIN };

    e.created_ms = at[0]->gang ? at[0]->gang->created_ms : at[0]->created_ms;
    if (!whole)
        e.created_ms = at[0]->created_ms;
    for (size_t i = 0; i < n; i++)
        e.priority = priority_of(at[i]) > e.priority ? priority_of(at[i]) : e.priority;
    return e;
}

/* at: the pods of a gang, those first that it must have; or one that is alone. */
static void add_gang(struct evictor *e, const struct sched_pod **at, size_t n)
{
    const struct sched_gang *g = at[0]->gang;
    int64_t keeps = g ? g->min - g->n_done : 1;
    size_t must = keeps < 1 ? 0 : (size_t)keeps < n ? (size_t)keeps : n;

    for (size_t i = must; i < n && g; i++)
        e->at[e->n++] = evictee_of(&at[i], 1, false);
    e->at[e->n++] = evictee_of(at, n, true);
}

static void evictor_fill(struct evictor *e, struct arena *a)
{
    const struct sched_input *in = e->in;
    const struct sched_pod **pods = ARENA_ARRAY(a, const struct sched_pod *, in->n_bound + 1);
    size_t n = 0;

    e->at = ARENA_ARRAY(a, struct evictee, 2 * in->n_bound + 1);
    e->victims = ARENA_ARRAY(a, struct sched_victim, in->n_bound + 1);
    for (size_t i = 0; i < in->n_bound; i++)
        if (!in->bound[i]->ending && in->bound[i]->priority < INT64_MAX)
            pods[n++] = in->bound[i];
    qsort(pods, n, sizeof(*pods), compare_gangs);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && pods[i]->gang && pods[end]->gang &&
                          str_eq(pods[end]->gang->uid, pods[i]->gang->uid);
             end++)
            ;
        add_gang(e, &pods[i], end - i);
    }
    qsort(e->at, e->n, sizeof(*e->at), compare_evictees);
}

/* ---- the ledger without some pods, for a time */

struct removal {
    struct place *place; /* NULL: a ghost's or a stake's */
    struct place before;
    const struct seat *seat;
    struct ghost *ghost;
    struct stake *stake;
};

struct trial {
    struct ledger *l;
    struct removal *at;
    size_t n, cap;
};

static struct removal *removal_add(struct trial *t)
{
    if (t->n == t->cap) {
        struct removal *more = ARENA_ARRAY(t->l->a, struct removal, t->cap * 2 + 16);
        if (t->n)
            memcpy(more, t->at, t->n * sizeof(*more));
        t->at = more;
        t->cap = t->cap * 2 + 16;
    }
    t->at[t->n] = (struct removal){ 0 };
    return &t->at[t->n++];
}

static struct seat *seats_without(struct arena *a, struct seat *s, const struct seat *gone)
{
    struct seat *first = NULL, **to = &first;

    for (; s != gone; s = s->next) {
        *to = ARENA_NEW(a, struct seat);
        **to = (struct seat){ s->pod, s->need, NULL };
        to = &(*to)->next;
    }
    *to = gone->next;
    return first;
}

static void remove_pod(struct trial *t, const struct sched_pod *pod)
{
    struct ledger *l = t->l;
    struct place *p = ledger_find(l, pod->node);
    struct seat *s = p ? p->seats : NULL;

    while (s && s->pod != pod)
        s = s->next;
    if (!s)
        return;
    struct removal *r = removal_add(t);
    *r = (struct removal){ .place = p, .before = *p, .seat = s };
    stake_lift(l, p);
    p->used = ARENA_ARRAY(l->a, int64_t, l->n_resources);
    for (size_t k = 0; k < l->n_resources; k++)
        p->used[k] = r->before.used[k] - s->need[k];
    p->n_pods--;
    p->seats = seats_without(l->a, p->seats, s);
    stake_settle(l, p);
    stake_seat(l, pod->gang, s->need, -1);
}

/* A gang that goes as a whole needs nothing kept for it. */
static void remove_kept(struct trial *t, const struct sched_gang *g)
{
    struct ledger *l = t->l;
    struct stake *stake = stake_find(l, g);

    for (size_t i = 0; i < l->n_ghosts; i++)
        if (l->ghosts[i].kept && str_eq(l->ghosts[i].of->gang->uid, g->uid)) {
            removal_add(t)->ghost = &l->ghosts[i];
            kept_give(l, &l->ghosts[i]);
        }
    if (stake && stake->kept) {
        removal_add(t)->stake = stake;
        stake_drop(l, stake);
    }
}

static void put_back(struct trial *t)
{
    while (t->n) {
        struct removal *r = &t->at[--t->n];
        if (r->ghost)
            kept_take(t->l, r->ghost);
        else if (r->stake)
            stake_keep(t->l, r->stake);
        if (!r->place)
            continue;
        stake_seat(t->l, r->seat->pod->gang, r->seat->need, 1);
        stake_lift(t->l, r->place);
        *r->place = r->before;
        stake_settle(t->l, r->place);
    }
}

static bool can_start(struct ledger *l, const struct unit *u)
{
    size_t n = u->need > 0 ? (size_t)u->need : 1;
    struct step *steps = ARENA_ARRAY(l->a, struct step, n + 1);
    struct sched_verdict v = { .of = u->n ? u->at[0] : NULL };

    if (u->enters)
        return group_fits(l, stake_find(l, u->gang));
    bool fits = u->gang ? place_together(l, u, steps, &v) : place_pod(l, &v, steps);
    while (fits && n)
        step_undo(l, &steps[--n]);
    return fits;
}

/* Whether it could start without those that are chosen, and those that are being deleted. */
static bool would_start(struct evictor *e, struct trial *t, const struct unit *u)
{
    for (size_t i = 0; i < e->in->n_bound; i++)
        if (e->in->bound[i]->ending)
            remove_pod(t, e->in->bound[i]);
    for (size_t i = 0; i < e->n; i++) {
        const struct evictee *v = &e->at[i];
        for (size_t k = 0; v->chosen && k < v->n; k++)
            remove_pod(t, v->at[k]);
        if (v->chosen && v->whole && v->at[0]->gang)
            remove_kept(t, v->at[0]->gang);
    }
    e->n_removed += t->n;
    bool starts = can_start(t->l, u);
    put_back(t);
    return starts;
}

/* ---- choosing */

/* The first n that matter less. */
static void choose(struct evictor *e, const struct unit *u, size_t n)
{
    for (size_t i = 0; i < e->n; i++) {
        bool less = e->at[i].priority < u->priority;
        e->at[i].chosen = less && n;
        n -= less && n;
    }
}

static size_t count_lesser(const struct evictor *e, const struct unit *u)
{
    size_t n = 0;

    for (size_t i = 0; i < e->n; i++)
        n += e->at[i].priority < u->priority;
    return n;
}

/* The fewest in their order, then without those that are not needed. */
static void choose_least(struct evictor *e, struct trial *t, const struct unit *u, size_t enough)
{
    size_t too_few = 0;

    while (enough - too_few > 1) {
        size_t mid = too_few + (enough - too_few) / 2;
        choose(e, u, mid);
        if (would_start(e, t, u))
            enough = mid;
        else
            too_few = mid;
    }
    choose(e, u, enough);
    for (size_t i = e->n; i-- > 0 && e->n_removed < 2 * REMOVALS_MAX;) {
        if (!e->at[i].chosen)
            continue;
        e->at[i].chosen = false;
        e->at[i].chosen = !would_start(e, t, u);
    }
}

static bool is_victim(const struct evictor *e, const struct sched_pod *pod)
{
    for (size_t i = 0; i < e->n_victims; i++)
        if (e->victims[i].pod == pod)
            return true;
    return false;
}

/* Whole gangs first, so that each is told once. */
static void tell_victims(struct evictor *e, str makes_way_for)
{
    for (size_t i = e->n; i-- > 0;)
        for (size_t k = 0; e->at[i].chosen && k < e->at[i].n; k++)
            if (!is_victim(e, e->at[i].at[k]))
                e->victims[e->n_victims++] =
                    (struct sched_victim){ e->at[i].at[k], e->at[i].whole && e->at[i].at[k]->gang,
                                           makes_way_for };
}

enum ending { ENDS_NOBODY, ENDS_OTHERS, ENDS_LESSER };

static enum ending who_ends(const struct evictor *e, const struct unit *u)
{
    enum ending ending = ENDS_NOBODY;

    for (size_t i = 0; i < e->in->n_bound && ending != ENDS_LESSER; i++)
        if (e->in->bound[i]->ending)
            ending = priority_of(e->in->bound[i]) < u->priority ? ENDS_LESSER : ENDS_OTHERS;
    return ending;
}

static bool may_evict(const struct unit *u)
{
    if (u->enters && u->gang->never_preempts)
        return false;
    for (size_t i = 0; i < u->n_distinct; i++)
        if (u->at[i]->pod->never_preempts)
            return false;
    return true;
}

/* As one for which all that matter less would not have been enough. */
static bool is_no_easier(const struct evictor *e, const struct ledger *l, const struct unit *u)
{
    const struct stake *x = e->failed ? stake_find(l, e->failed->gang) : NULL,
                       *y = stake_find(l, u->gang);

    if (!x || !y || x->line != y->line || e->failed->priority < u->priority)
        return false;
    for (size_t k = 0; k <= l->n_resources; k++)
        if (x->asks[k] > y->asks[k])
            return false;
    return true;
}

enum evicts evict_for(struct evictor *e, struct ledger *l, const struct unit *u)
{
    struct trial t = { .l = l };

    if (!e->in->preempts || !may_evict(u))
        return EVICTS_NOBODY;
    if (l->barred_for.n || e->n_removed >= REMOVALS_MAX)
        return EVICTS_LATER;
    if (!e->at)
        evictor_fill(e, l->a);
    if (u->enters && is_no_easier(e, l, u))
        return EVICTS_NOBODY;
    choose(e, u, 0);
    enum ending ending = who_ends(e, u);
    if (ending != ENDS_NOBODY && would_start(e, &t, u)) {
        if (ending == ENDS_OTHERS)
            return EVICTS_NOBODY;
        guard_keep(l, u, true);
        return EVICTS_BEFORE;
    }
    size_t n = count_lesser(e, u);
    choose(e, u, n);
    if (!n || !would_start(e, &t, u)) {
        e->failed = u->enters ? u : NULL;
        return EVICTS_NOBODY;
    }
    choose_least(e, &t, u, n);
    guard_keep(l, u, true);
    tell_victims(e, l->barred_for);
    return EVICTS_NOW;
}
