/* Writes what nft reads. Every address and port is checked on the way: nothing of an object gets
 * into the text as it is. */

#include "podnet/services.h"

#include "base/map.h"
#include "podnet/subnet.h"

#include <inttypes.h>

enum { PORT_MAX = 65535 };

struct rules {
    struct arena *a;
    struct buf chains;
    struct buf ports; /* elements: address, protocol, port, and the chain */
    struct buf own;   /* elements: pods that may reach themselves */
    struct map seen;  /* those */
    size_t n;
};

static const char *protocol(jv port)
{
    static const char *const known[][2] = { { "TCP", "tcp" },
                                            { "UDP", "udp" },
                                            { "SCTP", "sctp" } };
    str name = jv_str(jv_at(port, "protocol"), S("TCP"));

    for (size_t i = 0; i < COUNT(known); i++)
        if (str_eqz(name, known[i][0]))
            return known[i][1];
    return NULL;
}

static bool read_end(jv v, char ip[NET_IP_TEXT], int64_t *port)
{
    uint32_t n;

    *port = jv_int(jv_at(v, "port"), 0);
    if (!net_ip_read(jv_str(jv_at(v, "ip"), S("")), &n) || *port < 1 || *port > PORT_MAX)
        return false;
    net_ip_text(n, ip);
    return true;
}

static void remember(struct rules *r, const char *ip)
{
    str key = arena_str(r->a, str_of(ip));

    if (map_get(&r->seen, key))
        return;
    map_put(&r->seen, key, r);
    buf_printf(&r->own, "%s%s . %s", r->own.n ? ", " : "", ip, ip);
}

static void add_port(struct rules *r, const char *service, jv port)
{
    AUTO(buf) struct buf to = { 0 };
    const char *proto = protocol(port);
    int64_t at = jv_int(jv_at(port, "port"), 0), its;
    char ip[NET_IP_TEXT];
    size_t n = 0;

    JV_EACH (it, jv_at(port, "to")) {
        if (!read_end(it.value, ip, &its))
            continue;
        buf_printf(&to, "%s%zu : %s . %" PRId64, n ? ", " : "", n, ip, its);
        remember(r, ip);
        n++;
    }
    if (!proto || !n || at < 1 || at > PORT_MAX)
        return;
    buf_printf(&r->chains, "chain s%zu { meta l4proto %s dnat to numgen random mod %zu map { ",
               r->n, proto, n);
    buf_add(&r->chains, buf_str(&to));
    buf_printf(&r->chains, " } ; }\n");
    buf_printf(&r->ports, "%s%s . %s . %" PRId64 " : goto s%zu", r->ports.n ? ", " : "", service,
               proto, at, r->n);
    r->n++;
}

void net_services_rules(struct buf *b, jv list)
{
    AUTO(arena) struct arena *a = arena_new();
    struct rules r = { .a = a };
    char ip[NET_IP_TEXT];
    uint32_t n;

    JV_EACH (it, list) {
        str at = jv_str(jv_at(it.value, "ip"), S(""));
        if (!net_ip_read(at, &n) || str_eq(at, S(NET_API)))
            continue;
        net_ip_text(n, ip);
        JV_EACH (p, jv_at(it.value, "ports"))
            add_port(&r, ip, p.value);
    }
    if (r.n) {
        buf_printf(b, "table ip services\ndelete table ip services\ntable ip services {\n");
        buf_add(b, buf_str(&r.chains));
        for (size_t i = 0; i < 2; i++) {
            buf_printf(b,
                       "chain %s { type nat hook %s priority -100;\n"
                       "ip daddr . meta l4proto . th dport vmap { ",
                       i ? "output" : "prerouting", i ? "output" : "prerouting");
            buf_add(b, buf_str(&r.ports));
            buf_printf(b, " }\n}\n");
        }
        /* A pod that is its own service's answer would get it from itself, and not know it. */
        buf_printf(b, "chain postrouting { type nat hook postrouting priority 100;\n"
                      "ct status dnat ip saddr . ip daddr { ");
        buf_add(b, buf_str(&r.own));
        buf_printf(b, " } masquerade\n}\n}\n");
    }
    buf_done(&r.chains);
    buf_done(&r.ports);
    buf_done(&r.own);
    map_done(&r.seen);
}
