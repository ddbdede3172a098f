/* Endpoints and EndpointSlice. */

#include "builtin/edit.h"
#include "builtin/hooks.h"
#include "builtin/service.h"
#include "kube/ip.h"

static const char *const protocols[] = { "SCTP", "TCP", "UDP", NULL };

static jv port_defaults(struct arena *a, jv port)
{
    struct edit e = edit(a, port);

    edit_default(&e, S("protocol"), LSTR("TCP"));
    return edit_done(&e);
}

/* ---- Endpoints */

static jv subset_defaults(struct arena *a, jv subset)
{
    struct edit e = edit(a, subset);

    edit_each(&e, S("ports"), port_defaults);
    return edit_done(&e);
}

jv endpoints_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit e = edit(c->a, obj);

    edit_each(&e, S("subsets"), subset_defaults);
    return edit_done(&e);
}

static void addresses_check(struct problems *ps, const struct path *p, jv list)
{
    JV_EACH (it, list) {
        const struct path *q = EACH_AT(p, it);
        str ip = FIELD_STR(it.value, "ip");
        ip_check_legacy(ps, AT(q, "ip"), ip);
        if (FIELD_STR(it.value, "hostname").n)
            name_check(ps, AT(q, "hostname"), FIELD_STR(it.value, "hostname"), name_dns1123_label);
        if (!jv_is_null(FIELD(it.value, "nodeName")))
            name_check(ps, AT(q, "nodeName"), FIELD_STR(it.value, "nodeName"),
                       name_dns1123_subdomain);
        endpoint_ip_check(ps, AT(q, "ip"), ip);
    }
}

static void ports_check(struct problems *ps, const struct path *p, jv ports)
{
    JV_EACH (it, ports) {
        const struct path *q = EACH_AT(p, it);
        str name = FIELD_STR(it.value, "name");
        if (name.n)
            name_check(ps, AT(q, "name"), name, name_dns1123_label);
        else if (jv_len(ports) > 1)
            problem_required(ps, AT(q, "name"), "%s", "");
        port_check(ps, AT(q, "port"), FIELD(it.value, "port"));
        enum_required(ps, AT(q, "protocol"), FIELD(it.value, "protocol"), protocols);
        if (!jv_is_null(FIELD(it.value, "appProtocol")))
            name_check(ps, AT(q, "appProtocol"), FIELD_STR(it.value, "appProtocol"),
                       name_qualified);
    }
}

void endpoints_validate(struct problems *ps, jv obj)
{
    JV_EACH (it, FIELD(obj, "subsets")) {
        const struct path *p = ATI(ROOT("subsets"), it.i - 1);
        if (!jv_len(FIELD(it.value, "addresses")) && !jv_len(FIELD(it.value, "notReadyAddresses")))
            problem_required(ps, p, "must specify `addresses` or `notReadyAddresses`");
        addresses_check(ps, AT(p, "addresses"), FIELD(it.value, "addresses"));
        addresses_check(ps, AT(p, "notReadyAddresses"), FIELD(it.value, "notReadyAddresses"));
        ports_check(ps, AT(p, "ports"), FIELD(it.value, "ports"));
    }
}

/* ---- EndpointSlice */

enum { MAX_ENDPOINTS = 1000, MAX_ADDRESSES = 100, MAX_PORTS = 20000, MAX_HINTS = 8 };

static jv slice_port_defaults(struct arena *a, jv port)
{
    struct edit e = edit(a, port);

    edit_default(&e, S("protocol"), LSTR("TCP"));
    edit_default(&e, S("name"), LSTR(""));
    return edit_done(&e);
}

jv endpointslice_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit e = edit(c->a, obj);

    edit_each(&e, S("ports"), slice_port_defaults);
    return edit_done(&e);
}

static void domain_check(struct problems *ps, const struct path *p, str name)
{
    if (!name.n) {
        problem_required(ps, p, "%s", "");
        return;
    }
    if (str_ends(name, S(".")))
        name.n--;
    struct name_errors e = name_dns1123_subdomain(name);
    if (e.n)
        problem_invalid(ps, p, jstr(ps->a, name), "%" PRI_STR, STR_ARG(name_join(ps->a, &e, ",")));
    else if (str_find(name, '.') < 0)
        problem_invalid(ps, p, jstr(ps->a, name),
                        "should be a domain with at least two segments separated by dots");
}

static void slice_address_check(struct problems *ps, const struct path *list_at, size_t i, jv v,
                                str type)
{
    const struct path *p = ATI(list_at, i);
    str text = jv_str(v, S(""));
    size_t before = ps->n;
    struct ip ip;

    if (str_eq(type, S("FQDN"))) {
        domain_check(ps, p, text);
        return;
    }
    if (str_eq(type, S("IPv6")))
        ip_check(ps, p, text);
    else if (str_eq(type, S("IPv4")))
        ip_check_legacy(ps, p, text);
    else
        return;
    if (ps->n > before || !ip_parse(text, &ip))
        return;
    if (ip.is4 != str_eq(type, S("IPv4")))
        problem_invalid(ps, list_at, v, "must be an %" PRI_STR " address", STR_ARG(type));
    endpoint_ip_check(ps, p, text);
}

static void hints_check(struct problems *ps, const struct path *p, jv list, name_rule *rule)
{
    if (jv_len(list) > MAX_HINTS) {
        too_many(ps, p, jv_len(list), MAX_HINTS);
        return;
    }
    JV_EACH (it, list) {
        const struct path *q = AT(EACH_AT(p, it), "name");
        if (seen_before(list, it.i - 1, S("name"), FIELD_STR(it.value, "name")))
            problem_duplicate(ps, q, FIELD(it.value, "name"));
        name_check(ps, q, FIELD_STR(it.value, "name"), rule);
    }
}

static void slice_endpoint_check(struct problems *ps, const struct path *p, jv v, str type)
{
    jv addresses = FIELD(v, "addresses");
    jv hints = FIELD(v, "hints");

    if (!jv_len(addresses))
        problem_required(ps, AT(p, "addresses"), "must contain at least 1 address");
    else if (jv_len(addresses) > MAX_ADDRESSES)
        too_many(ps, AT(p, "addresses"), jv_len(addresses), MAX_ADDRESSES);
    JV_EACH (it, addresses)
        slice_address_check(ps, AT(p, "addresses"), it.i - 1, it.value, type);
    if (!jv_is_null(FIELD(v, "nodeName")))
        name_check(ps, AT(p, "nodeName"), FIELD_STR(v, "nodeName"), name_dns1123_subdomain);
    labels_check(ps, AT(p, "deprecatedTopology"), FIELD(v, "deprecatedTopology"));
    if (!jv_is_null(FIELD(v, "hostname")))
        name_check(ps, AT(p, "hostname"), FIELD_STR(v, "hostname"), name_dns1123_label);
    hints_check(ps, AT(AT(p, "hints"), "forZones"), FIELD(hints, "forZones"), name_label_value);
    hints_check(ps, AT(AT(p, "hints"), "forNodes"), FIELD(hints, "forNodes"),
                name_dns1123_subdomain);
}

void endpointslice_validate(struct problems *ps, jv obj)
{
    static const char *const types[] = { "FQDN", "IPv4", "IPv6", NULL };
    jv ports = FIELD(obj, "ports");
    jv endpoints = FIELD(obj, "endpoints");

    enum_required(ps, ROOT("addressType"), FIELD(obj, "addressType"), types);
    if (jv_len(ports) > MAX_PORTS)
        too_many(ps, ROOT("ports"), jv_len(ports), MAX_PORTS);
    else
        JV_EACH (it, ports) {
            const struct path *p = ATI(ROOT("ports"), it.i - 1);
            str name = FIELD_STR(it.value, "name");
            if (name.n)
                name_check(ps, AT(p, "name"), name, name_dns1123_label);
            if (seen_before(ports, it.i - 1, S("name"), name))
                problem_duplicate(ps, AT(p, "name"), jstr(ps->a, name));
            enum_required(ps, AT(p, "protocol"), FIELD(it.value, "protocol"), protocols);
            if (!jv_is_null(FIELD(it.value, "appProtocol")))
                name_check(ps, AT(p, "appProtocol"), FIELD_STR(it.value, "appProtocol"),
                           name_qualified);
        }
    if (jv_len(endpoints) > MAX_ENDPOINTS) {
        too_many(ps, ROOT("endpoints"), jv_len(endpoints), MAX_ENDPOINTS);
        return;
    }
    JV_EACH (it, endpoints)
        slice_endpoint_check(ps, ATI(ROOT("endpoints"), it.i - 1), it.value,
                             FIELD_STR(obj, "addressType"));
}

void endpointslice_validate_update(struct problems *ps, jv obj, jv old)
{
    immutable_check(ps, ROOT("addressType"), FIELD(obj, "addressType"), FIELD(old, "addressType"));
}
