/* The pass over all that wait. */

#include "sched/internal.h"

#include <inttypes.h>

/* Groups before others of the same time. */
static int compare_even(const struct unit *u, const struct unit *v)
{
    bool is_group = u->gang && u->gang->is_group, is_other = v->gang && v->gang->is_group;

    if (is_group != is_other)
        return is_other - is_group;
    if (!is_group)
        return waiting_compare(u->at[0], v->at[0]);
    int d = str_cmp(u->gang->ns, v->gang->ns);
    d = d ? d : str_cmp(u->gang->name, v->gang->name);
    return d ? d : u->n && v->n ? waiting_compare(u->at[0], v->at[0]) : 0;
}

static int compare_units(const void *x, const void *y)
{
    const struct unit *u = x, *v = y;
    int d = compare(v->priority, u->priority);

    d = d ? d : v->returning - u->returning;
    d = d ? d : compare(u->created_ms, v->created_ms);
    d = d ? d : (u->seq > v->seq) - (u->seq < v->seq);
    return d ? d : compare_even(u, v);
}

/* ---- units */

struct pass {
    struct ledger l;
    struct ledger *empty; /* its nodes without any pod; NULL: not asked for yet */
    struct sched_verdict *out;
    size_t n;
    struct failures failures;
    struct sched_guard *guard;
    struct unit *units;
    size_t n_units, next_due;
    struct sched_group_verdict *groups;
    size_t n_groups;
    struct evictor evictor;
    const struct sched_gang **voids; /* as in stake_start */
    size_t n_voids;
    bool missed; /* a unit that could fit did not */
};

/* Whether it waits for room that others have. */
static bool waits_for_room(const struct pass *p, const struct unit *u)
{
    for (size_t i = 0; i < u->n_distinct; i++)
        if (u->at[i]->refused.n)
            return false;
    return p->l.n > 0;
}

static void note_missed(struct pass *p, const struct unit *u, bool never)
{
    if (never || p->missed || !p->guard || !waits_for_room(p, u))
        return;
    p->missed = true;
    guard_first(p->guard, &p->l, u);
    p->failures.n = 0; /* from now on room may be kept */
}

static bool is_unchanged(const struct unit *u)
{
    for (size_t i = 0; i < u->n; i++)
        if (!u->at[i]->unchanged)
            return false;
    return true;
}

static struct sched_verdict *verdict_of(struct pass *p, const struct sched_waiting *w)
{
    struct sched_verdict *v = &p->out[p->n++];

    *v = (struct sched_verdict){ .of = w };
    return v;
}

/* u->at may be one of the caller's. */
static void add_failure(struct pass *p, const struct unit *u, const struct sched_verdict *no)
{
    struct unit kept = *u;

    kept.at = ARENA_ARRAY(p->l.a, const struct sched_waiting *, u->n_distinct + 1);
    memcpy(kept.at, u->at, u->n_distinct * sizeof(*kept.at));
    failures_add(&p->failures, &kept, no);
}

/* no: what is said of it. True: others may not fare as it does. */
static bool make_way(struct pass *p, const struct unit *u, struct sched_verdict *no)
{
    if (!p->l.preempts || no->never || !waits_for_room(p, u))
        return false;
    enum evicts evicts = evict_for(&p->evictor, &p->l, u);
    no->why = preempt_retell(p->l.a, no->why, evicts, p->evictor.n_victims);
    if (evicts < EVICTS_BEFORE)
        return false;
    p->failures.n = 0;
    return true;
}

static struct sched_verdict *decide_alone(struct pass *p, const struct sched_waiting *w,
                                          bool unchanged)
{
    struct sched_verdict *v = verdict_of(p, w);
    const struct sched_gang *g = w->pod->gang;
    struct unit u = { .at = &w,
                      .n = 1,
                      .n_distinct = 1,
                      .priority = g && g->has_priority ? g->priority : w->pod->priority };
    struct step t;

    unchanged = unchanged && !p->l.preempts;
    const struct sched_verdict *like = unchanged ? NULL : failed_like(&p->l, &p->failures, &u);
    if (unchanged) {
        v->never = w->never;
    } else if (like) {
        *v = *like;
        v->of = w;
    } else if (place_pod(&p->l, v, &t)) {
        v->node = t.place->node;
        p->failures.n = 0;
    } else {
        if (!make_way(p, &u, v))
            add_failure(p, &u, v);
    }
    if (!v->node)
        note_missed(p, &u, v->never);
    return v;
}

static void refuse_all(struct pass *p, const struct unit *u, const struct sched_verdict *like)
{
    for (size_t i = 0; i < u->n; i++) {
        struct sched_verdict *v = verdict_of(p, u->at[i]);
        v->why = like->why;
        v->never = like->never;
        v->behind = like->behind;
        v->early = like->early;
        v->together = u->need > 0 ? u->need : 1;
    }
}

static str missing_text(struct arena *a, const struct unit *u)
{
    const struct sched_gang *g = u->gang;
    int64_t there = g->min - u->need + (int64_t)u->n_distinct;

    if (u->n_distinct && str_starts(u->at[0]->refused, g->kind))
        return u->at[0]->refused; /* says more of what is missing */
    return arena_printf(a,
                        "%" PRI_STR " %" PRI_STR "/%" PRI_STR " starts with %" PRId64
                        " pods at once, and %" PRId64 " of them exist",
                        STR_ARG(g->kind), STR_ARG(g->ns), STR_ARG(g->name), g->min, there);
}

static bool was_placed(const struct step *steps, size_t n, const struct sched_waiting *w)
{
    for (size_t i = 0; i < n; i++)
        if (steps[i].of == w)
            return true;
    return false;
}

static bool never_fits_together(struct pass *p, const struct unit *u)
{
    if (!p->l.n || !waits_for_room(p, u))
        return false;
    if (!p->empty) {
        p->empty = ARENA_NEW(p->l.a, struct ledger);
        ledger_empty(p->empty, &p->l);
    }
    return !fits_empty(p->empty, u);
}

/* Whether it would start if nothing was kept for who waits longest. */
static bool is_kept_out(struct ledger *l, const struct unit *u, struct step *steps)
{
    struct sched_verdict no = { 0 };

    if (!l->spare && !l->stakes)
        return false;
    l->is_open = true;
    bool fits = place_together(l, u, steps, &no);
    l->is_open = false;
    for (size_t n = fits ? (size_t)u->need : 0; n;)
        step_undo(l, &steps[--n]);
    return fits;
}

/* ---- groups */

static bool has_waited_long(const struct pass *p, const struct unit *u)
{
    const struct sched_guard *g = p->guard;

    return g && str_eqz(u->gang->uid, g->first) && g->now_ms - g->since_ms >= g->patience_ms;
}

static bool try_let_in(struct pass *p, struct unit *u, struct sched_group_verdict *v)
{
    struct stake *h = stake_find(&p->l, u->gang);

    *v = (struct sched_group_verdict){ .of = u->gang };
    if (!h || !group_admit(&p->l, h, v))
        return false;
    u->is_in = true;
    p->groups[p->n_groups++] = *v;
    p->failures.n = 0; /* what was said of room is no longer so */
    return true;
}

/* Groups of queues that have not what they are due come before those of others. Who does not fit
 * now will not in this pass, so none is tried twice. */
static void let_due_in(struct pass *p)
{
    struct sched_group_verdict v;

    for (; p->next_due < p->n_units; p->next_due++) {
        struct unit *u = &p->units[p->next_due];
        const struct stake *h =
            u->enters && !u->is_in && !u->gang->stopped ? stake_find(&p->l, u->gang) : NULL;
        if (h && h->line && !line_is_served(&p->l, h))
            try_let_in(p, u, &v);
    }
}

static void make_way_in(struct pass *p, const struct unit *u, struct sched_group_verdict *v)
{
    if (!p->l.preempts)
        return;
    enum evicts evicts = evict_for(&p->evictor, &p->l, u);
    size_t n = p->evictor.n_victims;
    if (evicts == EVICTS_NOW)
        v->why = arena_printf(p->l.a, "%" PRI_STR "; %zu pod%s sent away for it", STR_ARG(v->why),
                              n, n == 1 ? " is" : "s are");
    else if (evicts == EVICTS_BEFORE)
        v->why = arena_cat(p->l.a, v->why, S("; pods that matter less are being deleted"));
    if (evicts >= EVICTS_BEFORE)
        p->failures.n = 0;
}

/* Whether it is let in; what its pods are told, which wait until they are looked at again. */
static str decide_group(struct pass *p, struct unit *u)
{
    const struct sched_gang *g = u->gang;
    const struct stake *h = stake_find(&p->l, g);
    struct sched_group_verdict v;

    if (g->stopped)
        return S("the group is suspended or has ended");
    if (!h)
        return S("the group is not known yet");
    if (!u->is_in && line_is_served(&p->l, h) && !has_waited_long(p, u))
        let_due_in(p);
    if (u->is_in || try_let_in(p, u, &v))
        return arena_printf(p->l.a, "%" PRI_STR " was let in just now",
                            STR_ARG(gang_text(p->l.a, g)));
    bool waits = !v.behind.n && !h->ends && !g->refused.n && !(g->queue && g->queue->closed);
    if (waits && !v.never)
        make_way_in(p, u, &v);
    p->groups[p->n_groups++] = v;
    note_missed(p, u, v.never || !waits);
    return v.why;
}

/* Let in, but it never fits as its pods are: it gives back what is kept for it. */
static void note_void(struct pass *p, const struct unit *u)
{
    const struct stake *h = stake_find(&p->l, u->gang);

    if (h && h->kept)
        p->voids[p->n_voids++] = u->gang;
}

static void decide_gang(struct pass *p, struct unit *u)
{
    struct sched_verdict no = { 0 };
    struct arena *a = p->l.a;
    size_t need = u->need > 0 ? (size_t)u->need : 0;

    if (u->enters) {
        no.early = true;
        no.why = decide_group(p, u);
        refuse_all(p, u, &no);
        return;
    }
    if (u->gang->stopped || u->n_distinct < need) {
        no.early = true;
        no.why = u->gang->stopped ? S("the job is suspended or has ended") : missing_text(a, u);
        refuse_all(p, u, &no);
        return;
    }
    if (is_unchanged(u) && !p->l.preempts) {
        no.never = u->at[0]->never;
        refuse_all(p, u, &no);
        note_missed(p, u, no.never);
        return;
    }
    const struct sched_verdict *like = failed_like(&p->l, &p->failures, u);
    if (like) {
        no = *like;
        refuse_all(p, u, &no);
        note_missed(p, u, no.never);
        return;
    }
    struct step *steps = ARENA_ARRAY(a, struct step, need + 1);
    if (!place_together(&p->l, u, steps, &no)) {
        str held_for = no.behind.n ? no.behind : p->l.barred_for;
        no.behind = is_kept_out(&p->l, u, steps) ? held_for : STR_NONE;
        no.never = never_fits_together(p, u);
        if (no.never)
            note_void(p, u);
        if (!make_way(p, u, &no))
            add_failure(p, u, &no);
        refuse_all(p, u, &no);
        note_missed(p, u, no.never);
        return;
    }
    p->failures.n = 0;
    for (size_t i = 0; i < need; i++) {
        struct sched_verdict *v = verdict_of(p, steps[i].of);
        v->node = steps[i].place->node;
        v->whole = true;
    }
    for (size_t i = 0; i < u->n; i++)
        if (!was_placed(steps, need, u->at[i])) { /* it waited for the gang */
            struct sched_verdict *v = decide_alone(p, u->at[i], false);
            v->whole = v->node != NULL; /* were it bound before the others, part of it would run */
        }
}

static void decide_all(struct pass *p, struct arena *a, const struct sched_input *in)
{
    size_t n_voids = p->n_voids;

    p->out = ARENA_ARRAY(a, struct sched_verdict, in->n_waiting + 1);
    p->groups = ARENA_ARRAY(a, struct sched_group_verdict, in->n_groups + 1);
    p->guard = in->guard;
    p->evictor = (struct evictor){ .in = in };
    p->units = units_of(a, in, &p->n_units);
    qsort(p->units, p->n_units, sizeof(*p->units), compare_units);
    ledger_open(&p->l, a, in);
    stake_start(&p->l, p->voids, n_voids);
    shares_open(&p->l, p->units, p->n_units);
    quota_open(&p->l, in);
    for (size_t i = 0; i < p->n_units; i++) {
        struct unit *u = &p->units[i];
        if (u->gang)
            decide_gang(p, u);
        else
            decide_alone(p, u->at[0], u->at[0]->unchanged);
    }
    if (p->guard && !p->missed)
        guard_first(p->guard, &p->l, NULL);
}

/* Those of which it was found before. */
static void add_known_voids(struct pass *p, const struct sched_input *in)
{
    for (size_t i = 0; i < in->n_waiting; i++) {
        const struct sched_waiting *w = &in->waiting[i];
        const struct sched_gang *g = w->pod->gang;
        bool again = p->n_voids && p->voids[p->n_voids - 1] == g;
        if (g && g->is_group && g->let_in && !g->started && w->unchanged && w->never && !again)
            p->voids[p->n_voids++] = g;
    }
}

struct sched_decision sched_decide(struct arena *a, const struct sched_input *in)
{
    struct pass p = { .voids = ARENA_ARRAY(a, const struct sched_gang *,
                                           2 * in->n_waiting + in->n_groups + 1) };
    struct sched_guard was = in->guard ? *in->guard : (struct sched_guard){ 0 };

    add_known_voids(&p, in);
    size_t n_known = p.n_voids;
    decide_all(&p, a, in);
    if (p.n_voids > n_known) { /* others had been kept away for nothing */
        p = (struct pass){ .voids = p.voids, .n_voids = p.n_voids };
        if (in->guard)
            *in->guard = was;
        decide_all(&p, a, in);
        if (in->guard)
            in->guard->released = true;
    }
    return (struct sched_decision){ .pods = p.out,
                                    .groups = p.groups,
                                    .n_groups = p.n_groups,
                                    .victims = p.evictor.victims,
                                    .n_victims = p.evictor.n_victims };
}
