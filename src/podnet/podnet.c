/* The node's side of the hub. When the hub dies, pods are cut off; another is started at once, and
 * gives each its address back: what they had open goes on.
 *
 * Asking takes as long as the hub needs, so a thread does it, one question after another (L1). The
 * thread owns the connection, what is attached and the rules of services; the loop gets answers by
 * loop_post. */

#include "podnet/podnet.h"

#include "base/map.h"
#include "base/mem.h"
#include "kube/meta.h"
#include "loop/log.h"
#include "loop/watchdog.h"
#include "podnet/hub_client.h"
#include "podnet/resolv.h"
#include "podnet/services.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { AGAIN_MS = 2000, BACKLOG = 1024, LAST_MS = 10 * 1000 };

struct attached {
    char uid[64];
    char ip[NET_IP_TEXT];
};

struct net_ask {
    struct net_ask *next;
    /* On the hub's thread; sets ok, fd and e where somebody waits. */
    void (*run)(struct net *n, struct net_ask *q);
    struct net_then then; /* done NULL: nobody waits */
    atomic_bool cancelled;
    struct arena *a; /* of what is asked and answered */
    str uid;
    jv request;
    jv ok;
    int fd;
    struct err e;
};

struct net {
    struct net_opts o;
    struct pod_network node;
    char gateway[NET_IP_TEXT];
    struct buf resolv;
    void (*on_again)(void *arg); /* of the node; may be NULL */
    void *again_arg;
    struct buf told_rules; /* of services, as the thread was told last */
    bool freed;

    pthread_t thread;
    bool has_thread;
    int wake;             /* eventfd: something is asked, or all is over */
    pthread_mutex_t lock; /* guards first, last and ending */
    struct net_ask *first, *last;
    bool ending;
    atomic_int_fast64_t give_up_ms; /* see net_call_to */

    /* the thread's, once it runs */
    struct net_call call;
    bool is_up;
    int64_t again_at_ms; /* when a hub is tried next; 0: one is there */
    struct map pods;     /* struct attached, by uid */
    struct buf rules;    /* of services, as they are set */
};

/* ---- the hub, and another; on the thread */

static void mend(struct net *n, const struct attached *at)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };
    jv ask = jobj(a, { "do", jstrz(a, "mend") }, { "uid", jstr(a, str_of(at->uid)) },
                  { "ip", jstr(a, str_of(at->ip)) });

    if (!jv_exists(net_call_ask(&n->call, a, ask, NULL, &e)))
        log_warn("pod lost its network", KVZ("uid", at->uid), KVZ("ip", at->ip), KVZ("why", e.msg));
}

static void set_services(struct net *n)
{
    AUTO(arena) struct arena *a = arena_new();

    net_call_tell(&n->call, jobj(a, { "do", jstrz(a, "services") },
                                 { "rules", jstr(a, buf_str(&n->rules)) }));
}

static struct net_call_to to(const struct net *n)
{
    return (struct net_call_to){ .data = n->o.data,
                                 .exe = n->o.exe,
                                 .with_node = n->o.ephemeral,
                                 .give_up_ms = &n->give_up_ms };
}

/* On the loop. */
static void tell_again(void *arg)
{
    struct net *n = arg;

    if (n->freed)
        return;
    if (n->o.again)
        n->o.again(n->o.ctx);
    if (n->on_again)
        n->on_again(n->again_arg);
}

static int revive(struct net *n, struct err *e)
{
    struct net_call_to hub = to(n);

    n->is_up = false;
    net_call_drop(&n->call);
    if (net_call_open(&n->call, &hub, e) < 0) {
        n->again_at_ms = boot_now_ms() + AGAIN_MS;
        return -1;
    }
    n->is_up = true;
    n->again_at_ms = 0;
    MAP_EACH (s, &n->pods)
        mend(n, s->value);
    if (n->rules.n && n->call.has_services)
        set_services(n);
    log_warn("the network helper died and was restarted", KVI("pods", (int64_t)n->pods.n));
    loop_post(n->o.loop, tell_again, n);
    return 0;
}

static void revive_or_log(struct net *n)
{
    struct err e = { 0 };

    if (revive(n, &e) < 0)
        log_warn("cannot start the network helper", KVZ("why", e.msg));
}

/* As net_call_ask, of the next hub when this one dies over it. */
static void ask_hub(struct net *n, struct net_ask *q)
{
    struct err first = { 0 };

    q->ok = n->is_up ? net_call_ask(&n->call, q->a, q->request, &q->fd, &first) : JV_ABSENT;
    if (jv_exists(q->ok))
        return;
    if (n->is_up && !net_call_is_lost(&n->call))
        q->e = first;
    else if (revive(n, &q->e) == 0)
        q->ok = net_call_ask(&n->call, q->a, q->request, &q->fd, &q->e);
}

static void tell_hub(struct net *n, struct net_ask *q)
{
    net_call_tell(&n->call, q->request);
}

/* ---- what is asked, on the thread */

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

static void do_attach(struct net *n, struct net_ask *q)
{
    ask_hub(n, q);
    if (jv_exists(q->ok))
        remember(n, q->uid, jv_str(jv_at(q->ok, "ip"), S("")));
}

static void do_detach(struct net *n, struct net_ask *q)
{
    tell_hub(n, q);
    forget(n, q->uid);
}

static void do_adopt(struct net *n, struct net_ask *q)
{
    remember(n, q->uid, jv_str(jv_at(q->request, "ip"), S("")));
    mend(n, map_get(&n->pods, q->uid));
}

static void do_services(struct net *n, struct net_ask *q)
{
    buf_clear(&n->rules);
    buf_add(&n->rules, jv_str(jv_at(q->request, "rules"), S("")));
    tell_hub(n, q);
}

static void no_socket(struct net_ask *q)
{
    if (q->fd >= 0)
        close(q->fd);
    q->fd = -1;
    q->ok = JV_ABSENT;
}

static void do_socket(struct net *n, struct net_ask *q)
{
    ask_hub(n, q);
    if (jv_exists(q->ok) && q->fd < 0) {
        err_set(&q->e, ERR_IO, "the hub sent no socket");
        no_socket(q);
    }
}

static int bind_to(int fd, const char *ip, int port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    uint32_t addr = 0;

    net_ip_read(str_of(ip), &addr);
    at.sin_addr.s_addr = htonl(addr);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
    return bind(fd, (const struct sockaddr *)&at, sizeof(at));
}

static void do_dns_socket(struct net *n, struct net_ask *q)
{
    do_socket(n, q);
    if (q->fd >= 0 && bind_to(q->fd, n->call.gateway, DNS_PORT) < 0) {
        err_sys(&q->e, "answer questions for names on %s", n->call.gateway);
        no_socket(q);
    }
}

static void do_listen(struct net *n, struct net_ask *q)
{
    do_socket(n, q);
    if (q->fd >= 0 && (bind_to(q->fd, NET_API, NET_API_PORT) < 0 || listen(q->fd, BACKLOG) < 0)) {
        err_sys(&q->e, "listen for pods on " NET_API);
        no_socket(q);
    }
}

/* ---- the thread */

static void ask_free(struct net_ask *q)
{
    arena_free(q->a);
    free(q);
}

/* On the loop. */
static void on_answer(void *arg)
{
    struct net_ask *q = arg;

    if (!atomic_load(&q->cancelled))
        q->then.done(q->then.arg, q->ok, q->fd, &q->e);
    else if (q->fd >= 0)
        close(q->fd);
    ask_free(q);
}

static struct net_ask *take(struct net *n, bool *ending)
{
    pthread_mutex_lock(&n->lock);
    struct net_ask *q = n->first;
    if (q)
        n->first = q->next;
    *ending = n->ending;
    pthread_mutex_unlock(&n->lock);
    return q;
}

static void wait_for_work(struct net *n)
{
    struct pollfd at[] = {
        { .fd = n->wake, .events = POLLIN },
        { .fd = n->is_up ? n->call.wire.fd : -1,
          .events = (short)(POLLIN | (n->is_up && msgsock_waits(&n->call.wire) ? POLLOUT : 0)) }
    };
    int64_t left = n->again_at_ms - boot_now_ms();
    uint64_t count;

    if (poll(at, 2, !n->again_at_ms ? -1 : left > 0 ? (int)left : 0) < 0)
        return;
    if ((at[0].revents & POLLIN) && read(n->wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
        abort();
    bool lost = (at[1].revents & POLLOUT) && msgsock_flush(&n->call.wire) < 0;
    if (lost || ((at[1].revents & ~POLLOUT) && net_call_is_lost(&n->call)) ||
        (n->again_at_ms && boot_now_ms() >= n->again_at_ms))
        revive_or_log(n);
}

static void *work(void *arg)
{
    struct net *n = arg;
    bool ending = false;

    for (;;) {
        struct net_ask *q = take(n, &ending);
        if (q) {
            if (!atomic_load(&q->cancelled))
                q->run(n, q);
            if (q->then.done)
                loop_post(n->o.loop, on_answer, q);
            else
                ask_free(q);
        } else if (ending) {
            break;
        } else {
            wait_for_work(n);
        }
    }
    if (n->call.wire.fd >= 0)
        net_call_close(&n->call);
    return NULL;
}

static void wake(struct net *n)
{
    if (write(n->wake, &(uint64_t){ 1 }, sizeof(uint64_t)) < 0 && errno != EAGAIN)
        abort();
}

/* ---- what the node asks for; on the loop */

static struct net_ask *ask_new(void (*run)(struct net *n, struct net_ask *q), str uid)
{
    struct net_ask *q = mem_new(sizeof(*q));

    q->run = run;
    q->a = arena_new();
    q->uid = arena_str(q->a, uid);
    q->fd = -1;
    return q;
}

static struct net_ask *put(struct net *n, struct net_ask *q)
{
    pthread_mutex_lock(&n->lock);
    if (n->first)
        n->last->next = q;
    else
        n->first = q;
    n->last = q;
    pthread_mutex_unlock(&n->lock);
    wake(n);
    return q;
}

void net_cancel(struct net_ask *q)
{
    if (q)
        atomic_store(&q->cancelled, true);
}

static struct net_ask *attach(void *ctx, jv pod, struct net_then then)
{
    struct net_ask *q = ask_new(do_attach, meta_uid(pod));

    q->request = jobj(q->a, { "do", jstrz(q->a, "attach") }, { "uid", jstr(q->a, q->uid) });
    q->then = then;
    return put(ctx, q);
}

static void detach(void *ctx, str uid)
{
    struct net_ask *q = ask_new(do_detach, uid);

    q->request = jobj(q->a, { "do", jstrz(q->a, "detach") }, { "uid", jstr(q->a, q->uid) });
    put(ctx, q);
}

static void adopt(void *ctx, str uid, jv net)
{
    str ip = jv_str(jv_at(net, "ip"), S(""));

    if (!ip.n || jv_bool(jv_at(net, "host"), false))
        return;
    struct net_ask *q = ask_new(do_adopt, uid);
    q->request = jobj(q->a, { "ip", jstr(q->a, arena_str(q->a, ip)) });
    put(ctx, q);
}

static void services(void *ctx, jv list)
{
    struct net *n = ctx;
    struct buf now = { 0 };

    net_services_rules(&now, list);
    if (!now.n && n->told_rules.n)
        buf_add(&now, S("table ip services\nflush table ip services\n"));
    if (!str_eq(buf_str(&now), buf_str(&n->told_rules))) {
        struct net_ask *q = ask_new(do_services, S(""));
        q->request = jobj(q->a, { "do", jstrz(q->a, "services") },
                          { "rules", jstr(q->a, arena_str(q->a, buf_str(&now))) });
        put(n, q);
        buf_done(&n->told_rules);
        n->told_rules = now;
        return;
    }
    buf_done(&now);
}

static struct net_ask *ask_socket(struct net *n, void (*run)(struct net *n, struct net_ask *q),
                                  bool udp, struct net_then then)
{
    struct net_ask *q = ask_new(run, S(""));

    q->request = jobj(q->a, { "do", jstrz(q->a, "socket") }, { "udp", udp ? JV_TRUE : JV_ABSENT });
    q->then = then;
    return put(n, q);
}

struct net_ask *net_socket(struct net *n, struct net_then then)
{
    return ask_socket(n, do_socket, false, then);
}

struct net_ask *net_listen(struct net *n, struct net_then then)
{
    return ask_socket(n, do_listen, false, then);
}

static struct net_ask *dns_socket(void *ctx, bool udp, struct net_then then)
{
    return ask_socket(ctx, do_dns_socket, udp, then);
}

static struct net_ask *node_socket(void *ctx, struct net_then then)
{
    return net_socket(ctx, then);
}

static struct net_ask *node_socket_in(void *ctx, str uid, bool six, struct net_then then)
{
    struct net_ask *q = ask_new(do_socket, uid);

    q->request = jobj(q->a, { "do", jstrz(q->a, "socket") }, { "uid", jstr(q->a, q->uid) },
                      { "six", jbool(six) });
    q->then = then;
    return put(ctx, q);
}

static void set_again(void *ctx, void (*fn)(void *arg), void *arg)
{
    struct net *n = ctx;

    n->on_again = fn;
    n->again_arg = arg;
}

/* ---- */

int net_new(struct net **out, const struct net_opts *o, struct err *e)
{
    struct net *n = mem_new(sizeof(*n));

    n->o = *o;
    n->wake = -1;
    struct net_call_to hub = to(n);
    if (net_call_begin(&n->call, &hub, e) < 0) {
        free(n);
        return err_wrap(e, "the pods' network");
    }
    *out = n;
    return 0;
}

static int start_thread(struct net *n, struct err *e)
{
    sigset_t all, old;

    n->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (n->wake < 0)
        return err_sys(e, "eventfd");
    pthread_mutex_init(&n->lock, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old); /* signals are for the loop thread */
    n->has_thread = pthread_create(&n->thread, NULL, work, n) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return n->has_thread ? 0 : err_set(e, ERR_UNAVAILABLE, "no thread for the hub");
}

int net_wait(struct net *n, struct err *e)
{
    struct net_call_to hub = to(n);

    turn_excuse();
    if (net_call_open(&n->call, &hub, e) < 0 || start_thread(n, e) < 0)
        return err_wrap(e, "the pods' network");
    n->is_up = true;
    memcpy(n->gateway, n->call.gateway, sizeof(n->gateway));
    n->node = (struct pod_network){ .attach = attach,
                                    .detach = detach,
                                    .cancel = net_cancel,
                                    .adopt = adopt,
                                    .services = n->call.has_services ? services : NULL,
                                    .socket = node_socket,
                                    .socket_in = node_socket_in,
                                    .dns = n->gateway,
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

static void destroy(void *arg)
{
    struct net *n = arg;

    MAP_EACH (s, &n->pods)
        free(s->value);
    map_done(&n->pods);
    buf_done(&n->resolv);
    buf_done(&n->rules);
    buf_done(&n->told_rules);
    if (n->wake >= 0)
        close(n->wake);
    free(n);
}

void net_free(struct net *n)
{
    if (!n)
        return;
    turn_excuse();
    n->freed = true;
    if (!n->has_thread) {
        if (n->call.wire.fd >= 0)
            net_call_close(&n->call);
        destroy(n);
        return;
    }
    pthread_mutex_lock(&n->lock);
    n->ending = true;
    pthread_mutex_unlock(&n->lock);
    atomic_store(&n->give_up_ms, boot_now_ms() + LAST_MS);
    wake(n);
    pthread_join(n->thread, NULL);
    pthread_mutex_destroy(&n->lock);
    loop_post(n->o.loop, destroy, n); /* after what the thread posted */
}

const struct pod_network *net_pod_network(struct net *n)
{
    return &n->node;
}

const char *net_gateway(const struct net *n)
{
    return n->gateway;
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
