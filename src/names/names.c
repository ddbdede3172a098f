/* Lines of hosts files and routes of ClusterIPs, as cluster DNS and kube-proxy would have them. */

#include "names/names.h"

#include "base/map.h"
#include "kube/meta.h"
#include "names/match.h"

#include <inttypes.h>
#include <stdlib.h>

enum { HOSTNAME_MAX = 63 };

/* ---- one pod */

str names_hostname(jv pod)
{
    str name = jv_str(jv_at(pod, "spec", "hostname"), S(""));
    str host = str_sub(name.n ? name : meta_name(pod), 0, HOSTNAME_MAX);

    while (host.n == HOSTNAME_MAX && (host.p[host.n - 1] == '-' || host.p[host.n - 1] == '.'))
        host.n--;
    return host;
}

str names_fqdn(struct arena *a, jv pod)
{
    str sub = jv_str(jv_at(pod, "spec", "subdomain"), S(""));

    if (!sub.n)
        return STR_NONE;
    return arena_printf(a, "%" PRI_STR ".%" PRI_STR ".%" PRI_STR ".svc.cluster.local",
                        STR_ARG(names_hostname(pod)), STR_ARG(sub), STR_ARG(meta_namespace(pod)));
}

str names_own_line(struct arena *a, jv pod, str ip)
{
    str fqdn = names_fqdn(a, pod);

    return arena_printf(a, "%" PRI_STR " %" PRI_STR "%s%" PRI_STR, STR_ARG(ip), STR_ARG(fqdn),
                        fqdn.n ? " " : "", STR_ARG(names_hostname(pod)));
}

bool names_is_probed(jv pod)
{
    static const char *const lists[] = { "containers", "initContainers" };

    if (jv_len(jv_at(pod, "spec", "readinessGates")))
        return true;
    for (size_t i = 0; i < COUNT(lists); i++)
        JV_EACH (it, jv_at(pod, "spec", lists[i]))
            if (!jv_is_null(jv_at(it.value, "readinessProbe")) ||
                !jv_is_null(jv_at(it.value, "startupProbe")))
                return true;
    return false;
}

/* ---- lines */

static str name_line(struct arena *a, str ip, str name, str ns)
{
    AUTO(buf) struct buf b = { 0 };
    static const char *const tails[] = { ".svc.cluster.local", ".svc", "" };

    buf_add(&b, ip);
    for (size_t i = 0; i < COUNT(tails); i++)
        buf_printf(&b, " %" PRI_STR ".%" PRI_STR "%s", STR_ARG(name), STR_ARG(ns), tails[i]);
    buf_printf(&b, " %" PRI_STR, STR_ARG(name));
    return arena_str(a, buf_str(&b));
}

str names_line_abroad(str line)
{
    ptrdiff_t last = str_rfind(line, ' ');
    str head = last > 0 ? str_sub(line, 0, (size_t)last) : STR_NONE;

    return str_find(head, ' ') > 0 ? head : STR_NONE; /* an address alone says nothing */
}

static bool is_kubernetes(jv service)
{
    return str_eq(meta_namespace(service), S("default")) &&
           str_eq(meta_name(service), S("kubernetes"));
}

static str cluster_ip(jv service)
{
    str ip = jv_str(jv_at(service, "spec", "clusterIP"), S(""));

    return str_eq(ip, S("None")) ? STR_NONE : ip;
}

str names_first_line(struct arena *a, jv pod, str ip, jv service)
{
    if (!jv_exists(service))
        return names_own_line(a, pod, ip);
    if (cluster_ip(service).n || !jv_len(jv_at(service, "spec", "selector")) ||
        !names_selects(service, meta_labels(pod)))
        return STR_NONE;
    return name_line(a, ip, meta_name(service), meta_namespace(pod));
}

static void service_lines(struct arena *a, const struct names_world *w,
                          const struct names_service *s, struct names_lines *out)
{
    str name = meta_name(s->service), ip = cluster_ip(s->service);

    if (ip.n && w->cluster_ips) {
        vec_push(out, name_line(a, ip, name, w->ns));
        return;
    }
    if (is_kubernetes(s->service) && w->api_ip.n)
        vec_push(out, name_line(a, w->api_ip, name, w->ns));
    for (size_t i = 0; i < s->ends.n; i++) {
        const struct names_end *end = &s->ends.at[i];
        vec_push(out, name_line(a, end->ip, name, w->ns));
        if (end->hostname.n)
            vec_push(out, name_line(a, end->ip,
                                    arena_printf(a, "%" PRI_STR ".%" PRI_STR,
                                                 STR_ARG(end->hostname), STR_ARG(name)),
                                    w->ns));
    }
}

static int by_text(const void *x, const void *y)
{
    return str_cmp(*(const str *)x, *(const str *)y);
}

void names_lines(struct arena *a, const struct names_world *w, struct names_lines *out)
{
    struct names_services all = { 0 };
    struct map taken = { 0 }; /* by services: a host name of a pod does not stand beside them */
    size_t kept = 0;

    JV_EACH (it, w->services)
        if (str_eq(meta_namespace(it.value), w->ns))
            map_put(&taken, meta_name(it.value), &taken);
    names_match(a, w, &all);
    for (size_t i = 0; i < all.n; i++)
        service_lines(a, w, &all.at[i], out);
    names_services_done(&all);
    for (size_t i = 0; i < w->n; i++) {
        const struct names_pod *p = &w->pods[i];
        if (p->ip.n && p->ready && !p->hidden && !map_get(&taken, names_hostname(p->pod)))
            vec_push(out, names_own_line(a, p->pod, p->ip));
    }
    map_done(&taken);
    if (out->n)
        qsort(out->at, out->n, sizeof(*out->at), by_text);
    for (size_t i = 0; i < out->n; i++)
        if (!kept || !str_eq(out->at[kept - 1], out->at[i]))
            out->at[kept++] = out->at[i];
    out->n = kept;
}

/* ---- routes */

static int64_t named_port(jv ports, str name, const char *field)
{
    JV_EACH (it, ports)
        if (str_eq(jv_str(jv_at(it.value, "name"), S("")), name))
            return jv_int(jv_at(it.value, field), 0);
    return 0;
}

static int64_t pod_port(jv pod, str name)
{
    static const char *const lists[] = { "containers", "initContainers" };

    for (size_t i = 0; i < COUNT(lists); i++)
        JV_EACH (it, jv_at(pod, "spec", lists[i])) {
            int64_t port = named_port(jv_at(it.value, "ports"), name, "containerPort");
            if (port)
                return port;
        }
    return 0;
}

int64_t names_target(const struct names_end *end, jv port)
{
    jv to = jv_at(port, "targetPort");

    if (!jv_exists(end->pod))
        return named_port(end->ports, jv_str(jv_at(port, "name"), S("")), "port");
    if (jv_is(to, JV_STR))
        return pod_port(end->pod, jv_str(to, S("")));
    int64_t n = jv_int(to, 0);
    return n ? n : jv_int(jv_at(port, "port"), 0);
}

static jv route(struct arena *a, const struct names_world *w, const struct names_service *s)
{
    struct jbuild ports = jb_arr(a);

    JV_EACH (it, jv_at(s->service, "spec", "ports")) {
        struct jbuild to = jb_arr(a);
        if (is_kubernetes(s->service) && w->api_ip.n)
            jb_push(&to, jobj(a, { "ip", jstr(a, w->api_ip) }, { "port", jint(a, w->api_port) }));
        for (size_t i = 0; i < s->ends.n; i++) {
            int64_t n = names_target(&s->ends.at[i], it.value);
            if (n)
                jb_push(&to, jobj(a, { "ip", jstr(a, s->ends.at[i].ip) }, { "port", jint(a, n) }));
        }
        jb_push(&ports,
                jobj(a, { "protocol", jstr(a, jv_str(jv_at(it.value, "protocol"), S("TCP"))) },
                     { "port", jv_at(it.value, "port") }, { "to", jb_done(&to) }));
    }
    return jobj(a, { "namespace", jstr(a, w->ns) }, { "name", jstr(a, meta_name(s->service)) },
                { "ip", jstr(a, cluster_ip(s->service)) }, { "ports", jb_done(&ports) });
}

static int by_name(const void *x, const void *y)
{
    const struct names_service *s = x, *t = y;

    return str_cmp(meta_name(s->service), meta_name(t->service));
}

jv names_routes(struct arena *a, const struct names_world *w)
{
    struct names_services all = { 0 };
    struct jbuild b = jb_arr(a);

    names_match(a, w, &all);
    if (all.n)
        qsort(all.at, all.n, sizeof(*all.at), by_name);
    for (size_t i = 0; i < all.n; i++)
        if (cluster_ip(all.at[i].service).n)
            jb_push(&b, route(a, w, &all.at[i]));
    names_services_done(&all);
    return jb_done(&b);
}
