/* Counting addresses. */

#include "podnet/subnet.h"

#include "base/vec.h"
#include "podnet/link.h"

#include <stdio.h>

enum { RESERVED = 256 };

uint32_t net_subnet_nth(size_t n)
{
    /* 10.96 is where services are. */
    uint32_t second = 42 + (uint32_t)n;

    return 10u << 24 | (second >= 96 ? second + 1 : second) << 16;
}

bool net_range_meets(const struct net_range *r, uint32_t base)
{
    int bits = r->bits < NET_SUBNET_BITS ? r->bits : NET_SUBNET_BITS;

    return bits > 0 && (r->to ^ base) >> (32 - bits) == 0;
}

struct ranges {
    VEC(struct net_range);
};

static void see(void *ctx, uint32_t to, int bits)
{
    struct ranges *rs = ctx;

    vec_push(rs, (struct net_range){ to, bits });
}

static bool is_free(const struct ranges *rs, uint32_t base)
{
    for (size_t i = 0; i < rs->n; i++)
        if (net_range_meets(&rs->at[i], base))
            return false;
    return true;
}

uint32_t net_subnet_choose(uint32_t prefer, struct err *e)
{
    struct net_link l;
    struct ranges rs = { 0 };
    uint32_t found = 0;

    if (net_link_open(&l, e) < 0)
        return 0;
    int rc = net_link_each(&l, see, &rs, e);
    net_link_close(&l);
    if (rc == 0 && prefer && is_free(&rs, prefer))
        found = prefer;
    for (size_t n = 0; rc == 0 && !found && n < NET_SUBNETS; n++)
        found = is_free(&rs, net_subnet_nth(n)) ? net_subnet_nth(n) : 0;
    vec_done(&rs);
    if (rc == 0 && !found)
        err_set(e, ERR_CONFLICT, "this machine's routes leave no free network for pods");
    return found;
}

void net_pool_init(struct net_pool *p, uint32_t base)
{
    *p = (struct net_pool){ .base = base, .last = 1 };
    p->used[0] = 3; /* the network, the gateway */
    for (uint32_t at = NET_SUBNET_SIZE - RESERVED; at < NET_SUBNET_SIZE; at += 64)
        p->used[at / 64] = UINT64_MAX;
}

uint32_t net_pool_gateway(const struct net_pool *p)
{
    return p->base + 1;
}

static bool is_used(const struct net_pool *p, uint32_t at)
{
    return p->used[at / 64] >> (at % 64) & 1;
}

uint32_t net_pool_take(struct net_pool *p)
{
    for (uint32_t i = 0; i < NET_SUBNET_SIZE; i++) {
        p->last = (p->last + 1) % NET_SUBNET_SIZE;
        if (!is_used(p, p->last)) {
            p->used[p->last / 64] |= 1ULL << (p->last % 64);
            return p->base + p->last;
        }
    }
    return 0;
}

bool net_pool_claim(struct net_pool *p, uint32_t ip)
{
    uint32_t at = ip - p->base;

    if (at >= NET_SUBNET_SIZE || is_used(p, at))
        return false;
    p->used[at / 64] |= 1ULL << (at % 64);
    if (at > p->last)
        p->last = at;
    return true;
}

void net_pool_give(struct net_pool *p, uint32_t ip)
{
    uint32_t at = ip - p->base;

    if (at > 1 && at < NET_SUBNET_SIZE - RESERVED)
        p->used[at / 64] &= ~(1ULL << (at % 64));
}

const char *net_ip_text(uint32_t ip, char out[NET_IP_TEXT])
{
    snprintf(out, NET_IP_TEXT, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
    return out;
}

bool net_ip_read(str text, uint32_t *out)
{
    uint32_t ip = 0;
    int parts = 0;

    for (str rest = text; rest.p; parts++) {
        int64_t n;
        str part = str_cut(&rest, '.');
        if (part.n > 3 || !str_to_int(part, &n) || n < 0 || n > 255)
            return false;
        ip = ip << 8 | (uint32_t)n;
    }
    if (parts != 4)
        return false;
    *out = ip;
    return true;
}
