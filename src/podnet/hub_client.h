/* A connection to the hub: found or made, questions and answers. Waits, each time with an end. */
#pragma once

#include "base/json.h"
#include "podnet/subnet.h"
#include "sys/msgsock.h"

#include <stdatomic.h>
#include <sys/types.h>

struct net_call {
    struct msgsock wire;
    uint64_t id;
    int pidfd;   /* of the hub's outer process */
    pid_t child; /* the same, when it is our child; else 0 */
    bool with_node;
    char gateway[NET_IP_TEXT];
    bool has_egress;
    bool has_services;
    char words[160]; /* about the egress */
    const atomic_int_fast64_t *give_up_ms;
};

/* Where the hub of a data directory is, or how it is run. */
struct net_call_to {
    const char *data;
    const char *exe; /* NULL: this program */
    bool with_node;
    /* By boot_now_ms; 0: never. From then on nothing is waited for. Any thread sets it. */
    const atomic_int_fast64_t *give_up_ms;
};

/* One message of JSON, from either side. fd (-1: none) goes with it, and stays the caller's. */
int net_hub_say(struct msgsock *w, jv v, int fd);
/* Dials or starts the hub, without waiting for it to answer. */
int net_call_begin(struct net_call *c, const struct net_call_to *to, struct err *e);
/* Waits until it answers; begins, too, where that was not done or in vain. */
int net_call_open(struct net_call *c, const struct net_call_to *to, struct err *e);
bool net_call_is_lost(struct net_call *c); /* the hub has died */
void net_call_drop(struct net_call *c);    /* hangs up, without waiting */
/* Hangs up and waits for the hub to go, if it does. */
void net_call_close(struct net_call *c);
/* The answer, in a; absent: e says why. fd (may be NULL): a descriptor that came with it, or -1. */
jv net_call_ask(struct net_call *c, struct arena *a, jv request, int *fd, struct err *e);
void net_call_tell(struct net_call *c, jv request); /* no answer wanted */
