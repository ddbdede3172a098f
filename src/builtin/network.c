/* NetworkPolicy, Ingress and IngressClass. */

#include "builtin/edit.h"
#include "builtin/hooks.h"
#include "builtin/service.h"
#include "kube/ip.h"

/* ---- NetworkPolicy */

static jv policy_port_defaults(struct arena *a, jv port)
{
    struct edit e = edit(a, port);

    edit_default(&e, S("protocol"), LSTR("TCP"));
    return edit_done(&e);
}

static jv policy_rule_defaults(struct arena *a, jv rule)
{
    struct edit e = edit(a, rule);

    edit_each(&e, S("ports"), policy_port_defaults);
    return edit_done(&e);
}

jv networkpolicy_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit spec = edit(c->a, FIELD(obj, "spec"));
    bool egress = jv_len(edit_get(&spec, S("egress")));

    edit_each(&spec, S("ingress"), policy_rule_defaults);
    edit_each(&spec, S("egress"), policy_rule_defaults);
    if (!jv_len(edit_get(&spec, S("policyTypes"))))
        edit_set(
            &spec, S("policyTypes"),
            jarr(c->a, jstr(c->a, S("Ingress")), egress ? jstr(c->a, S("Egress")) : JV_ABSENT));
    return jv_with_key(c->a, obj, S("spec"), edit_done(&spec));
}

static void policy_port_check(struct problems *ps, const struct path *p, jv v)
{
    static const char *const protocols[] = { "TCP", "UDP", "SCTP", NULL };
    jv port = FIELD(v, "port");
    jv end = FIELD(v, "endPort");

    enum_optional(ps, AT(p, "protocol"), FIELD(v, "protocol"), protocols);
    if (jv_is_null(port)) {
        if (!jv_is_null(end))
            problem_invalid(ps, AT(p, "endPort"), end,
                            "may not be specified when `port` is not specified");
    } else if (jv_is(port, JV_STR)) {
        if (!jv_is_null(end))
            problem_invalid(ps, AT(p, "endPort"), end,
                            "may not be specified when `port` is non-numeric");
        name_check(ps, AT(p, "port"), jv_str(port, S("")), name_port);
    } else {
        port_check(ps, AT(p, "port"), port);
        if (jv_is_null(end))
            return;
        if (jv_int(end, 0) < jv_int(port, 0))
            problem_invalid(ps, AT(p, "endPort"), port, "must be greater than or equal to `port`");
        port_check(ps, AT(p, "endPort"), end);
    }
}

static void ip_block_check(struct problems *ps, const struct path *p, jv block)
{
    struct cidr outer;
    struct cidr inner;

    if (!FIELD_STR(block, "cidr").n) {
        problem_required(ps, AT(p, "cidr"), "%s", "");
        return;
    }
    cidr_check_legacy(ps, AT(p, "cidr"), FIELD_STR(block, "cidr"));
    if (!cidr_parse(FIELD_STR(block, "cidr"), &outer))
        return;
    JV_EACH (it, FIELD(block, "except")) {
        const struct path *q = ATI(AT(p, "except"), it.i - 1);
        cidr_check_legacy(ps, q, jv_str(it.value, S("")));
        if (cidr_parse(jv_str(it.value, S("")), &inner) &&
            (!cidr_contains(&outer, &inner) || outer.bits >= inner.bits))
            problem_invalid(ps, q, it.value, "must be a strict subset of `cidr`");
    }
}

static void peer_check(struct problems *ps, const struct path *p, jv peer)
{
    bool pods = !jv_is_null(FIELD(peer, "podSelector"));
    bool spaces = !jv_is_null(FIELD(peer, "namespaceSelector"));
    bool block = !jv_is_null(FIELD(peer, "ipBlock"));

    label_selector_check(ps, AT(p, "podSelector"), FIELD(peer, "podSelector"));
    label_selector_check(ps, AT(p, "namespaceSelector"), FIELD(peer, "namespaceSelector"));
    if (block)
        ip_block_check(ps, AT(p, "ipBlock"), FIELD(peer, "ipBlock"));
    if (!pods && !spaces && !block)
        problem_required(ps, p, "must specify a peer");
    else if (block && (pods || spaces))
        problem_forbidden(ps, p, "may not specify both ipBlock and another peer");
}

static void policy_rules_check(struct problems *ps, const struct path *p, jv rules,
                               const char *peers)
{
    JV_EACH (it, rules) {
        const struct path *q = EACH_AT(p, it);
        JV_EACH (port, FIELD(it.value, "ports"))
            policy_port_check(ps, ATI(AT(q, "ports"), port.i - 1), port.value);
        JV_EACH (peer, jv_get(it.value, str_of(peers)))
            peer_check(ps, ATI(ATZ(q, peers), peer.i - 1), peer.value);
    }
}

void networkpolicy_validate(struct problems *ps, jv obj)
{
    static const char *const types[] = { "Ingress", "Egress", NULL };
    jv spec = FIELD(obj, "spec");
    jv list = FIELD(spec, "policyTypes");
    const struct path *p = ROOT("spec");

    label_selector_check(ps, AT(p, "podSelector"), FIELD(spec, "podSelector"));
    policy_rules_check(ps, AT(p, "ingress"), FIELD(spec, "ingress"), "from");
    policy_rules_check(ps, AT(p, "egress"), FIELD(spec, "egress"), "to");
    if (jv_len(list) > 2) {
        problem_invalid(ps, AT(p, "policyTypes"), list,
                        "may not specify more than two policyTypes");
        return;
    }
    JV_EACH (it, list)
        enum_check(ps, ATI(AT(p, "policyTypes"), it.i - 1), it.value, types);
}

/* ---- Ingress */

static void typed_reference_check(struct problems *ps, const struct path *p, jv ref)
{
    if (!jv_is_null(FIELD(ref, "apiGroup")))
        name_check(ps, AT(p, "apiGroup"), FIELD_STR(ref, "apiGroup"), name_dns1123_subdomain);
    name_required(ps, AT(p, "kind"), FIELD_STR(ref, "kind"), name_path_segment);
    name_required(ps, AT(p, "name"), FIELD_STR(ref, "name"), name_path_segment);
}

static void backend_check(struct problems *ps, const struct path *p, jv backend)
{
    jv service = FIELD(backend, "service");
    jv resource = FIELD(backend, "resource");
    jv port = FIELD(service, "port");
    const struct path *q = AT(p, "service");

    if (!jv_is_null(service) && !jv_is_null(resource)) {
        problem_invalid(ps, p, LSTR(""), "cannot set both resource and service backends");
    } else if (!jv_is_null(resource)) {
        typed_reference_check(ps, AT(p, "resource"), resource);
    } else if (jv_is_null(service)) {
        problem_invalid(ps, p, LSTR(""), "resource or service backend is required");
    } else {
        name_required(ps, AT(q, "name"), FIELD_STR(service, "name"), name_dns1035_label);
        if (FIELD_STR(port, "name").n && FIELD_INT(port, "number"))
            problem_invalid(ps, p, LSTR(""), "cannot set both port name & port number");
        else if (FIELD_STR(port, "name").n)
            name_check(ps, AT(AT(q, "port"), "name"), FIELD_STR(port, "name"), name_port);
        else if (FIELD_INT(port, "number"))
            port_check(ps, AT(AT(q, "port"), "number"), FIELD(port, "number"));
        else
            problem_required(ps, p, "port name or number is required");
    }
}

static void exact_path_check(struct problems *ps, const struct path *p, jv path)
{
    static const char *const parts[] = { "//", "/./", "/../", "%2f", "%2F" };
    static const char *const ends[] = { "/..", "/." };
    str text = jv_str(path, S(""));

    if (!str_starts(text, S("/")))
        problem_invalid(ps, p, shown(ps->a, path), "must be an absolute path");
    for (size_t i = 0; i < COUNT(parts); i++)
        if (str_contains(text, str_of(parts[i])))
            problem_invalid(ps, p, path, "must not contain '%s'", parts[i]);
    for (size_t i = 0; i < COUNT(ends); i++)
        if (str_ends(text, str_of(ends[i])))
            problem_invalid(ps, p, path, "cannot end with '%s'", ends[i]);
}

static void http_path_check(struct problems *ps, const struct path *p, jv v)
{
    static const char *const types[] = { "Exact", "ImplementationSpecific", "Prefix", NULL };
    str type = FIELD_STR(v, "pathType");
    str path = FIELD_STR(v, "path");

    if (jv_is_null(FIELD(v, "pathType"))) {
        problem_required(ps, AT(p, "pathType"), "pathType must be specified");
        return;
    }
    if (str_eq(type, S("Exact")) || str_eq(type, S("Prefix")))
        exact_path_check(ps, AT(p, "path"), FIELD(v, "path"));
    else if (enum_check(ps, AT(p, "pathType"), FIELD(v, "pathType"), types) && path.n &&
             path.p[0] != '/')
        problem_invalid(ps, AT(p, "path"), FIELD(v, "path"), "must be an absolute path");
    backend_check(ps, AT(p, "backend"), FIELD(v, "backend"));
}

static void host_check(struct problems *ps, const struct path *p, str host)
{
    name_check(ps, p, host,
               str_find(host, '*') >= 0 ? name_wildcard_subdomain : name_dns1123_subdomain);
}

static void ingress_rule_check(struct problems *ps, const struct path *p, jv rule)
{
    str host = FIELD_STR(rule, "host");
    jv http = FIELD(rule, "http");
    struct ip ip;

    if (host.n && ip_parse(host, &ip))
        problem_invalid(ps, AT(p, "host"), FIELD(rule, "host"),
                        "must be a DNS name, not an IP address");
    if (host.n)
        host_check(ps, AT(p, "host"), host);
    if (jv_is_null(http))
        return;
    if (!jv_len(FIELD(http, "paths")))
        problem_required(ps, AT(AT(p, "http"), "paths"), "%s", "");
    JV_EACH (it, FIELD(http, "paths"))
        http_path_check(ps, ATI(AT(AT(p, "http"), "paths"), it.i - 1), it.value);
}

void ingress_validate(struct problems *ps, jv obj)
{
    jv spec = FIELD(obj, "spec");
    jv class = FIELD(spec, "ingressClassName");
    jv annotation = FIELD(meta_annotations(obj), "kubernetes.io/ingress.class");
    const struct path *p = ROOT("spec");

    if (!jv_len(FIELD(spec, "rules")) && jv_is_null(FIELD(spec, "defaultBackend")))
        problem_invalid(ps, p, JV_ABSENT, "either `defaultBackend` or `rules` must be specified");
    if (!jv_is_null(FIELD(spec, "defaultBackend")))
        backend_check(ps, AT(p, "defaultBackend"), FIELD(spec, "defaultBackend"));
    JV_EACH (it, FIELD(spec, "rules"))
        ingress_rule_check(ps, ATI(AT(p, "rules"), it.i - 1), it.value);
    JV_EACH (it, FIELD(spec, "tls")) {
        const struct path *q = ATI(AT(p, "tls"), it.i - 1);
        JV_EACH (h, FIELD(it.value, "hosts"))
            host_check(ps, ATI(AT(q, "hosts"), h.i - 1), jv_str(h.value, S("")));
        if (FIELD_STR(it.value, "secretName").n)
            name_check(ps, AT(q, "secretName"), FIELD_STR(it.value, "secretName"),
                       name_dns1123_subdomain);
    }
    if (!jv_is_null(class))
        name_check(ps, AT(p, "ingressClassName"), jv_str(class, S("")), name_dns1123_subdomain);
    if (!ps->is_update && jv_exists(annotation) && !jv_is_null(class) &&
        !jv_equal(annotation, class))
        problem_invalid(ps, AT(ROOT("annotations"), "kubernetes.io/ingress.class"), annotation,
                        "must match `ingressClassName` when both are specified");
}

void ingress_validate_status(struct problems *ps, jv obj, jv old)
{
    (void)old;
    load_balancer_status_check(ps, AT(ROOT("status"), "loadBalancer"),
                               FIELD(FIELD(obj, "status"), "loadBalancer"));
}

/* ---- IngressClass */

static jv parameters_defaults(struct arena *a, jv parameters)
{
    struct edit e = edit(a, parameters);

    edit_default(&e, S("scope"), LSTR("Cluster"));
    return edit_done(&e);
}

jv ingressclass_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit spec = edit(c->a, FIELD(obj, "spec"));
    struct edit e = edit(c->a, obj);

    edit_in(&spec, S("parameters"), parameters_defaults);
    edit_set(&e, S("spec"), edit_done(&spec));
    return edit_done(&e);
}

static void parameters_check(struct problems *ps, const struct path *p, jv v)
{
    static const char *const scopes[] = { "Cluster", "Namespace", NULL };
    jv space = FIELD(v, "namespace");

    if (jv_is_null(v))
        return;
    typed_reference_check(ps, p, v);
    if (!enum_check(ps, AT(p, "scope"), FIELD(v, "scope"), scopes))
        return;
    if (str_eq(FIELD_STR(v, "scope"), S("Cluster"))) {
        if (!jv_is_null(space))
            problem_forbidden(ps, AT(p, "namespace"), "`parameters.scope` is set to 'Cluster'");
    } else if (jv_is_null(space)) {
        problem_required(ps, AT(p, "namespace"), "`parameters.scope` is set to 'Namespace'");
    } else {
        name_check(ps, AT(p, "namespace"), jv_str(space, S("")), name_dns1123_label);
    }
}

void ingressclass_validate(struct problems *ps, jv obj)
{
    jv spec = FIELD(obj, "spec");
    const struct path *p = ROOT("spec");

    if (FIELD_STR(spec, "controller").n > 250)
        too_long(ps, AT(p, "controller"), 250);
    domain_path_check(ps, AT(p, "controller"), FIELD(spec, "controller"));
    parameters_check(ps, AT(p, "parameters"), FIELD(spec, "parameters"));
}

void ingressclass_validate_update(struct problems *ps, jv obj, jv old)
{
    immutable_check(ps, AT(ROOT("spec"), "controller"), FIELD(FIELD(obj, "spec"), "controller"),
                    FIELD(FIELD(old, "spec"), "controller"));
}
