/* Events: which can happen, and what comes of them. */

#include "model.h"

#include <stdio.h>

size_t gang_size(const struct shape *sh, const struct state *s, size_t g)
{
    return s->gang[g].grown ? sh->gang[g].grown : sh->gang[g].size;
}

size_t gang_count(const struct shape *sh, const struct state *s, size_t g, unsigned mask)
{
    size_t n = 0;

    for (size_t i = 0; i < gang_size(sh, s, g); i++)
        n += (AT(s->slot[g][i].at) & mask) != 0;
    return n;
}

/* ---- which can happen */

struct list {
    struct event *at;
    size_t n;
};

static void add(struct list *l, enum event_kind kind, size_t gang, size_t member)
{
    l->at[l->n++] = (struct event){ (uint8_t)kind, (uint8_t)gang, (uint8_t)member };
}

static void add_of_slot(const struct state *s, size_t g, size_t i, struct list *l)
{
    bool active = s->gang[g].phase == ACTIVE;

    switch ((enum slot_at)s->slot[g][i].at) {
    case ABSENT:
    case KEPT:
        if (active)
            add(l, EV_CREATE, g, i);
        break;
    case ALONE:
        add(l, EV_WRITE, g, i);
        add(l, EV_REFUSE, g, i);
        add(l, EV_DELETE, g, i);
        break;
    case WAITS:
    case OWED:
    case BATCHED:
        add(l, EV_DELETE, g, i);
        break;
    case BOUND:
        add(l, EV_LOSE, g, i);
        if (active)
            add(l, EV_SUCCEED, g, i);
        break;
    case DONE:
        break;
    }
}

static void add_of_gang(const struct shape *sh, const struct state *s, size_t g, struct list *l)
{
    if (s->gang[g].phase == GONE) {
        add(l, EV_ARRIVE, g, 0);
        return;
    }
    if (sh->whole_arrivals) {
        if (gang_count(sh, s, g, AT(BOUND)))
            add(l, EV_LEAVE, g, 0);
        for (size_t i = 0; i < gang_size(sh, s, g); i++)
            if (s->slot[g][i].at == BOUND)
                add(l, EV_LOSE, g, i);
    } else {
        if (s->gang[g].phase == ACTIVE)
            add(l, EV_STOP, g, 0);
        else if (!gang_count(sh, s, g, (unsigned)~(AT(ABSENT) | AT(DONE))))
            add(l, EV_LEAVE, g, 0);
        for (size_t i = 0; i < gang_size(sh, s, g); i++)
            add_of_slot(s, g, i, l);
        if (s->gang[g].phase == ACTIVE && !s->gang[g].grown && sh->gang[g].grown > sh->gang[g].size)
            add(l, EV_GROW, g, 0);
    }
    if (gang_count(sh, s, g, AT(BATCHED))) {
        add(l, EV_WRITE, g, MEMBERS_MAX);
        if (!sh->whole_arrivals)
            add(l, EV_REFUSE, g, MEMBERS_MAX);
    }
}

size_t model_events(const struct shape *sh, const struct state *s, struct event *out)
{
    struct list l = { out, 0 };

    for (size_t g = 0; g < sh->n_gangs; g++)
        add_of_gang(sh, s, g, &l);
    add(&l, EV_PASS, 0, 0);
    if (s->first && s->age < sh->patience)
        add(&l, EV_TICK, 0, 0);
    if (!sh->whole_arrivals)
        add(&l, EV_RESTART, 0, 0);
    return l.n;
}

const char *event_text(struct event ev, char *out, size_t n)
{
    static const char *const names[EV_KINDS] = {
        [EV_ARRIVE] = "arrive",   [EV_CREATE] = "create", [EV_LOSE] = "lose", [EV_SUCCEED] = "done",
        [EV_DELETE] = "delete",   [EV_GROW] = "grow",     [EV_STOP] = "stop", [EV_LEAVE] = "leave",
        [EV_WRITE] = "write",     [EV_REFUSE] = "refuse", [EV_PASS] = "pass", [EV_TICK] = "tick",
        [EV_RESTART] = "restart",
    };

    if (ev.kind >= EV_PASS)
        snprintf(out, n, "%s", names[ev.kind]);
    else
        snprintf(out, n, "%s %c%u", names[ev.kind], 'a' + ev.gang, ev.member);
    return out;
}

/* ---- what comes of them */

/* A batch that lost a pod is not sent. */
static void leave_batch(struct state *s, size_t g)
{
    for (size_t i = 0; i < MEMBERS_MAX; i++)
        if (s->slot[g][i].at == BATCHED)
            s->slot[g][i] = (struct slot){ WAITS, 0 };
}

static void set_all(struct state *s, size_t g, enum slot_at from, enum slot_at to)
{
    for (size_t i = 0; i < MEMBERS_MAX; i++)
        if (s->slot[g][i].at == from)
            s->slot[g][i].at = (uint8_t)to;
}

/* Another pod or gang of that number is not the one that waited. */
static void forget_first(struct state *s, size_t number)
{
    if (s->first == number) {
        s->first = 0;
        s->age = 0;
    }
}

static void create(const struct shape *sh, struct state *s, size_t g, size_t i)
{
    struct slot *p = &s->slot[g][i];

    *p = p->at == KEPT ? (struct slot){ OWED, p->node } : (struct slot){ WAITS, 0 };
    forget_first(s, 1 + sh->n_gangs + g * MEMBERS_MAX + i);
}

static void arrive(const struct shape *sh, struct state *s, size_t g)
{
    size_t n = 0;

    for (size_t k = 0; k < sh->n_gangs; k++)
        n += s->gang[k].phase != GONE;
    memset(s->slot[g], 0, sizeof(s->slot[g]));
    memset(&s->gang[g], 0, sizeof(s->gang[g]));
    s->gang[g].phase = ACTIVE;
    s->gang[g].rank = (uint8_t)n;
    forget_first(s, 1 + g);
    if (sh->whole_arrivals)
        for (size_t i = 0; i < gang_size(sh, s, g); i++)
            create(sh, s, g, i);
}

static void leave(const struct shape *sh, struct state *s, size_t g)
{
    for (size_t k = 0; k < sh->n_gangs; k++)
        if (s->gang[k].phase != GONE && s->gang[k].rank > s->gang[g].rank)
            s->gang[k].rank--;
    memset(s->slot[g], 0, sizeof(s->slot[g]));
    memset(&s->gang[g], 0, sizeof(s->gang[g]));
}

static void lose(struct state *s, size_t g, size_t i)
{
    struct slot *p = &s->slot[g][i];
    bool kept = s->gang[g].phase == ACTIVE && s->gang[g].started;

    *p = kept ? (struct slot){ KEPT, p->node } : (struct slot){ ABSENT, 0 };
}

static void drop(struct state *s, size_t g, size_t i)
{
    struct slot *p = &s->slot[g][i];
    bool batched = p->at == BATCHED;

    *p = p->at == OWED ? (struct slot){ KEPT, p->node } : (struct slot){ ABSENT, 0 };
    if (batched)
        leave_batch(s, g);
}

static void stop(struct state *s, size_t g)
{
    s->gang[g].phase = STOPPED;
    for (size_t i = 0; i < MEMBERS_MAX; i++) {
        struct slot *p = &s->slot[g][i];
        if (p->at == KEPT || p->at == OWED)
            *p = (struct slot){ p->at == KEPT ? ABSENT : WAITS, 0 };
    }
}

static void written(struct model *m, struct state *s, size_t g, size_t i)
{
    if (i < MEMBERS_MAX) {
        s->slot[g][i].at = BOUND;
    } else if (m->fault == FAULT_ONE_BY_ONE) {
        for (i = 0; s->slot[g][i].at != BATCHED; i++)
            ;
        s->slot[g][i].at = BOUND;
    } else {
        set_all(s, g, BATCHED, BOUND);
    }
}

static void restart(struct state *s)
{
    s->first = s->age = 0;
    for (size_t g = 0; g < GANGS_MAX; g++) {
        s->gang[g].started = false;
        for (size_t i = 0; i < MEMBERS_MAX; i++) {
            struct slot *p = &s->slot[g][i];
            if (p->at == ALONE || p->at == BATCHED || p->at == OWED)
                *p = (struct slot){ WAITS, 0 };
            else if (p->at == KEPT)
                *p = (struct slot){ ABSENT, 0 };
        }
    }
}

static void see_whole(const struct shape *sh, struct state *s)
{
    for (size_t g = 0; g < sh->n_gangs; g++) {
        size_t n = gang_count(sh, s, g, AT(BOUND) | AT(DONE));
        s->gang[g].whole =
            gang_count(sh, s, g, SEATED) && (s->gang[g].whole || n >= sh->gang[g].min);
    }
}

void model_apply(struct model *m, struct state *s, struct event ev)
{
    size_t g = ev.gang, i = ev.member;

    switch ((enum event_kind)ev.kind) {
    case EV_ARRIVE:
        arrive(m->shape, s, g);
        break;
    case EV_CREATE:
        create(m->shape, s, g, i);
        break;
    case EV_LOSE:
        lose(s, g, i);
        break;
    case EV_SUCCEED:
        s->slot[g][i] = (struct slot){ DONE, 0 };
        break;
    case EV_DELETE:
        drop(s, g, i);
        break;
    case EV_GROW:
        s->gang[g].grown = true;
        break;
    case EV_STOP:
        stop(s, g);
        break;
    case EV_LEAVE:
        leave(m->shape, s, g);
        break;
    case EV_WRITE:
        written(m, s, g, i);
        break;
    case EV_REFUSE:
        if (i < MEMBERS_MAX)
            s->slot[g][i] = (struct slot){ WAITS, 0 };
        else
            leave_batch(s, g);
        break;
    case EV_PASS:
        model_pass(m, s);
        break;
    case EV_TICK:
        s->age++;
        break;
    case EV_RESTART:
        restart(s);
        break;
    case EV_KINDS:
        break;
    }
    see_whole(m->shape, s);
    rules_of_state(m, s);
}
