/* The node's side of the hub. When the hub dies, pods are cut off; another is started at once, and
 * gives each its address back: what they had open goes on. */

#include "podnet/podnet.h"

#include "base/map.h"
#include "base/mem.h"
#include "kube/meta.h"
#include "loop/log.h"
#include "loop/watchdog.h"
#include "podnet/hub_client.h"
#include "podnet/resolv.h"
#include "podnet/services.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

enum { AGAIN_MS = 2000, BACKLOG = 1024 };

struct attached {
    char uid[64];
    char ip[NET_IP_TEXT];
};

struct net {
    struct net_opts o;
    struct net_call call;
    struct pod_network node;
    struct map pods; /* struct attached, by uid */
    struct buf resolv;
    struct buf rules; /* of services, as they are set */
    uv_poll_t *poll;  /* NULL: not connected */
    struct loop_timer *again;
    void (*on_again)(void *arg); /* of the node; may be NULL */
    void *again_arg;
};

/* ---- the hub, and another */

static void on_poll(uv_poll_t *h, int status, int events);

static void on_closed(uv_handle_t *h)
{
    free(h);
}

static void unwatch(struct net *n)
{
    if (n->poll)
        uv_close((uv_handle_t *)TAKE(n->poll), on_closed);
}

static void watch(struct net *n)
{
    n->poll = mem_new(sizeof(*n->poll));
    n->poll->data = n;
    if (uv_poll_init(loop_uv(n->o.loop), n->poll, n->call.wire.fd))
        abort();
    uv_poll_start(n->poll, UV_READABLE | UV_DISCONNECT, on_poll);
}

static void mend(struct net *n, const struct attached *at)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };
    jv ask = jobj(a, { "do", jstrz(a, "mend") }, { "uid", jstr(a, str_of(at->uid)) },
                  { "ip", jstr(a, str_of(at->ip)) });

    if (!jv_exists(net_call_ask(&n->call, a, ask, NULL, &e)))
        log_warn("pod has no network any more", KVZ("uid", at->uid), KVZ("ip", at->ip),
                 KVZ("why", e.msg));
}

static void set_services(struct net *n)
{
    AUTO(arena) struct arena *a = arena_new();

    net_call_tell(&n->call, jobj(a, { "do", jstrz(a, "services") },
                                 { "rules", jstr(a, buf_str(&n->rules)) }));
}

static int revive(struct net *n, struct err *e);

static void on_again(void *arg)
{
    struct net *n = arg;
    struct err e = { 0 };

    loop_timer_stop(TAKE(n->again));
    if (revive(n, &e) < 0)
        log_warn("the hub cannot be started", KVZ("why", e.msg));
}

static struct net_call_to to(const struct net *n)
{
    return (struct net_call_to){ .data = n->o.data, .exe = n->o.exe, .with_node = n->o.ephemeral };
}

static int revive(struct net *n, struct err *e)
{
    struct net_call_to hub = to(n);

    loop_timer_stop(TAKE(n->again));
    unwatch(n);
    net_call_drop(&n->call);
    if (net_call_open(&n->call, &hub, e) < 0) {
        n->again = loop_timer_start(n->o.loop, AGAIN_MS, 0, on_again, n);
        return -1;
    }
    watch(n);
    MAP_EACH (s, &n->pods)
        mend(n, s->value);
    if (n->rules.n && n->call.has_services)
        set_services(n);
    log_warn("the hub had died and was started again", KVI("pods", (int64_t)n->pods.n));
    if (n->o.again)
        n->o.again(n->o.ctx);
    if (n->on_again)
        n->on_again(n->again_arg);
    return 0;
}

static void on_poll(uv_poll_t *h, int status, int events)
{
    LOOP_TURN();
    struct net *n = h->data;

    (void)status;
    (void)events;
    if (net_call_is_lost(&n->call))
        on_again(n);
}

/* As net_call_ask, of the next hub when this one dies over it. */
static jv ask_hub(struct net *n, struct arena *a, jv request, int *fd, struct err *e)
{
    struct err first = { 0 };
    jv got = n->poll ? net_call_ask(&n->call, a, request, fd, &first) : JV_ABSENT;

    if (jv_exists(got))
        return got;
    if (n->poll && !net_call_is_lost(&n->call)) {
        if (e)
            *e = first;
        return got;
    }
    return revive(n, e) < 0 ? JV_ABSENT : net_call_ask(&n->call, a, request, fd, e);
}

/* ---- what the node asks for */

static void forget(struct net *n, str uid)
{
    free(map_remove(&n->pods, uid));
}

static void remember(struct net *n, str uid, str ip)
{
    struct attached *at = mem_new(sizeof(*at));

    forget(n, uid);
    snprintf(at->uid, sizeof(at->uid), "%" PRI_STR, STR_ARG(uid));
    snprintf(at->ip, sizeof(at->ip), "%" PRI_STR, STR_ARG(ip));
    map_put(&n->pods, str_of(at->uid), at);
}

static int attach(void *ctx, struct arena *a, jv pod, jv *net, jv *mounts, struct err *e)
{
    struct net *n = ctx;
    jv ask = jobj(a, { "do", jstrz(a, "attach") }, { "uid", jstr(a, meta_uid(pod)) });
    jv place = ask_hub(n, a, ask, NULL, e);

    (void)mounts;
    if (!jv_exists(place))
        return err_wrap(e, "network of pod %" PRI_STR, STR_ARG(meta_name(pod)));
    remember(n, meta_uid(pod), jv_str(jv_at(place, "ip"), S("")));
    *net = place;
    return 0;
}

static void detach(void *ctx, str uid)
{
    AUTO(arena) struct arena *a = arena_new();
    struct net *n = ctx;

    net_call_tell(&n->call, jobj(a, { "do", jstrz(a, "detach") }, { "uid", jstr(a, uid) }));
    forget(n, uid);
}

static void adopt(void *ctx, str uid, jv net)
{
    struct net *n = ctx;
    str ip = jv_str(jv_at(net, "ip"), S(""));

    if (!ip.n || jv_bool(jv_at(net, "host"), false))
        return;
    remember(n, uid, ip);
    mend(n, map_get(&n->pods, uid));
}

static void services(void *ctx, jv list)
{
    struct net *n = ctx;
    struct buf now = { 0 };

    net_services_rules(&now, list);
    if (!now.n && n->rules.n)
        buf_add(&now, S("table ip services\nflush table ip services\n"));
    if (!str_eq(buf_str(&now), buf_str(&n->rules))) {
        buf_done(&n->rules);
        n->rules = now;
        set_services(n);
        return;
    }
    buf_done(&now);
}

int net_socket(struct net *n, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    int fd = -1;

    if (!jv_exists(ask_hub(n, a, jobj(a, { "do", jstrz(a, "socket") }), &fd, e)))
        return -1;
    return fd >= 0 ? fd : err_set(e, ERR_IO, "the hub sent no socket");
}

static int bind_to(int fd, const char *ip, int port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    uint32_t to = 0;

    net_ip_read(str_of(ip), &to);
    at.sin_addr.s_addr = htonl(to);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
    return bind(fd, (const struct sockaddr *)&at, sizeof(at));
}

static int dns_socket(void *ctx, bool udp, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    struct net *n = ctx;
    jv ask = jobj(a, { "do", jstrz(a, "socket") }, { "udp", jbool(udp) });
    int fd = -1;

    if (!jv_exists(ask_hub(n, a, ask, &fd, e)))
        return -1;
    if (fd >= 0 && bind_to(fd, n->call.gateway, DNS_PORT) == 0)
        return fd;
    err_sys(e, "answer questions for names on %s", n->call.gateway);
    if (fd >= 0)
        close(fd);
    return -1;
}

static void set_again(void *ctx, void (*fn)(void *arg), void *arg)
{
    struct net *n = ctx;

    n->on_again = fn;
    n->again_arg = arg;
}

int net_listen(struct net *n, struct err *e)
{
    int fd = net_socket(n, e);

    if (fd < 0)
        return -1;
    if (bind_to(fd, NET_API, NET_API_PORT) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    err_sys(e, "listen for pods on " NET_API);
    close(fd);
    return -1;
}

static int node_socket(void *ctx, struct err *e)
{
    return net_socket(ctx, e);
}

static int node_socket_in(void *ctx, str uid, bool six, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    jv ask = jobj(a, { "do", jstrz(a, "socket") }, { "uid", jstr(a, uid) }, { "six", jbool(six) });
    int fd = -1;

    if (!jv_exists(ask_hub(ctx, a, ask, &fd, e)))
        return -1;
    return fd >= 0 ? fd : err_set(e, ERR_IO, "the hub sent no socket");
}

/* ---- */

int net_new(struct net **out, const struct net_opts *o, struct err *e)
{
    struct net *n = mem_new(sizeof(*n));

    n->o = *o;
    struct net_call_to hub = to(n);
    if (net_call_begin(&n->call, &hub, e) < 0) {
        free(n);
        return err_wrap(e, "the pods' network");
    }
    *out = n;
    return 0;
}

int net_wait(struct net *n, struct err *e)
{
    struct net_call_to hub = to(n);

    if (net_call_open(&n->call, &hub, e) < 0)
        return err_wrap(e, "the pods' network");
    watch(n);
    n->node = (struct pod_network){ .attach = attach,
                                    .detach = detach,
                                    .adopt = adopt,
                                    .services = n->call.has_services ? services : NULL,
                                    .socket = node_socket,
                                    .socket_in = node_socket_in,
                                    .dns = n->call.gateway,
                                    .dns_socket = dns_socket,
                                    .on_again = set_again,
                                    .outside = n->call.has_egress,
                                    .ctx = n };
    /* Without one that can be reached there is none: asking is refused at once, in the pod itself.
     */
    if (!n->call.has_egress || !net_resolv_text(&n->resolv))
        buf_clear(&n->resolv);
    buf_addc(&n->resolv, 0);
    n->node.resolv = n->resolv.p;
    return 0;
}

void net_free(struct net *n)
{
    if (!n)
        return;
    loop_timer_stop(n->again);
    unwatch(n);
    if (n->call.wire.fd >= 0)
        net_call_close(&n->call);
    MAP_EACH (s, &n->pods)
        free(s->value);
    map_done(&n->pods);
    buf_done(&n->resolv);
    buf_done(&n->rules);
    free(n);
}

const struct pod_network *net_pod_network(struct net *n)
{
    return &n->node;
}

const char *net_gateway(const struct net *n)
{
    return n->call.gateway;
}

bool net_has_egress(const struct net *n)
{
    return n->call.has_egress;
}

bool net_has_services(const struct net *n)
{
    return n->call.has_services;
}

const char *net_words(const struct net *n)
{
    return n->call.words;
}
