/* No state from which a gang that could start never does.
 *
 * In a smaller world gangs come and end whole, pods fail and are replaced, what is decided is
 * written, and time passes. All its
 * states and steps are known at once, so that it can be said whether there is a way on which a gang
 * that would fit waits for ever, although time passes on it and no other gang runs for ever,
 * without one that goes before it by right ever starting: then others that came later passed it for
 * ever. The states of such ways are what is left of all when those are taken away again and again
 * from which some of that cannot come about (Emerson and Lei). */

#include "liveness.h"

#include "model.h"
#include "states.h"

#include <stdio.h>
#include <stdlib.h>

enum { STATES = 60 * 1000, STEPS = 16 };

/* a waits for both nodes' GPUs, d goes before it; and a waits for two resources, which others take
 * in turn. */
static const struct shape worlds[] = {
    {
        .n_nodes = 2,
        .n_gangs = 4,
        .node = { { { 4, 4, 2 }, 4 }, { { 4, 4, 0 }, 4 } },
        .gang = { { .lead = { 1, 0, 1 }, .need = { 1, 0, 1 }, .min = 2, .size = 2 },
                  { .lead = { 1, 0, 1 }, .min = 1, .size = 1 },
                  { .lead = { 2, 0, 1 }, .min = 1, .size = 1 },
                  { .lead = { 3, 0, 0 },
                    .need = { 3, 0, 0 },
                    .priority = 1,
                    .min = 2,
                    .size = 2 } },
        .patience = 2,
        .whole_arrivals = true,
    },
    {
        .n_nodes = 1,
        .n_gangs = 4,
        .node = { { { 2, 2, 2 }, 9 } },
        .gang = { { .lead = { 1, 0, 1 }, .need = { 1, 0, 1 }, .min = 2, .size = 2 },
                  { .lead = { 1, 0, 0 }, .min = 1, .size = 1 },
                  { .lead = { 0, 0, 1 }, .min = 1, .size = 1 },
                  { .lead = { 0, 1, 1 }, .min = 1, .size = 1 } },
        .patience = 2,
        .whole_arrivals = true,
    },
    {
        .n_nodes = 2,
        .n_gangs = 4,
        .node = { { { 2, 2, 2 }, 9 }, { { 2, 2, 2 }, 9 } },
        .gang = { { .lead = { 2, 0, 2 }, .min = 1, .size = 1 },
                  { .lead = { 1, 0, 0 }, .need = { 1, 0, 0 }, .min = 2, .size = 2 },
                  { .lead = { 0, 0, 1 }, .need = { 0, 0, 1 }, .min = 2, .size = 2 },
                  { .lead = { 1, 1, 1 }, .min = 1, .size = 1 } },
        .patience = 2,
        .whole_arrivals = true,
    },
};

struct step {
    uint32_t to;
    bool ticks;
};

struct graph {
    struct model m;
    struct states *t;
    struct step (*steps)[STEPS];
    uint8_t *n_steps;
    bool *in; /* states that may be on such a way */
    bool *reach;
};

/* ---- all states and steps */

/* The decision, and what comes of it. */
static void settle(struct model *m, struct state *s)
{
    model_apply(m, s, (struct event){ .kind = EV_PASS });
    for (size_t g = 0; g < m->shape->n_gangs; g++) {
        if (gang_count(m->shape, s, g, AT(BATCHED)))
            model_apply(m, s, (struct event){ EV_WRITE, (uint8_t)g, MEMBERS_MAX });
        for (size_t i = 0; i < MEMBERS_MAX; i++)
            if (s->slot[g][i].at == ALONE)
                model_apply(m, s, (struct event){ EV_WRITE, (uint8_t)g, (uint8_t)i });
    }
}

static void add_step(struct graph *x, size_t from, struct event ev)
{
    struct state s = states_at(x->t, from);

    if (ev.kind == EV_TICK)
        s.age = (uint8_t)(s.age + (s.first && s.age < x->m.shape->patience));
    else
        model_apply(&x->m, &s, ev);
    if (ev.kind == EV_LOSE)
        model_apply(&x->m, &s, (struct event){ EV_CREATE, ev.gang, ev.member });
    settle(&x->m, &s);
    x->steps[from][x->n_steps[from]++] =
        (struct step){ (uint32_t)states_add(x->t, &s, from), ev.kind == EV_TICK };
}

static void find_states(struct graph *x)
{
    struct event events[EVENTS_MAX];
    struct state s = { 0 };

    states_add(x->t, &s, 0);
    for (size_t at = 0; at < states_count(x->t) && !x->m.message[0]; at++) {
        s = states_at(x->t, at);
        size_t n = model_events(x->m.shape, &s, events);
        for (size_t i = 0; i < n; i++)
            if (events[i].kind < EV_PASS)
                add_step(x, at, events[i]);
        add_step(x, at, (struct event){ .kind = EV_TICK });
    }
}

/* ---- ways */

static bool runs(const struct graph *x, size_t state, size_t g)
{
    struct state s = states_at(x->t, state);

    return gang_count(x->m.shape, &s, g, AT(BOUND)) > 0;
}

static bool waits(const struct graph *x, size_t state, size_t g)
{
    struct state s = states_at(x->t, state);

    return gang_count(x->m.shape, &s, g, UNSEATED) > 0;
}

static bool is_before(const struct graph *x, const struct state *s, size_t h, size_t g)
{
    const struct shape *sh = x->m.shape;

    if (sh->gang[h].priority != sh->gang[g].priority)
        return sh->gang[h].priority > sh->gang[g].priority;
    return s->gang[h].rank < s->gang[g].rank;
}

/* Whether a gang that goes before g by right starts in that step. */
static bool starts_before(const struct graph *x, size_t from, size_t to, size_t g)
{
    struct state s = states_at(x->t, to);

    for (size_t h = 0; h < x->m.shape->n_gangs; h++)
        if (h != g && !runs(x, from, h) && runs(x, to, h) && is_before(x, &s, h, g))
            return true;
    return false;
}

static bool is_step(const struct graph *x, size_t from, const struct step *step, size_t g)
{
    return x->in[step->to] && !starts_before(x, from, step->to, g);
}

/* What a way must do again and again: time passes (n_gangs), or gang h does not run. */
static bool is_goal(const struct graph *x, size_t from, const struct step *step, size_t goal)
{
    return goal == x->m.shape->n_gangs ? step->ticks : !runs(x, from, goal);
}

/* Those of `in` from which, within it, a step of the goal is reached. */
static void find_reach(struct graph *x, size_t g, size_t goal)
{
    size_t n = states_count(x->t);
    bool more = true;

    memset(x->reach, 0, n);
    while (more) {
        more = false;
        for (size_t at = n; at-- > 0;) {
            for (size_t i = 0; x->in[at] && !x->reach[at] && i < x->n_steps[at]; i++) {
                const struct step *step = &x->steps[at][i];
                if (is_step(x, at, step, g) && (x->reach[step->to] || is_goal(x, at, step, goal)))
                    x->reach[at] = more = true;
            }
        }
    }
}

/* A state of a way on which g waits for ever; SIZE_MAX: there is none. */
static size_t find_way(struct graph *x, size_t g)
{
    size_t n = states_count(x->t), left = 0;
    bool fewer = true;

    for (size_t at = 0; at < n; at++)
        left += x->in[at] = waits(x, at, g);
    while (fewer && left) {
        fewer = false;
        for (size_t goal = 0; goal <= x->m.shape->n_gangs; goal++) {
            if (goal == g)
                continue;
            find_reach(x, g, goal);
            for (size_t at = 0; at < n; at++)
                if (x->in[at] && !x->reach[at]) {
                    x->in[at] = false;
                    fewer = true;
                    left--;
                }
        }
    }
    for (size_t at = 0; at < n; at++)
        if (x->in[at])
            return at;
    return SIZE_MAX;
}

static bool starves_in(const struct shape *sh, enum fault fault, char *said, size_t n_said)
{
    struct graph x = { .m = { .shape = sh, .fault = fault }, .t = states_new(sh, STATES) };
    size_t n_starved = 0;

    x.steps = calloc(STATES, sizeof(*x.steps));
    x.n_steps = calloc(STATES, sizeof(*x.n_steps));
    x.in = calloc(STATES, sizeof(*x.in));
    x.reach = calloc(STATES, sizeof(*x.reach));
    find_states(&x);
    snprintf(said, n_said, "%zu states %s", states_count(x.t), x.m.message);
    for (size_t g = 0; g < sh->n_gangs; g++) {
        size_t at = find_way(&x, g);
        if (at == SIZE_MAX)
            continue;
        n_starved++;
        snprintf(said, n_said, "gang %c may wait for ever, from state %zu on", (char)('a' + g), at);
    }
    bool starved = n_starved || x.m.message[0];
    states_free(x.t);
    free(x.steps);
    free(x.n_steps);
    free(x.in);
    free(x.reach);
    return starved;
}

size_t starving_worlds(void)
{
    return COUNT(worlds);
}

bool someone_starves(size_t world, enum fault fault, char *said, size_t n_said)
{
    return starves_in(&worlds[world], fault, said, n_said);
}
