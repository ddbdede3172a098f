/* Which addresses pods get: a /16 that this machine does not use, handed out one by one. Pure, but
 * for net_subnet_choose, which asks the kernel. Addresses are in the machine's byte order. */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum { NET_SUBNET_BITS = 16, NET_SUBNET_SIZE = 1 << 16, NET_SUBNETS = 64 };

struct net_range {
    uint32_t to;
    int bits;
};

/* The n-th that is considered; n below NET_SUBNETS. The first is 10.42.0.0. */
uint32_t net_subnet_nth(size_t n);
bool net_range_meets(const struct net_range *r, uint32_t base); /* default routes meet nothing */
/* The first that no route or address of this namespace touches, beginning with prefer (0: none).
 * 0: none is left. */
uint32_t net_subnet_choose(uint32_t prefer, struct err *e);

struct net_pool {
    uint32_t base;
    uint32_t last; /* given, as an offset */
    uint64_t used[NET_SUBNET_SIZE / 64];
};

/* The gateway is the first; the last 256 are kept for the hub itself. */
void net_pool_init(struct net_pool *p, uint32_t base);
uint32_t net_pool_gateway(const struct net_pool *p);
/* One that is free, that of longest ago: what still speaks to an old pod does not meet a new one.
 * 0: all are taken. */
uint32_t net_pool_take(struct net_pool *p);
bool net_pool_claim(struct net_pool *p, uint32_t ip); /* this one; false: it is not to be had */
void net_pool_give(struct net_pool *p, uint32_t ip);

enum { NET_IP_TEXT = 16 };
const char *net_ip_text(uint32_t ip, char out[NET_IP_TEXT]);
bool net_ip_read(str text, uint32_t *out);
