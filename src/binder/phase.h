/* The phase of a PodGroup as a pure function of what its pods do (platform 4.2, 4.10, 4.13). */
#pragma once

#include "base/str.h"

enum group_form { GROUP_NONE, GROUP_VOLCANO, GROUP_PLUGINS, GROUP_KUBE, GROUP_FORMS };

enum group_phase {
    PHASE_NONE, /* nobody has looked at it */
    PHASE_PENDING,
    PHASE_INQUEUE, /* Volcano: let in */
    PHASE_SCHEDULING,
    PHASE_RUNNING,
    PHASE_UNKNOWN,
    PHASE_COMPLETED,
    PHASE_FINISHED,
    PHASE_FAILED,
};

/* Each pod of the group counts in exactly one of these. */
struct group_pods {
    int64_t waiting;    /* no node, and it asks for something */
    int64_t weightless; /* no node, and it asks for nothing */
    int64_t binding;    /* its node is chosen, and not written yet */
    int64_t bound;      /* it has a node, and does not run yet */
    int64_t running;
    int64_t succeeded;
    int64_t failed;
    int64_t going; /* being deleted */
};

struct group_seen {
    enum group_form form;
    enum group_phase was;
    int64_t min;
    struct group_pods pods;
};

int64_t group_pods_total(const struct group_pods *p);
enum group_phase phase_of(const struct group_seen *s);
/* Whether the pods of a group of that phase may start, and what it asks for is kept. */
bool phase_is_let_in(enum group_form form, enum group_phase phase);
bool phase_is_over(enum group_phase phase);
str phase_text(enum group_phase phase);
enum group_phase phase_read(str text); /* another text: PHASE_NONE */
