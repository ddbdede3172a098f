/* The server that pods ask for names, over UDP and TCP: names of the cluster from what hosts files
 * are made of, others through dns_forward.c. On the loop thread; whoever asks too much is not
 * answered. */

#include "base/mem.h"
#include "kube/meta.h"
#include "loop/log.h"
#include "loop/watchdog.h"
#include "names/dns_forward.h"
#include "names/internal.h"
#include "podnet/services.h"
#include "podnet/subnet.h"

#include <unistd.h>
#include <uv.h>

enum { CONNS_MOST = 64, BACKLOG = 64, IDLE_MS = 10 * 1000, PACKET_MOST = 4096 };

struct conn { /* TCP; one question at a time, each behind its length */
    struct conn *next;
    struct dns *d;
    uv_tcp_t tcp;
    uv_write_t write;
    struct loop_timer *idle;
    uint64_t serial;
    bool closing, busy;
    struct buf in, out;
    char room[PACKET_MOST];
};

struct dns {
    struct names *k;
    uv_udp_t *udp; /* NULL: none */
    uv_tcp_t *tcp;
    struct net_ask *asked_udp, *asked_tcp; /* the sockets for them */
    struct conn *conns;
    size_t n_conns;
    uint64_t serial;
    unsigned turn;
    struct dns_further *further;
    char room[PACKET_MOST];
};

/* ---- answers */

static const struct dns_zone *zone_of(struct dns *d, str ns)
{
    AUTO(arena) struct arena *a = arena_new();
    struct names_space *s = map_get(&d->k->spaces, ns);
    const struct names_source *from = &d->k->o.from;

    /* One whose services all stand for names elsewhere has no lines in any file. */
    if (!s && jv_len(from->list(from->ctx, a, NAMES_SERVICES, ns)))
        s = names_space(d->k, ns);
    return s ? names_space_zone(s) : NULL;
}

/* 10-42-0-5.ns.pod.cluster.local: whoever asks knows the address. */
static bool pod_address(str name, uint32_t *ip)
{
    char text[NET_IP_TEXT] = "";
    str first = str_cut(&name, '.');

    if (!str_ends(name, S(".pod.cluster.local")) || first.n >= sizeof(text))
        return false;
    for (size_t i = 0; i < first.n; i++)
        text[i] = (char)(first.p[i] == '-' ? '.' : first.p[i]);
    return net_ip_read(str_of(text), ip);
}

static bool answer_cluster(struct dns *d, const struct dns_question *q, struct dns_answer *out)
{
    str name = str_of(q->name), ns = dns_namespace(name);
    const struct dns_zone *z = ns.n ? zone_of(d, ns) : NULL;
    uint32_t ip;

    if (z && dns_zone_answer(z, q, d->turn++, out))
        return true;
    if (!pod_address(name, &ip))
        return false;
    if (q->type == DNS_A)
        dns_answer_a(out, NULL, ip);
    return true;
}

static bool answer_reverse(struct dns *d, uint32_t ip, struct dns_answer *out)
{
    const char *name = NULL;

    for (struct map_slot *s = NULL; !name && (s = map_next(&d->k->spaces, s));)
        name = dns_zone_reverse(names_space_zone(s->value), ip);
    if (name)
        dns_answer_name(out, NULL, DNS_PTR, name);
    return name;
}

/* What goes back; false: somebody else is to be asked. Empty: nothing at all. */
static bool answer(struct dns *d, str packet, bool tcp, struct dns_question *q, struct buf *to)
{
    int code = dns_question_read(packet, q);
    struct dns_answer out;
    bool ours = true;
    uint32_t ip;

    if (code < 0)
        return true;
    dns_answer_init(&out, q, tcp ? DNS_TCP_MOST : q->udp_bytes);
    if (code == DNS_OK && dns_is_cluster(str_of(q->name))) {
        code = answer_cluster(d, q, &out) ? DNS_OK : DNS_UNKNOWN;
    } else if (code == DNS_OK && q->type == DNS_PTR && dns_reverse_read(str_of(q->name), &ip) &&
               answer_reverse(d, ip, &out)) {
        code = DNS_OK;
    } else if (code == DNS_OK) {
        ours = false;
        if (dns_further_can(d->further)) {
            buf_done(&out.b);
            return false;
        }
        code = DNS_FAILED; /* at once: there is no way out */
    }
    if (ours && (code == DNS_UNKNOWN || (code == DNS_OK && !out.counts[0] && !out.cut)))
        dns_answer_soa(&out, "cluster.local");
    buf_add(to, dns_answer_done(&out, q, code, ours));
    buf_done(&out.b);
    return true;
}

static void fail(const struct dns_question *q, struct buf *to)
{
    struct dns_answer out;

    dns_answer_init(&out, q, DNS_UDP_LEAST);
    buf_add(to, dns_answer_done(&out, q, DNS_FAILED, false));
    buf_done(&out.b);
}

/* ---- UDP */

struct asked { /* further, for a client that waits */
    struct dns *d;
    struct dns_question q;
    struct sockaddr_storage from; /* UDP */
    uint64_t serial;              /* TCP; 0: UDP */
};

static void udp_send(struct dns *d, const struct sockaddr *to, str packet)
{
    uv_buf_t b = uv_buf_init((char *)(uintptr_t)packet.p, (unsigned)packet.n);

    if (packet.n && d->udp)
        uv_udp_try_send(d->udp, &b, 1, to); /* lost: it is asked again */
}

static void conn_answer(struct conn *c, str packet);

static struct conn *find_conn(const struct dns *d, uint64_t serial)
{
    for (struct conn *c = d->conns; c; c = c->next)
        if (c->serial == serial)
            return c;
    return NULL;
}

/* packet: empty: nobody answered. */
static void on_further(void *ctx, str packet)
{
    AUTO(buf) struct buf b = { 0 };
    struct asked *x = ctx;
    struct conn *c = x->serial ? find_conn(x->d, x->serial) : NULL;

    if (packet.n)
        buf_add(&b, packet);
    else
        fail(&x->q, &b);
    dns_set_id(b.p, x->q.id);
    if (c)
        conn_answer(c, buf_str(&b));
    else if (!x->serial)
        udp_send(x->d, (const struct sockaddr *)&x->from, buf_str(&b));
    free(x);
}

/* false: too many wait already. */
static bool ask_further(struct dns *d, str packet, const struct dns_question *q,
                        const struct sockaddr *from, uint64_t serial)
{
    struct asked *x = mem_new(sizeof(*x));

    *x = (struct asked){ .d = d, .q = *q, .serial = serial };
    if (from)
        memcpy(&x->from, from, sizeof(struct sockaddr_in));
    if (dns_further_ask(d->further, packet, q, on_further, x))
        return true;
    free(x);
    return false;
}

static void on_alloc(uv_handle_t *h, size_t want, uv_buf_t *b)
{
    struct dns *d = h->data;

    (void)want;
    *b = uv_buf_init(d->room, sizeof(d->room));
}

static void on_packet(uv_udp_t *h, ssize_t n, const uv_buf_t *b, const struct sockaddr *from,
                      unsigned flags)
{
    LOOP_TURN();
    AUTO(buf) struct buf out = { 0 };
    struct dns *d = h->data;
    struct dns_question q;

    if (n <= 0 || !from || from->sa_family != AF_INET || (flags & UV_UDP_PARTIAL))
        return;
    str packet = { b->base, (size_t)n };
    if (!answer(d, packet, false, &q, &out)) {
        if (ask_further(d, packet, &q, from, 0))
            return;
        fail(&q, &out);
    }
    udp_send(d, from, buf_str(&out));
}

/* ---- TCP */

static void on_conn_closed(uv_handle_t *h)
{
    struct conn *c = h->data;

    buf_done(&c->in);
    buf_done(&c->out);
    free(c);
}

static void conn_close(struct conn *c)
{
    if (c->closing)
        return;
    c->closing = true;
    for (struct conn **at = &c->d->conns; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    c->d->n_conns--;
    loop_timer_stop(TAKE(c->idle));
    uv_close((uv_handle_t *)&c->tcp, on_conn_closed);
}

static void on_idle(void *arg)
{
    conn_close(arg);
}

static void conn_next(struct conn *c);

static void on_written(uv_write_t *w, int status)
{
    LOOP_TURN();
    struct conn *c = w->handle->data;

    if (c->closing)
        return;
    c->busy = false;
    buf_clear(&c->out);
    if (status < 0)
        conn_close(c);
    else
        conn_next(c);
}

static void conn_answer(struct conn *c, str packet)
{
    if (!packet.n || packet.n > DNS_TCP_MOST) {
        conn_close(c);
        return;
    }
    buf_addc(&c->out, (char)(packet.n >> 8));
    buf_addc(&c->out, (char)packet.n);
    buf_add(&c->out, packet);
    uv_buf_t b = uv_buf_init(c->out.p, (unsigned)c->out.n);
    if (uv_write(&c->write, (uv_stream_t *)&c->tcp, &b, 1, on_written) < 0)
        conn_close(c);
}

static void conn_next(struct conn *c)
{
    AUTO(buf) struct buf out = { 0 };
    AUTO(buf) struct buf packet = { 0 };
    struct dns_question q;
    size_t n = c->in.n >= 2 ? (size_t)(uint8_t)c->in.p[0] << 8 | (uint8_t)c->in.p[1] : 0;

    if (c->busy || c->in.n < 2 || c->in.n < n + 2)
        return;
    if (n > PACKET_MOST) {
        conn_close(c);
        return;
    }
    buf_add(&packet, (str){ c->in.p + 2, n });
    memmove(c->in.p, c->in.p + 2 + n, c->in.n - 2 - n);
    c->in.n -= 2 + n;
    c->busy = true;
    if (!answer(c->d, buf_str(&packet), true, &q, &out)) {
        if (ask_further(c->d, buf_str(&packet), &q, NULL, c->serial))
            return;
        fail(&q, &out);
    }
    conn_answer(c, buf_str(&out));
}

static void on_conn_alloc(uv_handle_t *h, size_t want, uv_buf_t *b)
{
    struct conn *c = h->data;

    (void)want;
    *b = uv_buf_init(c->room, sizeof(c->room));
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
    LOOP_TURN();
    struct conn *c = s->data;

    if (n < 0 || c->in.n + (size_t)n > (size_t)2 * PACKET_MOST) {
        conn_close(c);
        return;
    }
    buf_add(&c->in, (str){ b->base, (size_t)n });
    conn_next(c);
}

static void on_connection(uv_stream_t *s, int status)
{
    LOOP_TURN();
    struct dns *d = s->data;

    if (status < 0)
        return;
    struct conn *c = mem_new(sizeof(*c));
    c->d = d;
    uv_tcp_init(loop_uv(d->k->o.loop), &c->tcp);
    c->tcp.data = c;
    c->serial = ++d->serial;
    c->next = d->conns;
    d->conns = c;
    d->n_conns++;
    if (uv_accept(s, (uv_stream_t *)&c->tcp) < 0 || d->n_conns > CONNS_MOST ||
        uv_read_start((uv_stream_t *)&c->tcp, on_conn_alloc, on_read) < 0) {
        conn_close(c);
        return;
    }
    c->idle = loop_timer_start(d->k->o.loop, IDLE_MS, 0, on_idle, c); /* in all */
}

/* ---- beginning and end */

static void on_closed(uv_handle_t *h)
{
    free(h);
}

static void hang_up(struct dns *d)
{
    const struct pod_network *net = d->k->o.net;

    if (d->asked_udp)
        net->cancel(TAKE(d->asked_udp));
    if (d->asked_tcp)
        net->cancel(TAKE(d->asked_tcp));
    while (d->conns)
        conn_close(d->conns);
    if (d->udp)
        uv_close((uv_handle_t *)TAKE(d->udp), on_closed);
    if (d->tcp)
        uv_close((uv_handle_t *)TAKE(d->tcp), on_closed);
}

static void not_opened(struct dns *d, const char *why)
{
    log_warn("no DNS for pods", KVZ("why", why));
    hang_up(d);
}

static void on_udp(void *arg, jv ok, int fd, const struct err *e)
{
    struct dns *d = arg;

    d->asked_udp = NULL;
    if (!jv_exists(ok)) {
        not_opened(d, e->msg);
        return;
    }
    d->udp = mem_new(sizeof(*d->udp));
    uv_udp_init(loop_uv(d->k->o.loop), d->udp);
    d->udp->data = d;
    if (uv_udp_open(d->udp, fd) < 0) {
        close(fd);
        not_opened(d, "the socket cannot be used");
    } else if (uv_udp_recv_start(d->udp, on_alloc, on_packet) < 0) {
        not_opened(d, "the socket cannot be read");
    }
}

static void on_tcp(void *arg, jv ok, int fd, const struct err *e)
{
    struct dns *d = arg;

    d->asked_tcp = NULL;
    if (!jv_exists(ok)) {
        not_opened(d, e->msg);
        return;
    }
    d->tcp = mem_new(sizeof(*d->tcp));
    uv_tcp_init(loop_uv(d->k->o.loop), d->tcp);
    d->tcp->data = d;
    if (uv_tcp_open(d->tcp, fd) < 0) {
        close(fd);
        not_opened(d, "the socket cannot be used");
    } else if (uv_listen((uv_stream_t *)d->tcp, BACKLOG, on_connection) < 0) {
        not_opened(d, "the socket cannot listen");
    }
}

static void open_all(void *arg)
{
    struct dns *d = arg;
    const struct pod_network *net = d->k->o.net;

    hang_up(d);
    d->asked_udp = net->dns_socket(net->ctx, true, (struct net_then){ on_udp, d });
    d->asked_tcp = net->dns_socket(net->ctx, false, (struct net_then){ on_tcp, d });
}

struct dns *dns_new(struct names *k)
{
    const struct pod_network *net = k->o.net;

    if (!net || !net->dns_socket)
        return NULL;
    struct dns *d = mem_new(sizeof(*d));
    d->k = k;
    d->further = dns_further_new(k->o.loop, net->outside ? "/etc/resolv.conf" : NULL, DNS_PORT);
    open_all(d);
    if (net->on_again)
        net->on_again(net->ctx, open_all, d);
    return d;
}

void dns_free(struct dns *d)
{
    if (!d)
        return;
    const struct pod_network *net = d->k->o.net;
    if (net->on_again)
        net->on_again(net->ctx, NULL, NULL);
    dns_further_free(d->further); /* tells all who wait */
    hang_up(d);
    free(d);
}
