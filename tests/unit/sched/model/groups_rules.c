/* S1: whole or not at all; nothing is given twice, neither what is kept for a group; no queue has
 * more than it may. S2: what fits is let in and starts, unless what it needs is kept; only those
 * that matter less are sent away, and only if that helps. S3: what is said of it is true.
 * Reckoned anew, without anything of src/sched. */

#include "groups.h"

#include <stdarg.h>
#include <stdio.h>

enum { R = G_RES + 1 }; /* the last is the number of pods */

static void broken(struct g_model *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void broken(struct g_model *m, const char *fmt, ...)
{
    va_list ap;

    if (m->message[0])
        return;
    va_start(ap, fmt);
    vsnprintf(m->message, sizeof(m->message), fmt, ap);
    va_end(ap);
}

static char letter(size_t g)
{
    return (char)('a' + g);
}

static int64_t most(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

/* ---- what there is */

static int64_t need_of(const struct g_shape *sh, size_t g, size_t k)
{
    return k < G_RES ? sh->group[g].need[k] : 1;
}

static int64_t used_by(const struct g_shape *sh, const struct g_state *s, size_t g, size_t k)
{
    return (int64_t)g_count(s, g, G_HAS_ROOM) * need_of(sh, g, k);
}

/* What it is to have together, but for what succeeded. */
static int64_t share_of(const struct g_shape *sh, const struct g_state *s, size_t g, size_t k)
{
    int64_t n = sh->group[g].min - (int64_t)g_count(s, g, G_AT(G_DONE));

    return most(n, 0) * need_of(sh, g, k);
}

/* Kept for it, and not in use. */
static int64_t left_of(const struct g_shape *sh, const struct g_state *s, size_t g, size_t k)
{
    if (s->group[g].phase < G_ENTERING)
        return 0;
    return most(share_of(sh, s, g, k) - used_by(sh, s, g, k), 0);
}

static int64_t left_of_all(const struct g_shape *sh, const struct g_state *s, size_t k)
{
    int64_t n = 0;

    for (size_t g = 0; g < G_GROUPS; g++)
        n += left_of(sh, s, g, k);
    return n;
}

static int64_t free_on(const struct g_shape *sh, const struct g_state *s, size_t node, size_t k)
{
    int64_t n = sh->has[node][k];

    for (size_t g = 0; g < G_GROUPS; g++)
        for (size_t i = 0; i < G_SLOTS; i++)
            if ((G_AT(s->slot[g][i].at) & G_HAS_ROOM) && s->slot[g][i].node == node)
                n -= need_of(sh, g, k);
    return n;
}

static int64_t free_of(const struct g_shape *sh, const struct g_state *s, size_t k)
{
    int64_t n = 0;

    for (size_t node = 0; node < G_NODES; node++)
        n += free_on(sh, s, node, k);
    return n;
}

static int64_t cap_of(const struct g_shape *sh, size_t q, size_t k)
{
    return k < G_RES && sh->cap[q][k] ? sh->cap[q][k] : INT32_MAX;
}

static int64_t used_of_queue(const struct g_shape *sh, const struct g_state *s, size_t q, size_t k)
{
    int64_t n = 0;

    for (size_t g = 0; g < G_GROUPS; g++)
        if (sh->group[g].queue == q)
            n += used_by(sh, s, g, k) + left_of(sh, s, g, k);
    return n;
}

/* ---- a state */

void g_rules_of_state(struct g_model *m, const struct g_state *s)
{
    const struct g_shape *sh = m->shape;

    for (size_t k = 0; k < R; k++) {
        for (size_t n = 0; n < G_NODES; n++)
            if (free_on(sh, s, n, k) < 0)
                broken(m, "S1: resource %zu of node %zu is given twice", k, n);
        if (left_of_all(sh, s, k) > free_of(sh, s, k))
            broken(m, "S1: resource %zu that is kept for a group was taken by others", k);
        for (size_t q = 0; q < G_QUEUES; q++)
            if (used_of_queue(sh, s, q, k) > cap_of(sh, q, k))
                broken(m, "S1: queue %zu has more of resource %zu than it may", q, k);
    }
    for (size_t g = 0; g < G_GROUPS; g++)
        if (!s->group[g].whole && g_count(s, g, G_AT(G_BOUND) | G_AT(G_DONE)))
            broken(m, "S1: part of group %c was bound", letter(g));
}

/* ---- what fits */

static bool fits_limits(const struct g_shape *sh, const struct g_state *s, size_t g, size_t k,
                        int64_t n)
{
    size_t q = sh->group[g].queue;

    return n <= 0 || (n <= free_of(sh, s, k) - left_of_all(sh, s, k) &&
                      n <= cap_of(sh, q, k) - used_of_queue(sh, s, q, k));
}

static bool could_enter(const struct g_shape *sh, const struct g_state *s, size_t g)
{
    if (s->group[g].phase != G_OUT || g_count(s, g, G_AT(G_ENDING)))
        return false;
    for (size_t k = 0; k < R; k++)
        if (share_of(sh, s, g, k) &&
            !fits_limits(sh, s, g, k, share_of(sh, s, g, k) - used_by(sh, s, g, k)))
            return false;
    return true;
}

static bool place_n(const struct g_shape *sh, const struct g_state *s, size_t g, size_t n)
{
    size_t room = 0;

    for (size_t node = 0; node < G_NODES; node++) {
        int64_t pods = INT32_MAX;
        for (size_t k = 0; k < R; k++)
            if (need_of(sh, g, k) && free_on(sh, s, node, k) / need_of(sh, g, k) < pods)
                pods = free_on(sh, s, node, k) / need_of(sh, g, k);
        room += (size_t)most(pods, 0);
    }
    return room >= n;
}

/* How many of its waiting pods must have a node at once; 0: it does not wait for room. */
static size_t starts_with(const struct g_shape *sh, const struct g_state *s, size_t g)
{
    size_t waiting = g_count(s, g, G_AT(G_WAITS)), have = g_count(s, g, G_SEATED);
    size_t need = sh->group[g].min > have ? sh->group[g].min - have : 0;

    if (s->group[g].phase < G_ENTERING || !waiting || g_count(s, g, G_AT(G_BATCHED)))
        return 0;
    if (s->group[g].started || !need)
        return 1;
    return waiting >= need ? need : 0;
}

static bool could_start(const struct g_shape *sh, const struct g_state *s, size_t g)
{
    size_t n = starts_with(sh, s, g);

    for (size_t k = 0; k < R && n; k++)
        if (!fits_limits(sh, s, g, k, (int64_t)n * need_of(sh, g, k) - left_of(sh, s, g, k)))
            return false;
    return n && place_n(sh, s, g, n);
}

/* ---- a pass */

static bool never_fits(const struct g_shape *sh, size_t g)
{
    for (size_t k = 0; k < R; k++) {
        int64_t all = sh->has[0][k] + sh->has[1][k], need = sh->group[g].min * need_of(sh, g, k);
        if (need > all || need > cap_of(sh, sh->group[g].queue, k))
            return true;
    }
    return false;
}

static bool comes_before(const struct g_shape *sh, const struct g_state *s, size_t g, size_t h)
{
    if (sh->group[g].priority != sh->group[h].priority)
        return sh->group[g].priority > sh->group[h].priority;
    if (s->group[g].returning != s->group[h].returning)
        return s->group[g].returning;
    return s->group[g].rank < s->group[h].rank;
}

/* Room or a queue is kept for one that waits. */
static bool something_is_kept(const struct g_shape *sh, const struct g_state *s,
                              const struct sched_decision *d)
{
    bool ends = false;

    for (size_t g = 0; g < G_GROUPS; g++)
        ends = ends || g_count(s, g, G_AT(G_ENDING));
    return (s->first && s->age >= sh->patience) || (sh->preempts && (d->n_victims || ends));
}

static void check_fitting(struct g_model *m, const struct g_state *before, const struct g_state *s,
                          const struct sched_decision *d)
{
    const struct g_shape *sh = m->shape;
    bool kept = something_is_kept(sh, s, d);

    for (size_t g = 0; g < G_GROUPS; g++) {
        bool first = s->first == 1 + g;
        if (s->first > G_GROUPS)
            first = (s->first - 1u - G_GROUPS) / G_SLOTS == g;
        if (kept && !(first && s->age >= sh->patience && !d->n_victims))
            continue;
        if (could_enter(sh, s, g))
            broken(m, "S2: group %c fits and is not let in", letter(g));
        if (before->group[g].phase != G_OUT && could_start(sh, s, g))
            broken(m, "S2: pods of group %c fit and do not start", letter(g));
    }
}

/* Nobody is let in before another of its queue that would have fitted instead. */
static void check_order(struct g_model *m, const struct g_state *before,
                        const struct g_state *after, const struct sched_decision *d)
{
    const struct g_shape *sh = m->shape;

    for (size_t i = 0; i < d->n_groups; i++)
        for (size_t j = 0; j < d->n_groups; j++) {
            size_t g = g_group_of(d->groups[i].of->name), h = g_group_of(d->groups[j].of->name);
            struct g_state without = *after;
            without.group[h].phase = G_OUT;
            if (d->groups[i].let_in || !d->groups[j].let_in ||
                sh->group[g].queue != sh->group[h].queue || !comes_before(sh, before, g, h))
                continue;
            if (!something_is_kept(sh, after, d) && could_enter(sh, &without, g))
                broken(m, "S2: group %c was let in before group %c", letter(h), letter(g));
        }
}

static void check_said(struct g_model *m, const struct g_state *before,
                       const struct sched_input *in, const struct sched_decision *d)
{
    for (size_t i = 0; i < d->n_groups; i++) {
        const struct sched_group_verdict *v = &d->groups[i];
        size_t g = g_group_of(v->of->name);
        if (before->group[g].phase != G_OUT)
            broken(m, "S3: group %c was let in before", letter(g));
        if (v->let_in == (v->why.n > 0) || (v->let_in && v->never))
            broken(m, "S3: no reason is given for group %c", letter(g));
        if (v->never != never_fits(m->shape, g))
            broken(m, "S3: group %c is said to fit %s", letter(g), v->never ? "never" : "later");
        if (v->behind.n && g_group_of((str){ v->behind.p + v->behind.n - 1, 1 }) == g)
            broken(m, "S3: group %c waits behind itself", letter(g));
    }
    for (size_t i = 0; i < in->n_waiting; i++) {
        const struct sched_verdict *v = &d->pods[i];
        size_t g = g_group_of(v->of->pod->name);
        bool out = before->group[g].phase == G_OUT;
        if (out && (v->node || !v->early))
            broken(m, "S1: a pod of group %c starts before that is let in", letter(g));
        if (!v->node && !v->why.n)
            broken(m, "S3: no reason is given for a pod of group %c", letter(g));
    }
}

/* ---- who is sent away */

static bool is_victim(const struct sched_decision *d, size_t g, size_t i)
{
    for (size_t k = 0; k < d->n_victims; k++) {
        str name = d->victims[k].pod->name;
        if (g_group_of(name) == g && (size_t)(name.p[2] - '0') == i)
            return true;
    }
    return false;
}

/* The state once all those have ended, and what is decided is written. */
static struct g_state state_without(const struct g_state *s, const struct sched_decision *d)
{
    struct g_state then = *s;

    for (size_t k = 0; k < d->n_victims; k++)
        if (d->victims[k].whole)
            g_send_back(&then, g_group_of(d->victims[k].pod->name));
    for (size_t g = 0; g < G_GROUPS; g++)
        for (size_t i = 0; i < G_SLOTS; i++)
            if (then.slot[g][i].at == G_ENDING || is_victim(d, g, i))
                memset(&then.slot[g][i], 0, sizeof(then.slot[g][i]));
            else if (then.slot[g][i].at == G_BATCHED)
                then.slot[g][i].at = G_BOUND;
    return then;
}

static bool gets_in(const struct g_shape *sh, const struct g_state *s, size_t g)
{
    return s->group[g].phase == G_OUT ? could_enter(sh, s, g) : could_start(sh, s, g);
}

static void check_victims(struct g_model *m, const struct g_state *after,
                          const struct sched_decision *d)
{
    const struct g_shape *sh = m->shape;
    const struct sched_decision nobody = { .n_victims = 0 };

    if (!d->n_victims)
        return;
    str for_whom = d->victims[0].makes_way_for;
    size_t way_for = SIZE_MAX; /* "podgroup d/c", "pod d/c-0" */
    for (size_t k = 0; k + 1 < for_whom.n; k++)
        if (for_whom.p[k] == '/')
            way_for = (size_t)(for_whom.p[k + 1] - 'a');
    struct g_state then = state_without(after, d), else_then = state_without(after, &nobody);
    if (!gets_in(sh, &then, way_for))
        broken(m, "S2: pods are sent away, and group %c does not start", letter(way_for));
    if (gets_in(sh, &else_then, way_for))
        broken(m, "S2: pods are sent away, and group %c starts without that", letter(way_for));
    for (size_t k = 0; k < d->n_victims; k++) {
        size_t g = g_group_of(d->victims[k].pod->name);
        if (sh->group[g].priority >= sh->group[way_for].priority)
            broken(m, "S2: pods of group %c are sent away, which matters as much", letter(g));
        if (!d->victims[k].whole && g_count(&then, g, G_SEATED) < sh->group[g].min)
            broken(m, "S1: part of group %c is sent away", letter(g));
    }
}

void g_rules_of_pass(struct g_model *m, const struct g_state *before, const struct g_state *after,
                     const struct sched_input *in, const struct sched_decision *d)
{
    check_said(m, before, in, d);
    if (in->guard)
        check_fitting(m, before, after, d);
    check_order(m, before, after, d);
    check_victims(m, after, d);
}
