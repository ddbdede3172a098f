/* Starts or finds the hub, listens in it for pods that want the API, and says how things are. */

#include "app/up_net.h"

#include "base/mem.h"
#include "base/time.h"
#include "loop/log.h"
#include "podnet/podnet.h"

struct up_net {
    struct net *net;
    struct api *api;
    struct net_ask *listening; /* for pods, soon */
    char *dir;
};

jv up_condition(struct arena *a, const char *type, bool is, const char *reason, str message)
{
    char now[TIME_BYTES];

    time_print(now, wall_now_ms());
    str at = arena_str(a, str_of(now));
    return jobj(a, { "type", jstr(a, str_of(type)) },
                { "status", is ? jstrz(a, "True") : jstrz(a, "False") },
                { "lastHeartbeatTime", jstr(a, at) }, { "lastTransitionTime", jstr(a, at) },
                { "reason", jstr(a, str_of(reason)) }, { "message", jstr(a, message) });
}

static void on_listening(void *ctx, jv ok, int fd, const struct err *e)
{
    struct up_net *u = ctx;

    u->listening = NULL;
    if (!jv_exists(ok))
        log_warn("pods cannot reach the API", KVZ("why", e->msg));
    else
        http_server_also(api_server(u->api), fd);
}

static void serve(void *ctx)
{
    struct up_net *u = ctx;

    net_cancel(u->listening);
    u->listening = net_listen(u->net, (struct net_then){ on_listening, u });
}

static jv describe(struct arena *a, const struct net *n)
{
    bool out = net_has_egress(n), services = net_has_services(n);
    str words = arena_str(a, str_of(net_words(n)));

    if (out)
        log_info("pods can reach outside networks", KV("how", words));
    else
        log_warn("pods cannot reach outside networks; --isolation shared uses this machine's "
                 "network",
                 KV("why", words));
    if (!services)
        log_info("no nft: service names resolve to ready pods");
    return jarr(a,
                up_condition(a, "NetworkUnavailable", false, "HubIsUp",
                             arena_printf(a, "the gateway of pods is %s", net_gateway(n))),
                up_condition(a, "PodEgress", out, out ? "WayOut" : "NoWayOut",
                             out ? words
                                 : arena_printf(a, "pods cannot reach outside networks: %" PRI_STR,
                                                STR_ARG(words))),
                up_condition(a, "ClusterIPs", services, services ? "Nftables" : "NoNftables",
                             services ? S("ClusterIPs lead to ready pods")
                                      : S("nft (package nftables) is missing or refused: names of "
                                          "services stand for their ready pods")));
}

static void none(const struct err *e)
{
    log_warn("pods have no network of their own and use this machine's", KVZ("why", e->msg));
}

struct up_net *up_net_begin(struct loop *l, const char *dir, bool ephemeral)
{
    struct up_net *u = mem_new(sizeof(*u));
    struct err e = { 0 };

    u->dir = strdup(dir);
    struct net_opts o = {
        .loop = l, .data = u->dir, .ephemeral = ephemeral, .again = serve, .ctx = u
    };
    if (net_new(&u->net, &o, &e) == 0)
        return u;
    none(&e);
    up_net_free(u);
    return NULL;
}

bool up_net_ready(struct up_net *u, struct arena *a, struct api *api, jv *conditions)
{
    struct err e = { 0 };

    if (!u || net_wait(u->net, &e) < 0) {
        if (u)
            none(&e);
        *conditions =
            jarr(a, up_condition(a, "NetworkUnavailable", true, "NoHub",
                                 arena_printf(a, "pods use this machine's network: %s", e.msg)));
        return false;
    }
    u->api = api;
    serve(u);
    *conditions = describe(a, u->net);
    return true;
}

const struct pod_network *up_net_node(struct up_net *u)
{
    return u ? net_pod_network(u->net) : NULL;
}

void up_net_free(struct up_net *u)
{
    if (!u)
        return;
    net_cancel(u->listening);
    net_free(u->net);
    free(u->dir);
    free(u);
}
