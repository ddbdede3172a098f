/* Events of a world of groups: which can happen, and what comes of them. */

#include "groups.h"

#include <assert.h>
#include <stdio.h>

size_t g_size(const struct g_shape *sh, const struct g_state *s, size_t g)
{
    return s->group[g].grown ? sh->group[g].grown : sh->group[g].size;
}

size_t g_count(const struct g_state *s, size_t g, unsigned mask)
{
    size_t n = 0;

    for (size_t i = 0; i < G_SLOTS; i++)
        n += (G_AT(s->slot[g][i].at) & mask) != 0;
    return n;
}

/* ---- which can happen */

struct list {
    struct g_event *at;
    size_t n;
};

static void add(struct list *l, enum g_kind kind, size_t group, size_t member)
{
    assert(l->n < G_EVENTS);
    l->at[l->n++] = (struct g_event){ (uint8_t)kind, (uint8_t)group, (uint8_t)member };
}

static void add_of_slot(const struct g_shape *sh, const struct g_state *s, size_t g, size_t i,
                        struct list *l)
{
    switch ((enum g_at)s->slot[g][i].at) {
    case G_ABSENT:
        if (s->group[g].phase == G_IN || sh->group[g].early)
            add(l, GV_CREATE, g, i);
        break;
    case G_ALONE:
        add(l, GV_WRITE, g, i);
        add(l, GV_REFUSE, g, i);
        break;
    case G_WAITS:
    case G_BATCHED:
        add(l, GV_DELETE, g, i);
        break;
    case G_BOUND:
        add(l, GV_LOSE, g, i);
        if (s->group[g].phase == G_IN)
            add(l, GV_SUCCEED, g, i);
        break;
    case G_ENDING:
        add(l, GV_LOSE, g, i);
        break;
    case G_DONE:
        break;
    }
}

static void add_of_group(const struct g_shape *sh, const struct g_state *s, size_t g,
                         struct list *l)
{
    if (s->group[g].phase == G_GONE) {
        add(l, GV_ARRIVE, g, 0);
        return;
    }
    add(l, GV_LEAVE, g, 0);
    for (size_t i = 0; i < g_size(sh, s, g); i++)
        add_of_slot(sh, s, g, i, l);
    if (!s->group[g].grown && sh->group[g].grown > sh->group[g].size)
        add(l, GV_GROW, g, 0);
    if (s->group[g].phase == G_IN && s->group[g].started)
        add(l, GV_BREAK, g, 0);
    if (s->group[g].phase == G_ENTERING)
        add(l, GV_WRITE_IN, g, 0);
    if (g_count(s, g, G_AT(G_BATCHED))) {
        add(l, GV_WRITE, g, G_SLOTS);
        add(l, GV_REFUSE, g, G_SLOTS);
    }
}

size_t g_events(const struct g_shape *sh, const struct g_state *s, struct g_event *out)
{
    struct list l = { out, 0 };

    for (size_t g = 0; g < G_GROUPS; g++)
        if (sh->group[g].size)
            add_of_group(sh, s, g, &l);
    add(&l, GV_PASS, 0, 0);
    if (s->first && s->age < sh->patience)
        add(&l, GV_TICK, 0, 0);
    add(&l, GV_RESTART, 0, 0);
    return l.n;
}

const char *g_text(struct g_event ev, char *out, size_t n)
{
    static const char *const names[] = {
        [GV_ARRIVE] = "arrive", [GV_CREATE] = "create",   [GV_LOSE] = "lose",
        [GV_SUCCEED] = "done",  [GV_DELETE] = "delete",   [GV_GROW] = "grow",
        [GV_BREAK] = "break",   [GV_LEAVE] = "leave",     [GV_WRITE_IN] = "write-in",
        [GV_WRITE] = "write",   [GV_REFUSE] = "refuse",   [GV_PASS] = "pass",
        [GV_TICK] = "tick",     [GV_RESTART] = "restart",
    };

    if (ev.kind >= GV_PASS)
        snprintf(out, n, "%s", names[ev.kind]);
    else
        snprintf(out, n, "%s %c%u", names[ev.kind], 'a' + ev.group, ev.member);
    return out;
}

/* ---- what comes of them */

static void set_slot(struct g_state *s, size_t g, size_t i, enum g_at at)
{
    s->slot[g][i].at = (uint8_t)at;
    if (!(G_AT(at) & G_HAS_ROOM))
        s->slot[g][i].node = 0;
}

static void set_all(struct g_state *s, size_t g, unsigned from, enum g_at to)
{
    for (size_t i = 0; i < G_SLOTS; i++)
        if (G_AT(s->slot[g][i].at) & from)
            set_slot(s, g, i, to);
}

/* Another pod or group of that number is not the one that waited. */
static void forget_first(struct g_state *s, size_t number)
{
    if (s->first == number)
        s->first = s->age = 0;
}

static void arrive(struct g_state *s, size_t g)
{
    size_t n = 0;

    for (size_t k = 0; k < G_GROUPS; k++)
        n += s->group[k].phase != G_GONE;
    s->group[g].phase = G_OUT;
    s->group[g].rank = (uint8_t)n;
    forget_first(s, 1 + g);
}

static void leave(struct g_state *s, size_t g)
{
    for (size_t k = 0; k < G_GROUPS; k++)
        if (s->group[k].phase != G_GONE && s->group[k].rank > s->group[g].rank)
            s->group[k].rank--;
    memset(s->slot[g], 0, sizeof(s->slot[g]));
    memset(&s->group[g], 0, sizeof(s->group[g]));
}

/* A start that lost a pod is not sent. */
static void delete (struct g_state *s, size_t g, size_t i)
{
    if (s->slot[g][i].at == G_BATCHED)
        set_all(s, g, G_AT(G_BATCHED), G_WAITS);
    set_slot(s, g, i, G_ABSENT);
}

void g_send_back(struct g_state *s, size_t g)
{
    set_all(s, g, G_AT(G_BOUND), G_ENDING);
    set_all(s, g, ~(unsigned)G_AT(G_ENDING), G_ABSENT);
    s->group[g].phase = G_OUT;
    s->group[g].returning = true;
}

/* That pods have a node says that their group was let in. */
static void written(struct g_model *m, struct g_state *s, size_t g, size_t i)
{
    s->group[g].phase = G_IN;
    s->group[g].returning = false;
    if (i == G_SLOTS && m->fault != G_ONE_BY_ONE) {
        set_all(s, g, G_AT(G_BATCHED), G_BOUND);
        return;
    }
    if (i == G_SLOTS)
        for (i = 0; s->slot[g][i].at != G_BATCHED; i++)
            ;
    set_slot(s, g, i, G_BOUND);
}

static void restart(struct g_state *s)
{
    s->first = s->age = 0;
    for (size_t g = 0; g < G_GROUPS; g++) {
        s->group[g].started = false;
        if (s->group[g].phase == G_ENTERING)
            s->group[g].phase = G_OUT;
        set_all(s, g, G_AT(G_ALONE) | G_AT(G_BATCHED), G_WAITS);
    }
}

static void see_whole(const struct g_shape *sh, struct g_state *s)
{
    for (size_t g = 0; g < G_GROUPS; g++) {
        size_t n = g_count(s, g, G_AT(G_BOUND) | G_AT(G_ENDING) | G_AT(G_DONE));
        s->group[g].whole = g_count(s, g, G_SEATED) && (s->group[g].whole || n >= sh->group[g].min);
    }
}

void g_apply(struct g_model *m, struct g_state *s, struct g_event ev)
{
    size_t g = ev.group, i = ev.member;

    switch ((enum g_kind)ev.kind) {
    case GV_ARRIVE:
        arrive(s, g);
        break;
    case GV_CREATE:
        set_slot(s, g, i, G_WAITS);
        forget_first(s, 1 + G_GROUPS + g * G_SLOTS + i);
        break;
    case GV_LOSE:
        set_slot(s, g, i, G_ABSENT);
        break;
    case GV_SUCCEED:
        set_slot(s, g, i, G_DONE);
        break;
    case GV_DELETE:
        delete (s, g, i);
        break;
    case GV_GROW:
        s->group[g].grown = true;
        break;
    case GV_BREAK:
        g_send_back(s, g);
        break;
    case GV_LEAVE:
        leave(s, g);
        break;
    case GV_WRITE_IN:
        s->group[g].phase = G_IN;
        s->group[g].returning = false;
        break;
    case GV_WRITE:
        written(m, s, g, i);
        break;
    case GV_REFUSE:
        if (i < G_SLOTS)
            set_slot(s, g, i, G_WAITS);
        else
            set_all(s, g, G_AT(G_BATCHED), G_WAITS);
        break;
    case GV_PASS:
        g_pass(m, s);
        break;
    case GV_TICK:
        s->age++;
        break;
    case GV_RESTART:
        restart(s);
        break;
    }
    see_whole(m->shape, s);
    g_rules_of_state(m, s);
}

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

static size_t slots_of(const struct g_shape *sh, size_t g)
{
    return sh->group[g].grown > sh->group[g].size ? sh->group[g].grown : sh->group[g].size;
}

uint64_t g_pack(const struct g_shape *sh, const struct g_state *s)
{
    uint64_t b = 0;

    for (size_t g = 0; g < G_GROUPS; g++) {
        for (size_t i = 0; i < slots_of(sh, g); i++) {
            put(&b, 3, s->slot[g][i].at);
            put(&b, 1, s->slot[g][i].node);
        }
        put(&b, 2, s->group[g].phase);
        put(&b, 2, s->group[g].rank);
        put(&b, 1, s->group[g].grown);
        put(&b, 1, s->group[g].returning);
        put(&b, 1, s->group[g].started);
        put(&b, 1, s->group[g].whole);
    }
    put(&b, 4, s->first);
    put(&b, 2, s->age);
    return b;
}

struct g_state g_unpack(const struct g_shape *sh, uint64_t b)
{
    struct g_state s = { 0 };

    s.age = (uint8_t)take(&b, 2);
    s.first = (uint8_t)take(&b, 4);
    for (size_t g = G_GROUPS; g-- > 0;) {
        s.group[g].whole = take(&b, 1);
        s.group[g].started = take(&b, 1);
        s.group[g].returning = take(&b, 1);
        s.group[g].grown = take(&b, 1);
        s.group[g].rank = (uint8_t)take(&b, 2);
        s.group[g].phase = (uint8_t)take(&b, 2);
        for (size_t i = slots_of(sh, g); i-- > 0;) {
            s.slot[g][i].node = (uint8_t)take(&b, 1);
            s.slot[g][i].at = (uint8_t)take(&b, 3);
        }
    }
    return s;
}
