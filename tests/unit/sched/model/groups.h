/* A small cluster with PodGroups in two queues around the real sched_decide: groups are let in,
 * their pods are made, placed, lost, sent away and end, and the scheduler starts anew between what
 * it decides and what it writes. As model.h has it for gangs of jobs; reserves of single members
 * are left to that. */
#pragma once

#include "sched/sched.h"

enum { G_NODES = 2, G_GROUPS = 3, G_SLOTS = 3, G_QUEUES = 2, G_RES = 3, G_EVENTS = 64 };
enum { G_MESSAGE = 256 };

/* What is the same in all states of a world. */
struct g_shape {
    int64_t has[G_NODES][G_RES + 1]; /* and how many pods */
    int64_t cap[G_QUEUES][G_RES];    /* 0: no limit */
    int64_t weight[G_QUEUES];
    struct {
        int64_t need[G_RES]; /* of each of its pods */
        int64_t priority;
        uint8_t queue, min, size, grown;
        bool early; /* its pods are made before it is let in */
    } group[G_GROUPS];
    uint8_t patience;
    bool preempts;
};

enum g_at {
    G_ABSENT,
    G_WAITS,
    G_ALONE,   /* has a node in the scheduler's memory; its binding is a request of its own */
    G_BATCHED, /* ... is part of the group's one request */
    G_BOUND,
    G_ENDING, /* is being deleted */
    G_DONE,
};

enum g_phase { G_GONE, G_OUT, G_ENTERING, G_IN }; /* ENTERING: let in, which is not written yet */

struct g_state {
    struct {
        uint8_t at, node;
    } slot[G_GROUPS][G_SLOTS];
    struct {
        uint8_t phase;
        uint8_t rank; /* among those that are there: 0 came first */
        bool grown, returning;
        bool started; /* as the scheduler has it */
        bool whole;   /* since none of its members had a node, min of them had one at once */
    } group[G_GROUPS];
    uint8_t first; /* of the guard: 0, 1 + group, or 1 + G_GROUPS + pod */
    uint8_t age;
};

enum g_kind {
    GV_ARRIVE,
    GV_CREATE,  /* a pod */
    GV_LOSE,    /* a pod that has a node is gone */
    GV_SUCCEED, /* a pod */
    GV_DELETE,  /* a pod without a node */
    GV_GROW,
    GV_BREAK,    /* a group is restarted whole */
    GV_LEAVE,    /* a group and its pods are gone */
    GV_WRITE_IN, /* that it was let in is written */
    GV_WRITE,    /* a binding, or those of a start, arrive */
    GV_REFUSE,   /* ... are refused */
    GV_PASS,     /* the scheduler decides */
    GV_TICK,
    GV_RESTART, /* the scheduler forgets what is not written */
};

struct g_event {
    uint8_t kind, group, member; /* member: G_SLOTS: all that are BATCHED */
};

enum g_fault {
    G_SOUND,
    G_NO_RESERVATION,
    G_ONE_BY_ONE,
    G_NO_GUARD,
    G_NO_CAPABILITY,
    G_PREEMPT_EQUALS,
};

struct g_model {
    const struct g_shape *shape;
    enum g_fault fault;
    char message[G_MESSAGE]; /* of the first rule that was broken; empty: none */
};

/* ---- groups.c */

size_t g_events(const struct g_shape *sh, const struct g_state *s, struct g_event *out);
void g_apply(struct g_model *m, struct g_state *s, struct g_event ev);
size_t g_count(const struct g_state *s, size_t g, unsigned mask);
size_t g_size(const struct g_shape *sh, const struct g_state *s, size_t g);
#define G_AT(x) (1u << (x))
enum {
    G_HAS_ROOM = G_AT(G_ALONE) | G_AT(G_BATCHED) | G_AT(G_BOUND) | G_AT(G_ENDING),
    G_SEATED = G_HAS_ROOM | G_AT(G_DONE)
};
uint64_t g_pack(const struct g_shape *sh, const struct g_state *s);
struct g_state g_unpack(const struct g_shape *sh, uint64_t bits);
const char *g_text(struct g_event ev, char *out, size_t n);

/* ---- groups_pass.c */

void g_pass(struct g_model *m, struct g_state *s);
size_t g_group_of(str name); /* "b-1", "b" */
/* It is evicted as a whole, or restarted. */
void g_send_back(struct g_state *s, size_t g);

/* ---- groups_rules.c */

void g_rules_of_state(struct g_model *m, const struct g_state *s);
void g_rules_of_pass(struct g_model *m, const struct g_state *before, const struct g_state *after,
                     const struct sched_input *in, const struct sched_decision *d);
