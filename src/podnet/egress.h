/* The way from the hub to the outside. As root: a pair of veths and masquerading by nftables, in a
 * table of ours. As an ordinary user: pasta, or slirp4netns. Called on the machine's side. */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <sys/types.h>

enum net_egress_way { NET_EGRESS_NONE, NET_EGRESS_ROUTED, NET_EGRESS_PASTA, NET_EGRESS_SLIRP };

#define NET_UPLINK "up0" /* the hub's end */

/* Plain data: told to the hub's inner process as it is. */
struct net_egress {
    enum net_egress_way way;
    uint32_t base;   /* of the pods' network */
    bool forwards;   /* this machine forwards since we told it to */
    pid_t helper;    /* 0: none */
    char tag[16];    /* names the link and the table */
    char words[160]; /* which way it is, or why there is none */
};

/* Held while networks are chosen and ways out are made: two at a time would choose the same. Only
 * root's leave marks on the machine; for others, -1. Closing it lets go. A file that root alone can
 * open, so that no other user can hold it. */
#define NET_EGRESS_LOCK_DIR "/var/lib/muster/servers" /* see sandbox/registry.h */
#define NET_EGRESS_LOCK     NET_EGRESS_LOCK_DIR "/network"
int net_egress_lock(void);
/* Removes the link that a hub of this tag left a moment ago, with its routes. */
void net_egress_clear(str tag);
/* pid: a process in the hub's namespace. Always leaves g filled; without a way that works, none. */
void net_egress_start(struct net_egress *g, uint32_t base, str tag, pid_t pid);
/* Inside the hub, once it is started; -1: it does not work. */
int net_egress_inside(const struct net_egress *g, struct err *e);
/* The link goes with the hub's namespace. Forwarding ends when nobody else seems to need it. */
void net_egress_stop(const struct net_egress *g);
