/* States of a small world around the real sched_decide: three gangs of two or three members, with
 * two priorities, on two nodes with three resources. In whatever order gangs and pods come, grow,
 * fail and end, bindings arrive or are refused and the scheduler starts anew: the rules of
 * model/model_rules.c hold, and each fault that is planted around the decision is found.
 *
 * Nearest states first. MODEL_STATES=N looks at N states; 0: at MOST, which takes minutes. */

#include "model/liveness.h"
#include "model/model.h"
#include "model/states.h"
#include "tap.h"

static const struct shape small = {
    .n_nodes = 2,
    .n_gangs = 3,
    .node = { { { 4, 4, 2 }, 3 }, { { 2, 4, 1 }, 2 } },
    .gang = { { .lead = { 2, 1, 0 }, .need = { 1, 1, 1 }, .min = 2, .size = 2, .grown = 3 },
              { .lead = { 2, 0, 1 }, .need = { 1, 0, 1 }, .min = 2, .size = 2 },
              { .lead = { 2, 1, 0 }, .need = { 1, 3, 0 }, .priority = 1, .min = 2, .size = 2 } },
    .patience = 2,
};

/* Small enough to go through all of its states each time. */
static const struct shape two_gangs = {
    .n_nodes = 2,
    .n_gangs = 2,
    .node = { { { 3, 4, 2 }, 3 }, { { 2, 4, 1 }, 2 } },
    .gang = { { .lead = { 2, 1, 0 }, .need = { 1, 1, 1 }, .min = 2, .size = 2 },
              { .lead = { 1, 0, 2 }, .need = { 1, 0, 1 }, .min = 2, .size = 2 } },
    .patience = 1,
};

enum { AT_ONCE = 40 * 1000, FEW = 200 * 1000, MOST = 24 * 1000 * 1000 };

/* How many states are known once the search ends; m->message says what was broken first. */
static size_t search(struct model *m, size_t limit, size_t *n_open)
{
    struct states *t = states_new(m->shape, limit);
    struct state s = { 0 };
    struct event events[EVENTS_MAX];
    size_t at = 0;

    states_add(t, &s, 0);
    for (; at < states_count(t) && states_count(t) < limit && !m->message[0]; at++) {
        struct state from = states_at(t, at);
        size_t n = model_events(m->shape, &from, events);
        m->sentences = at % 16 == 0;
        for (size_t i = 0; i < n && states_count(t) < limit; i++) {
            s = from;
            model_apply(m, &s, events[i]);
            if (m->message[0]) {
                states_print_way(t, at, &events[i]);
                break;
            }
            states_add(t, &s, at);
        }
    }
    size_t known = states_count(t);
    *n_open = known - at;
    states_free(t);
    return known;
}

static size_t limit_of(const char *env)
{
    size_t n = env ? strtoul(env, NULL, 10) : AT_ONCE;

    return n && n < MOST ? n : MOST;
}

static void every_state_is_right(void)
{
    struct model m = { .shape = &small };
    size_t limit = limit_of(getenv("MODEL_STATES")), n_open;
    size_t n = search(&m, limit, &n_open);

    printf("# %zu distinct states, %zu of them not looked at\n", n, n_open);
    if (!ok(!m.message[0], "S1 S2 S3 in every state"))
        printf("# %s\n", m.message);
    ok(n == limit || !n_open, "as many states as were asked for");
    m = (struct model){ .shape = &two_gangs };
    n = search(&m, FEW, &n_open);
    if (!ok(!m.message[0] && !n_open, "and in all %zu states that two gangs can reach", n))
        printf("# %s\n", m.message);
}

static void faults_are_found(void)
{
    static const struct {
        enum fault fault;
        const char *what, *rule;
    } rows[] = {
        { FAULT_NO_RESERVES, "what is kept for a member that is gone is given away", "S1" },
        { FAULT_ONE_BY_ONE, "members are bound one by one", "S1" },
        { FAULT_FORGETFUL, "what is decided and not written is forgotten", "S1" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct model m = { .shape = &small, .fault = rows[i].fault };
        size_t n_open, n = search(&m, FEW, &n_open);
        printf("# %s, after %zu states\n", m.message, n);
        ok(strncmp(m.message, rows[i].rule, 2) == 0, "found: %s", rows[i].what);
    }
}

static void nobody_waits_for_ever(void)
{
    char said[MESSAGE_MAX];

    for (size_t i = 0; i < starving_worlds(); i++) {
        ok(!someone_starves(i, FAULT_NONE, said, sizeof(said)),
           "nobody waits for ever in world %zu", i);
        printf("# %s\n", said);
        ok(someone_starves(i, FAULT_NO_GUARD, said, sizeof(said)),
           "found: later gangs pass one for ever in world %zu", i);
        printf("# %s\n", said);
    }
}

int main(void)
{
    every_state_is_right();
    faults_are_found();
    nobody_waits_for_ever();
    return tap_done();
}
