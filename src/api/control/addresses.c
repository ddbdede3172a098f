/* Services get addresses from 10.96.0.0/16 and node ports from 30000 to 32767, as kubeadm sets
 * clusters up. Two bit maps, filled from the stored services at start. */

#include "api/control/addresses.h"

#include "base/mem.h"
#include "builtin/service_alloc.h"

#include <arpa/inet.h>
#include <stdlib.h>

enum { FIRST_PORT = 30000, LAST_PORT = 32767, HOSTS = 65536 };
static const uint32_t network = 10u << 24 | 96u << 16;

struct addresses {
    struct api *api;
    struct resource *res;
    uint64_t hosts[HOSTS / 64];
    uint64_t ports[(LAST_PORT - FIRST_PORT + 64) / 64];
};

static bool bit(const uint64_t *map, uint32_t i)
{
    return map[i / 64] >> (i % 64) & 1;
}

static void set(uint64_t *map, uint32_t i, bool on)
{
    if (on)
        map[i / 64] |= 1ull << (i % 64);
    else
        map[i / 64] &= ~(1ull << (i % 64));
}

/* Host number within our network; 0: not ours. */
static uint32_t host_of(str ip)
{
    char text[INET_ADDRSTRLEN];
    struct in_addr addr;

    if (ip.n == 0 || ip.n >= sizeof(text))
        return 0;
    memcpy(text, ip.p, ip.n);
    text[ip.n] = 0;
    if (inet_pton(AF_INET, text, &addr) != 1)
        return 0;
    uint32_t v = ntohl(addr.s_addr);
    return (v & 0xffff0000u) == network && (v & 0xffff) != 0xffff ? v & 0xffff : 0;
}

static void mark_port(struct addresses *d, int64_t port, bool on)
{
    if (port >= FIRST_PORT && port <= LAST_PORT)
        set(d->ports, (uint32_t)(port - FIRST_PORT), on);
}

static void mark(struct addresses *d, jv service, bool on)
{
    uint32_t host = host_of(jv_str(jv_at(service, "spec", "clusterIP"), STR_NONE));

    if (host)
        set(d->hosts, host, on);
    JV_EACH (it, jv_at(service, "spec", "ports")) {
        int64_t port = jv_int(jv_at(it.value, "nodePort"), 0);
        mark_port(d, port, on);
    }
    mark_port(d, jv_int(jv_at(service, "spec", "healthCheckNodePort"), 0), on);
}

struct addresses *addresses_new(struct api *api)
{
    struct addresses *d = mem_new(sizeof(*d));

    d->api = api;
    d->res = registry_find(&api->registry, S(""), S("v1"), S("services"));
    return d;
}

void addresses_free(struct addresses *d)
{
    free(d);
}

void addresses_load(struct addresses *d)
{
    for (struct store_obj *o = store_seek(d->res->coll, STR_NONE); o;
         o = store_next(d->res->coll, o)) {
        AUTO(arena) struct arena *a = arena_new();
        mark(d, json_parse(a, value_text(a, o->value), NULL, NULL), true);
    }
}

void addresses_on_event(struct addresses *d, struct store_coll *c, const struct store_event *ev)
{
    AUTO(arena) struct arena *a = arena_new();

    if (c != d->res->coll)
        return;
    if (ev->prev)
        mark(d, json_parse(a, value_text(a, ev->prev), NULL, NULL), false);
    if (!ev->is_delete)
        mark(d, json_parse(a, value_text(a, ev->value), NULL, NULL), true);
}

static str free_host(struct addresses *d, struct arena *a)
{
    uint32_t start;

    random_bytes(&start, sizeof(start));
    for (uint32_t i = 0; i < HOSTS; i++) {
        uint32_t host = (start + i) % HOSTS;
        if (host < 256 || host == 0xffff || bit(d->hosts, host))
            continue; /* the first 255 are left for those who name one */
        set(d->hosts, host, true);
        return arena_printf(a, "10.96.%u.%u", host >> 8, host & 255);
    }
    return STR_NONE;
}

static int64_t free_port(struct addresses *d)
{
    uint32_t n = LAST_PORT - FIRST_PORT + 1;
    uint32_t start;

    random_bytes(&start, sizeof(start));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t p = (start % n + i) % n;
        if (bit(d->ports, p))
            continue;
        set(d->ports, p, true);
        return FIRST_PORT + p;
    }
    return 0;
}

static const struct path spec_path = { NULL, S_INIT("spec"), -1 };

static jv take_host(struct addresses *d, struct arena *a, jv obj, jv old, struct problems *ps)
{
    str ip = service_chosen_cluster_ip(obj);

    if (!service_needs_cluster_ip(obj) ||
        (ip.n && str_eq(ip, jv_str(jv_at(old, "spec", "clusterIP"), STR_NONE))))
        return obj;
    JV_EACH (it, jv_at(obj, "spec", "ipFamilies")) {
        if (!str_eqz(jv_str(it.value, STR_NONE), "IPv4")) {
            problem_invalid(ps, EACH_AT(AT(&spec_path, "ipFamilies"), it), it.value,
                            "not configured on this cluster");
            return obj;
        }
    }
    if (!ip.n)
        return service_with_cluster_ip(a, obj, free_host(d, a));
    uint32_t host = host_of(ip);
    if (!host)
        service_bad_cluster_ip(ps, obj, "the provided network does not match the current range");
    else if (bit(d->hosts, host))
        service_bad_cluster_ip(ps, obj, "provided IP is already allocated");
    else
        set(d->hosts, host, true);
    return service_with_cluster_ip(a, obj, ip);
}

static int64_t old_port(jv old, jv port)
{
    JV_EACH (it, jv_at(old, "spec", "ports"))
        if (jv_equal(jv_at(it.value, "port"), jv_at(port, "port")) &&
            jv_equal(jv_at(it.value, "protocol"), jv_at(port, "protocol")))
            return jv_int(jv_at(it.value, "nodePort"), 0);
    return 0;
}

static bool had_port(jv old, int64_t n)
{
    JV_EACH (it, jv_at(old, "spec", "ports"))
        if (jv_int(jv_at(it.value, "nodePort"), 0) == n)
            return true;
    return false;
}

static void check_port(struct addresses *d, const struct path *p, jv value, jv old,
                       struct problems *ps)
{
    int64_t n = jv_int(value, 0);

    if (!n || had_port(old, n))
        return;
    if (n < FIRST_PORT || n > LAST_PORT)
        problem_invalid(
            ps, p, value,
            "provided port is not in the valid range. The range of valid ports is 30000-32767");
    else if (bit(d->ports, (uint32_t)(n - FIRST_PORT)))
        problem_invalid(ps, p, value, "provided port is already allocated");
    else
        set(d->ports, (uint32_t)(n - FIRST_PORT), true);
}

static jv take_ports(struct addresses *d, struct arena *a, jv obj, jv old, struct problems *ps)
{
    JV_EACH (it, jv_at(obj, "spec", "ports")) {
        check_port(d, AT(EACH_AT(AT(&spec_path, "ports"), it), "nodePort"),
                   jv_at(it.value, "nodePort"), old, ps);
    }
    for (int64_t i = 0; (i = service_next_node_port(obj, (size_t)i)) >= 0; i++) {
        int64_t kept = old_port(old, jv_index(jv_at(obj, "spec", "ports"), (size_t)i));
        obj = service_with_node_port(a, obj, (size_t)i, kept ? kept : free_port(d));
    }
    jv was = jv_at(old, "spec", "healthCheckNodePort");
    if (!jv_equal(jv_at(obj, "spec", "healthCheckNodePort"), was))
        check_port(d, AT(&spec_path, "healthCheckNodePort"),
                   jv_at(obj, "spec", "healthCheckNodePort"), old, ps);
    if (service_needs_health_port(obj))
        obj = service_with_health_port(a, obj, jv_int(was, 0) ? jv_int(was, 0) : free_port(d));
    return obj;
}

jv addresses_take(struct addresses *d, struct arena *a, const struct resource *res, jv obj, jv old,
                  struct problems *ps)
{
    if (res != d->res)
        return obj;
    obj = take_host(d, a, obj, old, ps);
    return take_ports(d, a, obj, old, ps);
}

void addresses_release(struct addresses *d, const struct resource *res, jv obj)
{
    if (res == d->res)
        mark(d, obj, false);
}
