/* pods/exec and pods/attach: what is asked for, and whether it can be; then channels.c. */

#include "api/metrics.h"
#include "api/stream/channels.h"
#include "api/stream/spdy_upgrade.h"
#include "api/subresource.h"
#include "base/url.h"
#include "kube/meta.h"

static void read_options(struct api_req *r, struct channels_opts *o)
{
    struct jbuild argv = jb_arr(r->a);
    const struct {
        const char *key;
        bool *is;
    } flags[] = {
        { "stdin", &o->in }, { "stdout", &o->out }, { "stderr", &o->err }, { "tty", &o->exec.tty }
    };

    for (size_t i = 0; i < r->target.n_query; i++)
        if (str_eqz(r->target.query[i].key, "command"))
            jb_push(&argv, jstr(r->a, r->target.query[i].value));
    o->exec.container = target_option(&r->target, "container");
    for (size_t i = 0; i < COUNT(flags); i++) {
        str given = target_option(&r->target, flags[i].key);
        if (given.p)
            *flags[i].is = url_flag(given);
    }
    if (str_eqz(r->sub, "exec"))
        o->exec.argv = jb_done(&argv);
    if (o->exec.tty)
        o->err = false; /* a terminal has one output */
}

/* What is wrong with it; true: answered. */
static bool refused(struct api_req *r, struct channels_opts *o)
{
    struct err e = { 0 };

    if (pod_stored(r, &o->pod.pod) < 0)
        return true;
    o->exec.container = pod_container(r, o->pod.pod, o->exec.container);
    if (!o->exec.container.n)
        return true;
    if (!jv_str(jv_at(o->pod.pod, "spec", "nodeName"), STR_NONE).n) {
        fail_bad_request(r, "pod %" PRI_STR " does not have a host assigned", STR_ARG(r->name));
        return true;
    }
    if (jv_exists(o->exec.argv) && !jv_len(o->exec.argv)) {
        fail_bad_request(r, "you must specify at least one command for the container");
        return true;
    }
    if (!o->in && !o->out && !o->err) {
        fail_bad_request(r, "you must specify at least 1 of stdin, stdout, stderr");
        return true;
    }
    if (o->pods->exec_check(o->pods->ctx, &o->pod, o->exec.container, &e) < 0) {
        answer_err(r, &e);
        return true;
    }
    return false;
}

void pod_exec_run(struct api_req *r)
{
    const struct api_pods *pods = r->api->o.pods;
    struct channels_opts o = { .loop = r->api->loop,
                               .pods = pods,
                               .pod = { .ns = r->ns, .name = r->name } };

    if (!pods || !pods->exec) {
        subresource_no_runtime(r);
        return;
    }
    read_options(r, &o);
    if (refused(r, &o))
        return;
    str protocol = S("v4.channel.k8s.io");
    o.spdy = !http_wants_websocket(r->http);
    if (o.spdy && !spdy_is_asked(r, protocol))
        return;
    if (!o.spdy)
        protocol = channels_choose(http_get_header(r->http, S("sec-websocket-protocol")));
    if (!protocol.n) {
        fail_bad_request(r, "none of the subprotocols is supported: use v5.channel.k8s.io or "
                            "v4.channel.k8s.io");
        return;
    }
    metrics_request(r, 101);
    http_allow_slow_client(r->http);
    channels_start(r->http, protocol, &o);
}
