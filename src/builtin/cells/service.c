/* Tables of services and what is behind them. */

#include "builtin/cells/internal.h"

#include <inttypes.h>
enum { SHOWN = 3 }; /* addresses, ports and hosts at most */

const struct kind_column service_columns[] = {
    NAME_COLUMN,
    COLUMN("Type", "string", "How it can be reached."),
    COLUMN("Cluster-IP", "string", "Address within the cluster."),
    COLUMN("External-IP", "string", "Addresses from outside."),
    COLUMN("Port(s)", "string", "Ports, with those on the nodes."),
    AGE_COLUMN,
    WIDE_COLUMN("Selector", "string", "Labels of the pods behind it."),
};

const struct kind_column endpoints_columns[] = {
    NAME_COLUMN,
    COLUMN("Endpoints", "string", "Addresses and ports that are ready."),
    AGE_COLUMN,
};

const struct kind_column endpointslice_columns[] = {
    NAME_COLUMN,
    COLUMN("AddressType", "string", "IPv4, IPv6 or FQDN."),
    COLUMN("Ports", "string", "Ports at each address."),
    COLUMN("Endpoints", "string", "Addresses."),
    AGE_COLUMN,
};

const struct kind_column ingress_columns[] = {
    NAME_COLUMN,
    COLUMN("Class", "string", "Which ingress class serves it."),
    COLUMN("Hosts", "string", "Hosts it has rules for."),
    COLUMN("Address", "string", "Addresses it is served at."),
    COLUMN("Ports", "string", "Ports it is served at."),
    AGE_COLUMN,
};

/* Addresses or host names of load balancers, each once, sorted. */
static str balancers(const struct kind_ctx *c, jv obj)
{
    jv list = jv_at(obj, "status", "loadBalancer", "ingress");
    str *found = ARENA_ARRAY(c->a, str, jv_len(list) + 1);
    size_t n = 0;

    JV_EACH (it, list) {
        found[n] = jv_str(jv_at(it.value, "ip"), S(""));
        if (!found[n].n)
            found[n] = jv_str(jv_at(it.value, "hostname"), S(""));
        n += found[n].n > 0;
    }
    return join_set(c->a, found, n);
}

static jv external_ip(const struct kind_ctx *c, jv obj)
{
    str type = jv_str(jv_at(obj, "spec", "type"), S(""));
    jv ips = cell_joined(c, jv_at(obj, "spec", "externalIPs"), NULL);

    if (str_eqz(type, "ClusterIP") || str_eqz(type, "NodePort"))
        return cell_or(c, ips, "<none>");
    if (str_eqz(type, "ExternalName"))
        return cell_text(c, jv_at(obj, "spec", "externalName"));
    if (!str_eqz(type, "LoadBalancer"))
        return jstrz(c->a, "<unknown>");
    AUTO(buf) struct buf b = { 0 };
    buf_add(&b, balancers(c, obj));
    if (jv_str(ips, S("")).n)
        join(&b, ",", jv_str(ips, S("")));
    return b.n ? cell_take(c, &b) : jstrz(c->a, "<pending>");
}

/* "80/TCP,443:31234/TCP" */
static jv service_ports(const struct kind_ctx *c, jv obj)
{
    AUTO(buf) struct buf b = { 0 };

    JV_EACH (it, jv_at(obj, "spec", "ports")) {
        int64_t on_node = jv_int(jv_at(it.value, "nodePort"), 0);
        if (b.n)
            buf_addc(&b, ',');
        buf_printf(&b, "%" PRId64, jv_int(jv_at(it.value, "port"), 0));
        if (on_node > 0)
            buf_printf(&b, ":%" PRId64, on_node);
        buf_addc(&b, '/');
        buf_add(&b, jv_str(jv_at(it.value, "protocol"), S("")));
    }
    return b.n ? cell_take(c, &b) : jstrz(c->a, "<none>");
}

jv service_cells(const struct kind_ctx *c, jv obj)
{
    jv spec = jv_at(obj, "spec");

    return jarr(c->a, cell_name(c, obj), cell_text(c, jv_at(spec, "type")),
                cell_or(c, jv_at(spec, "clusterIP"), "<none>"), external_ip(c, obj),
                service_ports(c, obj), cell_age(c, obj), cell_labels(c, jv_at(spec, "selector")));
}

/* Addresses of a subset at one port, or at none. */
static void add_addresses(struct arena *a, struct few *f, jv addresses, jv port)
{
    JV_EACH (it, addresses) {
        str ip = jv_str(jv_at(it.value, "ip"), S(""));
        bool v6 = str_find(ip, ':') >= 0;
        if (jv_exists(port) && f->n < f->max)
            ip = arena_printf(a, v6 ? "[%" PRI_STR "]:%" PRId64 : "%" PRI_STR ":%" PRId64,
                              STR_ARG(ip), jv_int(jv_at(port, "port"), 0));
        few_add(f, ip);
    }
}

jv endpoints_cells(const struct kind_ctx *c, jv obj)
{
    struct few f = { .max = SHOWN };

    JV_EACH (set, jv_at(obj, "subsets")) {
        jv addresses = jv_at(set.value, "addresses");
        jv ports = jv_at(set.value, "ports");
        if (!jv_len(ports)) /* headless services may have none */
            add_addresses(c->a, &f, addresses, JV_ABSENT);
        JV_EACH (port, ports)
            add_addresses(c->a, &f, addresses, port.value);
    }
    jv shown = few_cell(c, &f, jv_len(jv_at(obj, "subsets")) ? "" : "<none>");
    return jarr(c->a, cell_name(c, obj), shown, cell_age(c, obj));
}

static jv slice_ports(const struct kind_ctx *c, jv ports)
{
    struct few f = { .max = SHOWN };

    JV_EACH (it, ports) {
        jv number = jv_at(it.value, "port");
        jv name = jv_at(it.value, "name");
        if (jv_is(number, JV_INT))
            few_add(&f, jv_num_text(c->a, number));
        else
            few_add(&f, jv_str(name, S("*")));
    }
    return few_cell(c, &f, "<unset>");
}

static jv slice_addresses(const struct kind_ctx *c, jv endpoints)
{
    struct few f = { .max = SHOWN };

    JV_EACH (it, endpoints)
        JV_EACH (at, jv_at(it.value, "addresses"))
            few_add(&f, jv_str(at.value, S("")));
    return few_cell(c, &f, "<unset>");
}

jv endpointslice_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj), cell_text(c, jv_at(obj, "addressType")),
                slice_ports(c, jv_at(obj, "ports")), slice_addresses(c, jv_at(obj, "endpoints")),
                cell_age(c, obj));
}

/* Once three hosts are found, all further rules count, and those before that have none. */
static jv ingress_hosts(const struct kind_ctx *c, jv rules)
{
    AUTO(buf) struct buf b = { 0 };
    size_t shown = 0;
    bool more = false;

    JV_EACH (it, rules) {
        str host = jv_str(jv_at(it.value, "host"), S(""));
        more = shown == SHOWN;
        if (host.n && !more) {
            join(&b, ",", host);
            shown++;
        }
    }
    if (more)
        buf_printf(&b, " + %zu more...", jv_len(rules) - SHOWN);
    return b.n ? cell_take(c, &b) : jstrz(c->a, "*");
}

jv ingress_cells(const struct kind_ctx *c, jv obj)
{
    jv spec = jv_at(obj, "spec");
    bool tls = jv_len(jv_at(spec, "tls")) > 0;

    return jarr(c->a, cell_name(c, obj), cell_set(c, jv_at(spec, "ingressClassName"), "<none>"),
                ingress_hosts(c, jv_at(spec, "rules")), jstr(c->a, balancers(c, obj)),
                tls ? jstrz(c->a, "80, 443") : jstrz(c->a, "80"), cell_age(c, obj));
}
