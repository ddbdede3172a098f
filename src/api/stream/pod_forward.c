/* pods/portforward: what is asked for, whether it can be, and in which of the ways clients have. */

#include "api/metrics.h"
#include "api/stream/forward.h"
#include "api/stream/spdy_upgrade.h"
#include "api/subresource.h"
#include "base/url.h"
#include "kube/meta.h"

static const struct protocol {
    const char *name;
    void (*start)(struct http_req *r, str protocol, const struct forward_opts *o);
} protocols[] = {
    { "SPDY/3.1+portforward.k8s.io", forward_spdy_start }, /* kubectl since 1.31 */
    { "v4.channel.k8s.io", forward_channels_start },       /* the Python client */
};

int forward_ports(const struct target *t, int *out, size_t *n, struct err *e)
{
    *n = 0;
    for (size_t i = 0; i < t->n_query; i++) {
        if (!str_eqz(t->query[i].key, "ports"))
            continue;
        for (str rest = t->query[i].value; rest.p;) {
            str text = str_trim(str_cut(&rest, ','));
            int64_t port = 0;
            if (!str_to_int(text, &port) || port < 1 || port > UINT16_MAX)
                return err_set(e, ERR_BAD_REQUEST, "unable to parse \"%" PRI_STR "\" as a port",
                               STR_ARG(str_clip(text, 40)));
            if (*n == FORWARD_PORTS)
                return err_set(e, ERR_BAD_REQUEST, "more than %d ports", FORWARD_PORTS);
            out[(*n)++] = (int)port;
        }
    }
    return *n ? 0 : err_set(e, ERR_BAD_REQUEST, "query parameter \"ports\" is required");
}

str forward_error(struct arena *a, const struct api_pod *pod, int port, str why)
{
    return arena_printf(a,
                        "error forwarding port %d to pod %" PRI_STR ", uid %" PRI_STR ": %" PRI_STR,
                        port, STR_ARG(pod->name), STR_ARG(meta_uid(pod->pod)), STR_ARG(why));
}

static int choose(str offered)
{
    for (size_t i = 0; i < COUNT(protocols); i++)
        for (str rest = offered; rest.p;)
            if (str_eqz(str_trim(str_cut(&rest, ',')), protocols[i].name))
                return (int)i;
    return -1;
}

static const struct protocol plain = { "portforward.k8s.io", forward_spdy_start };

static void start(struct api_req *r, const struct protocol *p, str name,
                  const struct forward_opts *o)
{
    metrics_request(r, 101);
    http_allow_slow_client(r->http);
    p->start(r->http, name, o);
}

void pod_forward_run(struct api_req *r)
{
    const struct api_pods *pods = r->api->o.pods;
    int ports[FORWARD_PORTS];
    struct forward_opts o = {
        .loop = r->api->loop, .pods = pods, .pod = { .ns = r->ns, .name = r->name }, .ports = ports
    };
    struct err e = { 0 };

    if (!pods || !pods->dial) {
        subresource_no_runtime(r);
        return;
    }
    if (pod_stored(r, &o.pod.pod) < 0)
        return;
    if (!jv_str(jv_at(o.pod.pod, "spec", "nodeName"), STR_NONE).n) {
        fail_bad_request(r, "pod %" PRI_STR " does not have a host assigned", STR_ARG(r->name));
        return;
    }
    if (!http_wants_websocket(r->http)) {
        o.spdy = spdy_is_asked(r, str_of(plain.name));
        if (o.spdy)
            start(r, &plain, str_of(plain.name), &o);
        return;
    }
    str offered = http_get_header(r->http, S("sec-websocket-protocol"));
    int which = offered.n ? choose(offered) : 1;
    if (which < 0) {
        fail_bad_request(r, "none of the subprotocols is supported: use %s or %s",
                         protocols[0].name, protocols[1].name);
        return;
    }
    if (protocols[which].start == forward_channels_start &&
        forward_ports(&r->target, ports, &o.n_ports, &e) < 0) {
        answer_err(r, &e);
        return;
    }
    start(r, &protocols[which], offered.n ? str_of(protocols[which].name) : STR_NONE, &o);
}
