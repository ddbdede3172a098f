/* rtnetlink, as much as a pod's network takes: links, addresses, routes, neighbours. Requests are
 * gathered and carried out together, in order, by one system call. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

struct net_link {
    int fd; /* -1: none */
    uint32_t seq;
    struct buf out;
    size_t n; /* requests in it */
};

enum { NET_MAC_BYTES = 6, NET_LINK_LO = 1 /* of every namespace */ };

/* Of the network namespace that the caller is in; it stays with that one. */
int net_link_open(struct net_link *l, struct err *e);
void net_link_close(struct net_link *l);
/* -1: e tells of the first that failed; those after it were tried, too. */
int net_link_do(struct net_link *l, struct err *e);

struct net_veth {
    const char *name;
    int index;
    const uint8_t *mac;
    const char *peer;
    int peer_index; /* counts only when index is given, too; 0: any */
    const uint8_t *peer_mac;
    int peer_ns; /* descriptor of the namespace it appears in */
};

/* The near end is up; the far one cannot be before both are there. */
void net_link_veth(struct net_link *l, const struct net_veth *v);
void net_link_up(struct net_link *l, int index);
void net_link_delete(struct net_link *l, int index);

struct net_route {
    uint32_t to;      /* addresses are in the machine's byte order */
    int bits;         /* of `to` that count; 0: everywhere */
    uint32_t through; /* 0: directly on the link */
    int index;
};

void net_link_route(struct net_link *l, const struct net_route *r);
void net_link_no_route(struct net_link *l, uint32_t to, int bits); /* unreachable */
/* bits: what programs are shown as the subnet; no route comes of it. */
void net_link_address(struct net_link *l, int index, uint32_t ip, int bits);
void net_link_neighbour(struct net_link *l, int index, uint32_t ip, const uint8_t *mac);

/* Waits until the link carries packets: it does so a moment after both ends are up, and drops them
 * before. -1: it does not. */
int net_link_await(struct net_link *l, int index, struct err *e);

/* Every IPv4 route and address of the namespace: see(ctx, to, bits). */
int net_link_each(struct net_link *l, void (*see)(void *ctx, uint32_t to, int bits), void *ctx,
                  struct err *e);
