/* See dns_zone.h. Names of services and of what is behind them; an index by name, made at once. */

#include "names/dns_zone.h"

#include "base/mem.h"
#include "kube/meta.h"
#include "names/match.h"
#include "podnet/subnet.h"

#include <stdio.h>

struct record {
    struct record *next; /* of the same name */
    enum { RECORD_A, RECORD_SRV, RECORD_CNAME } what;
    uint32_t ip;
    uint16_t port;
    const char *target;
};

struct dns_zone {
    struct arena *a;
    struct map names;   /* struct record, by name */
    struct map reverse; /* names, by address as text */
};

static const str suffix = S_INIT(".cluster.local");

bool dns_is_cluster(str name)
{
    return str_ends(name, suffix) || str_eq(name, S("cluster.local"));
}

str dns_namespace(str name)
{
    if (!str_ends(name, S(".svc.cluster.local")))
        return STR_NONE;
    str rest = str_sub(name, 0, name.n - strlen(".svc.cluster.local"));
    ptrdiff_t dot = str_rfind(rest, '.');
    return dot < 0 ? STR_NONE : str_sub(rest, (size_t)dot + 1, rest.n);
}

/* ---- made */

static void add(struct dns_zone *z, const char *name, struct record r)
{
    struct record *at = map_get(&z->names, str_of(name));
    struct record *made = ARENA_NEW(z->a, struct record);
    *made = r;
    if (at) {
        made->next = at->next;
        at->next = made;
    } else {
        map_put(&z->names, str_of(name), made);
    }
}

static void add_address(struct dns_zone *z, const char *name, str ip)
{
    uint32_t at;

    if (!net_ip_read(ip, &at))
        return;
    add(z, name, (struct record){ .what = RECORD_A, .ip = at });
    if (!map_get(&z->reverse, ip))
        map_put(&z->reverse, arena_str(z->a, ip), (void *)(uintptr_t)name);
}

/* _name._protocol.service…: where each named port is. */
static void add_ports(struct dns_zone *z, jv service, const char *full, const char *target,
                      const struct names_end *end)
{
    JV_EACH (it, jv_at(service, "spec", "ports")) {
        str name = jv_str(jv_at(it.value, "name"), S(""));
        str protocol = jv_str(jv_at(it.value, "protocol"), S("TCP"));
        int64_t port = end ? names_target(end, it.value) : jv_int(jv_at(it.value, "port"), 0);
        if (!name.n || port < 1 || port > UINT16_MAX)
            continue;
        const char *srv = arena_printf(z->a, "_%" PRI_STR "._%s.%s", STR_ARG(name),
                                       str_eq(protocol, S("UDP"))    ? "udp"
                                       : str_eq(protocol, S("SCTP")) ? "sctp"
                                                                     : "tcp",
                                       full)
                              .p;
        add(z, srv,
            (struct record){ .what = RECORD_SRV, .port = (uint16_t)port, .target = target });
    }
}

static const char *end_name(struct dns_zone *z, const struct names_end *end, const char *full)
{
    if (end->hostname.n)
        return arena_printf(z->a, "%" PRI_STR ".%s", STR_ARG(end->hostname), full).p;
    char dashed[NET_IP_TEXT] = "";
    for (size_t i = 0; i < end->ip.n && i + 1 < sizeof(dashed); i++)
        dashed[i] = (char)(end->ip.p[i] == '.' ? '-' : end->ip.p[i]);
    return arena_printf(z->a, "%s.%s", dashed, full).p;
}

static void add_service(struct dns_zone *z, const struct names_world *w,
                        const struct names_service *s)
{
    str ip = jv_str(jv_at(s->service, "spec", "clusterIP"), S(""));
    bool headless = !ip.n || str_eq(ip, S("None"));
    bool direct = headless || !w->cluster_ips; /* the name stands for what is behind */
    const char *full = arena_printf(z->a, "%" PRI_STR ".%" PRI_STR ".svc.cluster.local",
                                    STR_ARG(meta_name(s->service)), STR_ARG(w->ns))
                           .p;

    if (!direct) {
        add_address(z, full, ip);
        add_ports(z, s->service, full, full, NULL);
        return;
    }
    if (!headless && w->api_ip.n && str_eqz(str_of(full), "kubernetes.default.svc.cluster.local"))
        add_address(z, full, w->api_ip);
    struct map seen = { 0 }; /* Endpoints and EndpointSlices may both tell of one */
    for (size_t i = 0; i < s->ends.n; i++) {
        const struct names_end *end = &s->ends.at[i];
        if (map_get(&seen, end->ip))
            continue;
        map_put(&seen, end->ip, z);
        const char *own = end_name(z, end, full);
        add_address(z, own, end->ip);
        add_address(z, full, end->ip);
        add_ports(z, s->service, full, own, end);
    }
    map_done(&seen);
}

struct dns_zone *dns_zone_new(const struct names_world *w)
{
    struct dns_zone *z = mem_new(sizeof(*z));
    AUTO(arena) struct arena *a = arena_new();
    struct names_services all = { 0 };

    z->a = arena_new();
    names_match(a, w, &all);
    for (size_t i = 0; i < all.n; i++)
        add_service(z, w, &all.at[i]);
    names_services_done(&all);
    JV_EACH (it, w->services) {
        str to = jv_str(jv_at(it.value, "spec", "externalName"), S(""));
        if (!str_eq(meta_namespace(it.value), w->ns) || !to.n ||
            !str_eq(jv_str(jv_at(it.value, "spec", "type"), S("")), S("ExternalName")))
            continue;
        add(z,
            arena_printf(z->a, "%" PRI_STR ".%" PRI_STR ".svc.cluster.local",
                         STR_ARG(meta_name(it.value)), STR_ARG(w->ns))
                .p,
            (struct record){ .what = RECORD_CNAME, .target = arena_z(z->a, to) });
    }
    return z;
}

void dns_zone_free(struct dns_zone *z)
{
    if (!z)
        return;
    map_done(&z->names);
    map_done(&z->reverse);
    arena_free(z->a);
    free(z);
}

/* ---- asked */

static void add_targets(const struct dns_zone *z, const struct record *first,
                        struct dns_answer *out)
{
    for (const struct record *r = first; r; r = r->next)
        for (const struct record *t = r->target ? map_get(&z->names, str_of(r->target)) : NULL; t;
             t = t->next)
            if (t->what == RECORD_A)
                dns_answer_more_a(out, r->target, t->ip);
}

static void add_record(const struct record *r, const struct dns_question *q, struct dns_answer *out)
{
    bool any = q->type == DNS_ANY;

    switch (r->what) {
    case RECORD_A:
        if (any || q->type == DNS_A)
            dns_answer_a(out, NULL, r->ip);
        break;
    case RECORD_SRV:
        if (any || q->type == DNS_SRV)
            dns_answer_srv(out, r->port, r->target);
        break;
    case RECORD_CNAME: /* whatever is asked for is there */
        dns_answer_name(out, NULL, DNS_CNAME, r->target);
        break;
    }
}

bool dns_zone_answer(const struct dns_zone *z, const struct dns_question *q, unsigned turn,
                     struct dns_answer *out)
{
    const struct record *first = map_get(&z->names, str_of(q->name));
    unsigned n = 0;

    if (!first)
        return false;
    for (const struct record *r = first; r; r = r->next)
        n++;
    const struct record *r = first;
    for (turn %= n; turn; turn--)
        r = r->next;
    for (unsigned i = 0; i < n; i++, r = r->next ? r->next : first)
        add_record(r, q, out);
    if (q->type == DNS_SRV || q->type == DNS_ANY)
        add_targets(z, first, out);
    return true;
}

const char *dns_zone_reverse(const struct dns_zone *z, uint32_t ip)
{
    char text[NET_IP_TEXT];

    return map_get(&z->reverse, str_of(net_ip_text(ip, text)));
}
