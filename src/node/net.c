/* The node's side of the hub. */

#include "node/net.h"

#include "base/mem.h"
#include "kube/meta.h"
#include "loop/log.h"
#include "node/net_call.h"

struct net {
    struct net_opts o;
    struct net_call call;
    struct node_net node;
};

static int attach(void *ctx, struct arena *a, jv pod, jv *net, jv *mounts, struct err *e)
{
    struct net *n = ctx;
    jv ask = jobj(a, { "do", jstrz(a, "attach") }, { "uid", jstr(a, meta_uid(pod)) });
    jv place = net_call_ask(&n->call, a, ask, NULL, e);

    (void)mounts;
    if (!jv_exists(place))
        return err_wrap(e, "network of pod %" PRI_STR, STR_ARG(meta_name(pod)));
    *net = place;
    return 0;
}

static void detach(void *ctx, str uid)
{
    AUTO(arena) struct arena *a = arena_new();
    struct net *n = ctx;

    net_call_tell(&n->call, jobj(a, { "do", jstrz(a, "detach") }, { "uid", jstr(a, uid) }));
}

int net_socket(struct net *n, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    int fd = -1;

    if (!jv_exists(net_call_ask(&n->call, a, jobj(a, { "do", jstrz(a, "socket") }), &fd, e)))
        return -1;
    return fd >= 0 ? fd : err_set(e, ERR_IO, "the hub sent no socket");
}

int net_new(struct net **out, const struct net_opts *o, struct err *e)
{
    struct net *n = mem_new(sizeof(*n));

    n->o = *o;
    n->node = (struct node_net){ .attach = attach, .detach = detach, .ctx = n };
    if (net_call_open(&n->call, o->data, o->exe, o->ephemeral, e) < 0) {
        free(n);
        return err_wrap(e, "the pods' network");
    }
    *out = n;
    return 0;
}

void net_free(struct net *n)
{
    if (!n)
        return;
    net_call_close(&n->call);
    free(n);
}

const struct node_net *net_node(struct net *n)
{
    return &n->node;
}

const char *net_gateway(const struct net *n)
{
    return n->call.gateway;
}
