/* A state of a small world fits into 64 bits, so states are compared as a whole and none is taken
 * for another. 20 bytes a state. */

#include "states.h"

#include "base/mem.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

struct states {
    const struct shape *sh;
    uint64_t *at;
    uint32_t *from;
    uint32_t *table; /* number + 1 */
    size_t n, most, mask;
};

/* ---- as a number */

static void put(uint64_t *bits, unsigned width, unsigned value)
{
    assert(value < 1u << width);
    *bits = *bits << width | value;
}

static unsigned take(uint64_t *bits, unsigned width)
{
    unsigned value = (unsigned)(*bits & ((1u << width) - 1));

    *bits >>= width;
    return value;
}

static size_t slots_of(const struct shape *sh, size_t g)
{
    return sh->gang[g].grown > sh->gang[g].size ? sh->gang[g].grown : sh->gang[g].size;
}

static uint64_t pack(const struct shape *sh, const struct state *s)
{
    uint64_t b = 0;

    for (size_t g = 0; g < sh->n_gangs; g++) {
        for (size_t i = 0; i < slots_of(sh, g); i++) {
            put(&b, 3, s->slot[g][i].at);
            put(&b, 1, s->slot[g][i].node);
        }
        put(&b, 2, s->gang[g].phase);
        put(&b, 2, s->gang[g].rank);
        put(&b, 1, s->gang[g].grown);
        put(&b, 1, s->gang[g].started);
        put(&b, 1, s->gang[g].whole);
    }
    put(&b, 5, s->first);
    put(&b, 2, s->age);
    return b;
}

static struct state unpack(const struct shape *sh, uint64_t b)
{
    struct state s = { 0 };

    s.age = (uint8_t)take(&b, 2);
    s.first = (uint8_t)take(&b, 5);
    for (size_t g = sh->n_gangs; g-- > 0;) {
        s.gang[g].whole = take(&b, 1);
        s.gang[g].started = take(&b, 1);
        s.gang[g].grown = take(&b, 1);
        s.gang[g].rank = (uint8_t)take(&b, 2);
        s.gang[g].phase = (uint8_t)take(&b, 2);
        for (size_t i = slots_of(sh, g); i-- > 0;) {
            s.slot[g][i].node = (uint8_t)take(&b, 1);
            s.slot[g][i].at = (uint8_t)take(&b, 3);
        }
    }
    return s;
}

/* ---- the set */

struct states *states_new(const struct shape *sh, size_t most)
{
    struct states *t = mem_new(sizeof(*t));
    size_t n = 1024;

    while (n < most + most / 2)
        n *= 2;
    *t = (struct states){ .sh = sh, .most = most, .mask = n - 1 };
    t->at = mem_or_abort(calloc(most, sizeof(*t->at)));
    t->from = mem_or_abort(calloc(most, sizeof(*t->from)));
    t->table = mem_or_abort(calloc(n, sizeof(*t->table)));
    return t;
}

void states_free(struct states *t)
{
    free(t->at);
    free(t->from);
    free(t->table);
    free(t);
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

static size_t add_packed(struct states *t, uint64_t b, size_t from)
{
    size_t k = mix(b) & t->mask;

    for (; t->table[k]; k = (k + 1) & t->mask)
        if (t->at[t->table[k] - 1] == b)
            return t->table[k] - 1;
    assert(t->n < t->most);
    t->at[t->n] = b;
    t->from[t->n] = (uint32_t)from;
    t->table[k] = (uint32_t)++t->n;
    return t->n - 1;
}

size_t states_add(struct states *t, const struct state *s, size_t from)
{
    return add_packed(t, pack(t->sh, s), from);
}

size_t states_count(const struct states *t)
{
    return t->n;
}

struct state states_at(const struct states *t, size_t number)
{
    return unpack(t->sh, t->at[number]);
}

static void print_step(const struct states *t, size_t from, size_t to)
{
    struct model m = { .shape = t->sh };
    struct event events[EVENTS_MAX];
    char text[32];
    struct state s = states_at(t, from);
    size_t n = model_events(t->sh, &s, events);

    for (size_t i = 0; i < n; i++) {
        s = states_at(t, from);
        model_apply(&m, &s, events[i]);
        if (pack(t->sh, &s) != t->at[to])
            continue;
        printf(" %s;", event_text(events[i], text, sizeof(text)));
        return;
    }
    printf(" ?;");
}

static void print_to(const struct states *t, size_t number)
{
    if (!number)
        return;
    print_to(t, t->from[number]);
    print_step(t, t->from[number], number);
}

void states_print_way(const struct states *t, size_t number, const struct event *last)
{
    char text[32];

    printf("#");
    print_to(t, number);
    printf(" %s\n", last ? event_text(*last, text, sizeof(text)) : "");
}
