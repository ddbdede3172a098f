/* A small cluster around the real sched_decide: gangs come, grow, fail and end, the scheduler
 * decides, its writes arrive or are refused, and it starts anew in between. The rest of the
 * scheduler's memory (which gang has started, what is kept for members that are gone) is as
 * src/binder keeps it.
 *
 * A state is a plain value; an event makes the next one of it. Used by test_model.c, which goes
 * through all states, and by test_model_random.c. */
#pragma once

#include "sched/sched.h"

enum { NODES_MAX = 8, GANGS_MAX = 10, MEMBERS_MAX = 8, RESOURCES = 3 };
enum { EVENTS_MAX = 8 + GANGS_MAX * (8 + 4 * MEMBERS_MAX), MESSAGE_MAX = 256 };

extern const char *const resource_names[RESOURCES];

/* What is the same in all states of a world. */
struct shape {
    size_t n_nodes, n_gangs;
    struct {
        int64_t has[RESOURCES];
        int64_t pods;
    } node[NODES_MAX];
    struct {
        int64_t lead[RESOURCES]; /* what member 0 needs */
        int64_t need[RESOURCES]; /* ... and each of the others */
        int64_t priority;
        uint8_t min, size, grown; /* grown: the size after it grew */
    } gang[GANGS_MAX];
    uint8_t patience;
    bool whole_arrivals; /* pods come and go with their gang */
};

enum slot_at {
    ABSENT,
    KEPT, /* the pod is gone, its share of the node is kept */
    WAITS,
    OWED,    /* waits, and a share of a node is kept for it */
    ALONE,   /* has a node in the scheduler's memory; its binding is a request of its own */
    BATCHED, /* ... is part of the gang's one request */
    BOUND,
    DONE, /* succeeded */
};

struct slot {
    uint8_t at, node;
};

enum phase { GONE, ACTIVE, STOPPED };

struct state {
    struct slot slot[GANGS_MAX][MEMBERS_MAX];
    struct {
        uint8_t phase;
        uint8_t rank; /* among those that are there: 0 came first */
        bool grown;
        bool started; /* as the scheduler has it */
        bool whole;   /* since none of its members had a node, min of them had one at once */
    } gang[GANGS_MAX];
    uint8_t first; /* of the guard: 0, 1 + gang, or 1 + n_gangs + pod */
    uint8_t age;
};

enum event_kind {
    EV_ARRIVE,  /* a gang; its pods follow one by one */
    EV_CREATE,  /* a pod */
    EV_LOSE,    /* a pod that has a node fails or is deleted */
    EV_SUCCEED, /* a pod */
    EV_DELETE,  /* a pod that has no node yet */
    EV_GROW,    /* a gang */
    EV_STOP,    /* a gang is suspended, deleted or at its end */
    EV_LEAVE,   /* a gang without pods is gone */
    EV_WRITE,   /* a binding, or those of a gang's start, arrive */
    EV_REFUSE,  /* ... are refused */
    EV_PASS,    /* the scheduler decides */
    EV_TICK,    /* time passes */
    EV_RESTART, /* the scheduler forgets what is not written */
    EV_KINDS
};

struct event {
    uint8_t kind, gang, member; /* member: MEMBERS_MAX: all that are BATCHED */
};

enum fault {
    FAULT_NONE,
    FAULT_NO_RESERVES,
    FAULT_ONE_BY_ONE,
    FAULT_NO_GUARD,
    FAULT_FORGETFUL,
    FAULTS
};

struct model {
    const struct shape *shape;
    enum fault fault;
    bool sentences;            /* check them, too */
    char message[MESSAGE_MAX]; /* of the first rule that was broken; empty: none */
};

/* ---- model.c */

size_t model_events(const struct shape *sh, const struct state *s, struct event *out);
void model_apply(struct model *m, struct state *s, struct event ev);
size_t gang_size(const struct shape *sh, const struct state *s, size_t g);
size_t gang_count(const struct shape *sh, const struct state *s, size_t g, unsigned mask);
#define AT(x) (1u << (x))
enum { SEATED = AT(ALONE) | AT(BATCHED) | AT(BOUND) | AT(DONE), UNSEATED = AT(WAITS) | AT(OWED) };
const char *event_text(struct event ev, char *out, size_t n);

/* ---- model_pass.c: one call of sched_decide */

struct pass {
    const struct shape *shape;
    const struct state *before; /* started is what the scheduler counted */
    struct state *after;
    const struct sched_input *in;
    const struct sched_verdict *verdicts;
    struct arena *a;
};

void model_pass(struct model *m, struct state *s);
/* Gang and member of a pod of the input. */
void pass_pod(const struct sched_pod *pod, size_t *gang, size_t *member);

/* ---- model_room.c: units and room for them, reckoned anew */

struct room {
    int64_t left[NODES_MAX][RESOURCES];
    int64_t pods[NODES_MAX];
};

struct unit {
    size_t gang, member; /* member: MEMBERS_MAX: of those that wait, need start together */
    size_t need;
    bool early; /* not to be placed: too few exist, or it is stopped */
    bool returning;
    bool follows; /* placed with the gang of the unit before, beyond what must start together */
};

enum { UNITS_MAX = GANGS_MAX * (MEMBERS_MAX + 1) };

const int64_t *need_of(const struct shape *sh, size_t g, size_t i);
size_t units_in_order(const struct shape *sh, const struct state *s, struct unit *out);
void room_empty(const struct shape *sh, struct room *r);
void room_take(const struct shape *sh, struct room *r, const struct state *s, size_t g, size_t i);
void room_give(const struct shape *sh, struct room *r, const struct state *s, size_t g, size_t i);
enum fit { FIT_NO, FIT_YES, FIT_UNKNOWN };
/* Unknown: it cannot be said in a bounded time. s: what waits, and what is kept for it. */
enum fit room_fits(const struct shape *sh, const struct state *s, struct room r,
                   const struct unit *u);
/* Whether some pod of it could be there if nothing else was. */
bool node_is_usable(const struct shape *sh, const struct state *s, const struct unit *u,
                    size_t node);

/* ---- model_rules.c: what must hold */

void broken(struct model *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void rules_of_state(struct model *m, const struct state *s);
void rules_of_pass(struct model *m, const struct pass *p);
bool unit_waits(const struct pass *p, const struct unit *u); /* after it */
/* What is left when u's turn comes: of all that was placed in the pass, without what came after. */
struct room room_at(const struct pass *p, const struct unit *units, size_t n, size_t u);

/* ---- model_why.c */

void rules_of_sentences(struct model *m, const struct pass *p);
