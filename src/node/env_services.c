/* The variables that tell a container of its namespace's services, in Docker's old way. PURE. */

#include "base/map.h"
#include "kube/meta.h"
#include "node/env.h"

#include <inttypes.h>

static str upper(struct arena *a, str s)
{
    char *p = arena_alloc(a, s.n + 1);

    for (size_t i = 0; i < s.n; i++)
        p[i] = s.p[i] == '-'                    ? '_'
               : s.p[i] >= 'a' && s.p[i] <= 'z' ? (char)(s.p[i] - 'a' + 'A')
                                                : s.p[i];
    p[s.n] = '\0';
    return (str){ p, s.n };
}

static void set(struct jbuild *b, str name, str value)
{
    jb_set(b, name, jstr(b->a, value));
}

static void add_links(struct jbuild *b, str name, str ip, jv ports)
{
    struct arena *a = b->a;
    bool first = true;
    bool v6 = str_find(ip, ':') >= 0;

    for (struct jv_iter it = jv_iter(ports); jv_next(&it); first = false) {
        str proto = jv_str(jv_at(it.value, "protocol"), S("TCP"));
        str port = arena_printf(a, "%" PRId64, jv_int(jv_at(it.value, "port"), 0));
        str at = arena_printf(a, "%" PRI_STR "_PORT_%" PRI_STR "_%" PRI_STR, STR_ARG(name),
                              STR_ARG(port), STR_ARG(upper(a, proto)));
        str url = arena_printf(a, "%" PRI_STR "://%s%" PRI_STR "%s:%" PRI_STR,
                               STR_ARG(arena_lower(a, proto)), v6 ? "[" : "", STR_ARG(ip),
                               v6 ? "]" : "", STR_ARG(port));
        if (first)
            set(b, arena_cat(a, name, S("_PORT")), url);
        set(b, at, url);
        set(b, arena_cat(a, at, S("_PROTO")), arena_lower(a, proto));
        set(b, arena_cat(a, at, S("_PORT")), port);
        set(b, arena_cat(a, at, S("_ADDR")), ip);
    }
}

static void add_service(struct jbuild *b, jv service)
{
    struct arena *a = b->a;
    str name = upper(a, meta_name(service));
    str ip = jv_str(jv_at(service, "spec", "clusterIP"), S(""));
    jv ports = jv_at(service, "spec", "ports");
    bool first = true;

    set(b, arena_cat(a, name, S("_SERVICE_HOST")), ip);
    for (struct jv_iter it = jv_iter(ports); jv_next(&it); first = false) {
        str port = arena_printf(a, "%" PRId64, jv_int(jv_at(it.value, "port"), 0));
        str named = jv_str(jv_at(it.value, "name"), S(""));
        if (first)
            set(b, arena_cat(a, name, S("_SERVICE_PORT")), port);
        if (named.n)
            set(b,
                arena_printf(a, "%" PRI_STR "_SERVICE_PORT_%" PRI_STR, STR_ARG(name),
                             STR_ARG(upper(a, named))),
                port);
    }
    add_links(b, name, ip, ports);
}

jv env_services(struct arena *a, jv pod, jv services)
{
    struct jbuild b = jb_obj(a);
    bool all = jv_bool(jv_at(pod, "spec", "enableServiceLinks"), true);
    str ns = meta_namespace(pod);

    for (int own = 0; own < 2; own++) /* the namespace's own win */
        JV_EACH (it, services) {
            str ip = jv_str(jv_at(it.value, "spec", "clusterIP"), S(""));
            bool here = str_eq(meta_namespace(it.value), ns);
            bool master = str_eq(meta_namespace(it.value), S("default")) &&
                          str_eq(meta_name(it.value), S("kubernetes"));
            if (!ip.n || str_eq(ip, S("None")))
                continue;
            if (own ? here && all : master)
                add_service(&b, it.value);
        }
    return jb_done(&b);
}
