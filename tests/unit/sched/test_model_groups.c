/* States of small worlds of PodGroups around the real sched_decide: three groups in two queues, on
 * two nodes with three resources, with and without pods that make way for others. In whatever order
 * groups and pods come, grow, fail and end, what is decided is written or refused and the scheduler
 * starts anew: the rules of model/groups_rules.c hold, each group that could start does, and each
 * fault that is planted around the decision is found.
 *
 * Nearest states first. MODEL_STATES=N looks at N states of each; 0: at MOST, which takes minutes.
 */

#include "model/groups.h"
#include "tap.h"

#include "base/mem.h"

enum { AT_ONCE = 25 * 1000, FEW = 200 * 1000, MOST = 24 * 1000 * 1000 };

static const struct g_shape worlds[] = {
    { .has = { { 4, 4, 2, 3 }, { 2, 4, 1, 2 } },
      .cap = { { 0, 0, 2 } },
      .weight = { 1, 1 },
      .group = { { .need = { 1, 1, 1 }, .min = 2, .size = 2, .grown = 3 },
                 { .need = { 1, 0, 1 }, .min = 1, .size = 2, .early = true },
                 { .need = { 2, 1, 0 }, .queue = 1, .min = 2, .size = 2 } },
      .patience = 2 },
    { .has = { { 3, 4, 2, 3 }, { 2, 4, 1, 2 } },
      .cap = { { 4, 0, 3 } },
      .weight = { 2, 1 },
      .group = { { .need = { 1, 1, 1 }, .min = 1, .size = 2, .grown = 3 },
                 { .need = { 1, 0, 1 }, .min = 2, .size = 2 },
                 { .need = { 1, 1, 1 }, .queue = 1, .priority = 1, .min = 2, .size = 2 } },
      .patience = 2,
      .preempts = true },
};

/* ---- states */

struct states {
    uint64_t *at;
    uint32_t *from, *table; /* number + 1 */
    size_t n, mask;
};

static struct states states_new(size_t most)
{
    struct states t = { 0 };
    size_t n = 1024;

    while (n < most + most / 2)
        n *= 2;
    t.mask = n - 1;
    t.at = mem_or_abort(calloc(most + 1, sizeof(*t.at)));
    t.from = mem_or_abort(calloc(most + 1, sizeof(*t.from)));
    t.table = mem_or_abort(calloc(n, sizeof(*t.table)));
    return t;
}

static void states_free(struct states *t)
{
    free(t->at);
    free(t->from);
    free(t->table);
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

static void states_add(struct states *t, uint64_t b, size_t from)
{
    size_t k = mix(b) & t->mask;

    for (; t->table[k]; k = (k + 1) & t->mask)
        if (t->at[t->table[k] - 1] == b)
            return;
    t->at[t->n] = b;
    t->from[t->n] = (uint32_t)from;
    t->table[k] = (uint32_t)++t->n;
}

static void print_way(const struct g_model *of, const struct states *t, size_t number)
{
    const struct g_shape *sh = of->shape;
    struct g_model m = { .shape = sh, .fault = of->fault };
    struct g_event events[G_EVENTS];
    struct g_state from = g_unpack(sh, t->at[t->from[number]]);
    char text[32];

    if (!number)
        return;
    print_way(of, t, t->from[number]);
    size_t n = g_events(sh, &from, events);
    for (size_t i = 0; i < n; i++) {
        struct g_state s = from;
        g_apply(&m, &s, events[i]);
        if (g_pack(sh, &s) == t->at[number]) {
            printf(" %s;", g_text(events[i], text, sizeof(text)));
            return;
        }
    }
    printf(" ?;");
}

/* ---- nobody waits for ever: others come again as soon as they are gone, and never all at once */

enum { ROUNDS = 60, RUN_ROUNDS = 3 };

static void apply(struct g_model *m, struct g_state *s, enum g_kind kind, size_t g, size_t i)
{
    g_apply(m, s, (struct g_event){ (uint8_t)kind, (uint8_t)g, (uint8_t)i });
}

/* What is decided is written, pods are made, and those that are being deleted end. */
static void settle(struct g_model *m, struct g_state *s)
{
    apply(m, s, GV_PASS, 0, 0);
    for (size_t g = 0; g < G_GROUPS; g++) {
        if (s->group[g].phase == G_ENTERING)
            apply(m, s, GV_WRITE_IN, g, 0);
        if (g_count(s, g, G_AT(G_BATCHED)))
            apply(m, s, GV_WRITE, g, G_SLOTS);
        for (size_t i = 0; i < g_size(m->shape, s, g) && s->group[g].phase != G_GONE; i++) {
            if (s->slot[g][i].at == G_ALONE)
                apply(m, s, GV_WRITE, g, i);
            else if (s->slot[g][i].at == G_ENDING)
                apply(m, s, GV_LOSE, g, i);
            else if (s->slot[g][i].at == G_ABSENT && s->group[g].phase == G_IN)
                apply(m, s, GV_CREATE, g, i);
        }
    }
}

static bool has_started(const struct g_shape *sh, const struct g_state *s, size_t g)
{
    return g_count(s, g, G_AT(G_BOUND) | G_AT(G_DONE)) >= sh->group[g].min;
}

static bool starts_at_last(struct g_model *m, struct g_state s, size_t target)
{
    const struct g_shape *sh = m->shape;
    size_t ran[G_GROUPS] = { 0 };

    if (s.group[target].phase == G_GONE)
        apply(m, &s, GV_ARRIVE, target, 0);
    for (size_t round = 0; round < ROUNDS; round++) {
        if (has_started(sh, &s, target))
            return true;
        size_t ends = SIZE_MAX; /* one at a time, who has run longest */
        for (size_t g = 0; g < G_GROUPS; g++) {
            bool again = sh->group[g].size && s.group[g].phase == G_GONE &&
                         sh->group[g].priority <= sh->group[target].priority;
            if (again)
                apply(m, &s, GV_ARRIVE, g, 0);
            ran[g] = has_started(sh, &s, g) ? ran[g] + 1 : 0;
            if (ran[g] >= RUN_ROUNDS && (ends == SIZE_MAX || ran[g] > ran[ends]))
                ends = g;
        }
        if (ends != SIZE_MAX)
            apply(m, &s, GV_LEAVE, ends, 0);
        settle(m, &s);
        if (s.first && s.age < sh->patience)
            apply(m, &s, GV_TICK, 0, 0);
    }
    return false;
}

static void check_starting(struct g_model *m, const struct g_state *s)
{
    for (size_t g = 0; g < G_GROUPS && !m->message[0]; g++)
        if (m->shape->group[g].size && !starts_at_last(m, *s, g) && !m->message[0])
            snprintf(m->message, sizeof(m->message), "S2: group %c waits for ever",
                     (char)('a' + g));
}

/* ---- */

enum { LOOK_AHEAD = 64 }; /* from one state in so many */

/* How many states are known once the search ends; m->message says what was broken first. */
static size_t search(struct g_model *m, size_t limit, size_t *n_open)
{
    struct states t = states_new(limit);
    struct g_state s = { 0 };
    struct g_event events[G_EVENTS];
    char text[32] = "";
    size_t at = 0;

    states_add(&t, g_pack(m->shape, &s), 0);
    for (; at < t.n && t.n < limit && !m->message[0]; at++) {
        struct g_state from = g_unpack(m->shape, t.at[at]);
        size_t n = g_events(m->shape, &from, events);
        for (size_t i = 0; i < n && t.n < limit && !m->message[0]; i++) {
            s = from;
            g_apply(m, &s, events[i]);
            if (m->message[0])
                g_text(events[i], text, sizeof(text));
            else
                states_add(&t, g_pack(m->shape, &s), at);
        }
        if (at % LOOK_AHEAD == 0 && !m->message[0])
            check_starting(m, &from);
        if (m->message[0]) {
            printf("# %s:", m->message);
            print_way(m, &t, at);
            printf(" %s\n", text);
        }
    }
    *n_open = t.n - at;
    states_free(&t);
    return t.n;
}

static size_t limit_of(const char *env)
{
    size_t n = env ? strtoul(env, NULL, 10) : AT_ONCE;

    return n && n < MOST ? n : MOST;
}

static void every_state_is_right(void)
{
    for (size_t i = 0; i < COUNT(worlds); i++) {
        struct g_model m = { .shape = &worlds[i] };
        size_t limit = limit_of(getenv("MODEL_STATES")), n_open, n = search(&m, limit, &n_open);
        printf("# world %zu: %zu distinct states, %zu of them not looked at\n", i, n, n_open);
        ok(!m.message[0], "S1 S2 S3 in every state of world %zu", i);
        ok(n == limit || !n_open, "as many states as were asked for");
    }
}

static void faults_are_found(void)
{
    static const struct {
        enum g_fault fault;
        size_t world;
        const char *what, *rule;
    } rows[] = {
        { G_NO_RESERVATION, 0, "what is kept for a group is given away", "S1" },
        { G_ONE_BY_ONE, 0, "members are bound one by one", "S1" },
        { G_NO_GUARD, 2, "later groups pass one for ever", "S2: group a waits" },
        { G_NO_CAPABILITY, 0, "what a queue may use is not looked at", "S1: queue" },
        { G_PREEMPT_EQUALS, 1, "those that matter as much are sent away", "S2: pods" },
    };
    static const struct g_shape crowd = {
        .has = { { 2, 2, 2, 9 } },
        .weight = { 1, 1 },
        .group = { { .need = { 1, 0, 1 }, .min = 2, .size = 2 },
                   { .need = { 1, 0, 0 }, .min = 1, .size = 1 },
                   { .need = { 1, 0, 1 }, .queue = 1, .min = 1, .size = 1 } },
        .patience = 2,
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct g_shape *sh = rows[i].world < COUNT(worlds) ? &worlds[rows[i].world] : &crowd;
        struct g_model m = { .shape = sh, .fault = rows[i].fault };
        size_t n_open, n = search(&m, FEW, &n_open);
        printf("# after %zu states\n", n);
        ok(str_starts(str_of(m.message), str_of(rows[i].rule)), "found: %s", rows[i].what);
    }
    struct g_model m = { .shape = &crowd };
    size_t n_open, n = search(&m, FEW, &n_open);
    ok(!m.message[0] && !n_open, "which is not so in any of %zu states of that world", n);
}

int main(void)
{
    every_state_is_right();
    faults_are_found();
    return tap_done();
}
