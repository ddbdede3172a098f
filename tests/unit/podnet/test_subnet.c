/* Which networks are free, and which addresses. */

#include "podnet/subnet.h"
#include "tap.h"

static void a_network_meets_what_overlaps(void)
{
    static const struct {
        const char *to;
        int bits;
        bool meets;
    } cases[] = {
        { "0.0.0.0", 0, false },   { "10.42.0.0", 16, true },    { "10.42.7.0", 24, true },
        { "10.0.0.0", 8, true },   { "10.43.0.0", 16, false },   { "10.42.255.255", 32, true },
        { "10.40.0.0", 14, true }, { "192.168.0.0", 16, false }, { "10.41.255.255", 32, false },
        { "128.0.0.0", 1, false }, { "0.0.0.0", 1, true },
    };
    uint32_t base = net_subnet_nth(0);
    char text[NET_IP_TEXT];

    is_str(str_of(net_ip_text(base, text)), S("10.42.0.0"), "the first");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct net_range r = { .bits = cases[i].bits };
        net_ip_read(str_of(cases[i].to), &r.to);
        ok(net_range_meets(&r, base) == cases[i].meets, "%s/%d", cases[i].to, cases[i].bits);
    }
    bool services = false;
    for (size_t i = 0; i < NET_SUBNETS; i++)
        services |= net_subnet_nth(i) == (10u << 24 | 96u << 16);
    ok(!services, "never where services are");
}

static void addresses_are_given_once(void)
{
    static struct net_pool p;
    static bool seen[NET_SUBNET_SIZE];
    uint32_t base = net_subnet_nth(3), ip, n = 0;
    bool twice = false;

    net_pool_init(&p, base);
    is_int(net_pool_gateway(&p), base + 1, "the gateway");
    for (; (ip = net_pool_take(&p)); n++) {
        twice |= seen[ip - base];
        seen[ip - base] = true;
    }
    is_int(n, NET_SUBNET_SIZE - 2 - 256, "all of them");
    ok(!twice && !seen[0] && !seen[1] && !seen[NET_SUBNET_SIZE - 1], "each once, some never");
    net_pool_give(&p, base + 77);
    net_pool_give(&p, base + 1);
    is_int(net_pool_take(&p), base + 77, "what was given back");
    is_int(net_pool_take(&p), 0, "and no more");
}

static void an_address_comes_again_as_late_as_can_be(void)
{
    static struct net_pool p;
    uint32_t base = net_subnet_nth(0);

    net_pool_init(&p, base);
    uint32_t one = net_pool_take(&p);
    net_pool_give(&p, one);
    ok(net_pool_take(&p) == one + 1, "the next is another");
    ok(net_pool_claim(&p, base + 500) && !net_pool_claim(&p, base + 500), "claimed once");
    ok(!net_pool_claim(&p, base + 1) && !net_pool_claim(&p, base - 1),
       "not the gateway's, not others'");
    ok(net_pool_take(&p) == base + 501, "it goes on from there");
}

static void texts_are_read_strictly(void)
{
    static const char *const bad[] = { "",       "1.2.3",   "1.2.3.4.5", "256.1.1.1",
                                       "1..2.3", "a.b.c.d", "-1.2.3.4",  "1.2.3.0004" };
    uint32_t ip = 0;

    ok(net_ip_read(S("10.42.0.7"), &ip) && ip == (10u << 24 | 42u << 16 | 7), "10.42.0.7");
    for (size_t i = 0; i < COUNT(bad); i++)
        ok(!net_ip_read(str_of(bad[i]), &ip), "not '%s'", bad[i]);
}

int main(void)
{
    a_network_meets_what_overlaps();
    addresses_are_given_once();
    an_address_comes_again_as_late_as_can_be();
    texts_are_read_strictly();
    return tap_done();
}
