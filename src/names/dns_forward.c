/* Each question has a socket of its own, so that its port is any, and nobody but the one asked can
 * answer. What is too long for UDP comes back cut, and says so. */

#include "names/dns_forward.h"

#include "base/mem.h"
#include "loop/watchdog.h"
#include "sys/sys.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <uv.h>

enum {
    SERVERS_MOST = 3,
    WAITING_MOST = 512,
    TRY_MS = 2000,
    ROUNDS = 2,
    LOOK_MS = 5000, /* the file is read again */
    FILE_MAX = 16 * 1024,
    ANSWER_MOST = 4096,
};

struct further { /* a question under way */
    struct further *next;
    struct dns_further *f;
    uv_udp_t *udp;
    struct loop_timer *timer;
    struct dns_question q;
    struct buf packet;
    uint16_t id;
    unsigned tries;
    void (*done)(void *ctx, str packet);
    void *ctx;
};

struct dns_further {
    struct loop *loop;
    char *resolv;
    int port;
    int64_t looked_ms; /* 0: never */
    struct sockaddr_storage servers[SERVERS_MOST];
    size_t n_servers;
    struct further *waiting;
    size_t n_waiting;
    char room[ANSWER_MOST];
};

/* ---- who is asked */

static bool read_server(str text, int port, struct sockaddr_storage *out)
{
    char ip[64];

    snprintf(ip, sizeof(ip), "%.*s", (int)(text.n < 63 ? text.n : 63), text.p ? text.p : "");
    return uv_ip4_addr(ip, port, (struct sockaddr_in *)out) == 0 ||
           uv_ip6_addr(ip, port, (struct sockaddr_in6 *)out) == 0;
}

static void look(struct dns_further *f)
{
    static char text[FILE_MAX];
    int64_t now = loop_now_ms(f->loop);

    if (!f->resolv || (f->looked_ms && now - f->looked_ms < LOOK_MS))
        return;
    f->looked_ms = now + !now;
    f->n_servers = 0;
    ssize_t n = sys_read_file(AT_FDCWD, f->resolv, text, sizeof(text));
    for (str rest = { text, n > 0 ? (size_t)n : 0 }; rest.p && f->n_servers < SERVERS_MOST;) {
        str line = str_trim(str_cut(&rest, '\n'));
        if (!str_starts(line, S("nameserver")))
            continue;
        if (read_server(str_trim(str_sub(line, strlen("nameserver"), line.n)), f->port,
                        &f->servers[f->n_servers]))
            f->n_servers++;
    }
}

bool dns_further_can(struct dns_further *f)
{
    look(f);
    return f->n_servers > 0;
}

/* ---- one question */

static void try_next(struct further *x);

static void on_closed(uv_handle_t *h)
{
    free(h);
}

static void hang_up(struct further *x)
{
    loop_timer_stop(TAKE(x->timer));
    if (x->udp)
        uv_close((uv_handle_t *)TAKE(x->udp), on_closed);
}

static void finish(struct further *x, str packet)
{
    for (struct further **at = &x->f->waiting; *at; at = &(*at)->next)
        if (*at == x) {
            *at = x->next;
            break;
        }
    x->f->n_waiting--;
    hang_up(x);
    x->done(x->ctx, packet);
    buf_done(&x->packet);
    free(x);
}

static void on_late(void *arg)
{
    try_next(arg);
}

static void on_alloc(uv_handle_t *h, size_t want, uv_buf_t *b)
{
    struct further *x = h->data;

    (void)want;
    *b = uv_buf_init(x->f->room, sizeof(x->f->room));
}

static void on_packet(uv_udp_t *h, ssize_t n, const uv_buf_t *b, const struct sockaddr *from,
                      unsigned flags)
{
    LOOP_TURN();
    struct further *x = h->data;
    str packet = { b->base, n > 0 ? (size_t)n : 0 };

    if (n == 0 && !from) /* nothing more now */
        return;
    if (n < 0) { /* refused: there is no server */
        try_next(x);
        return;
    }
    if ((flags & UV_UDP_PARTIAL) || packet.n < DNS_HEAD || dns_id(packet) != x->id ||
        !dns_is_answer_to(packet, &x->q))
        return;
    finish(x, packet);
}

static void try_next(struct further *x)
{
    struct dns_further *f = x->f;

    hang_up(x);
    if (!f->n_servers || x->tries >= ROUNDS * f->n_servers) {
        finish(x, STR_NONE);
        return;
    }
    const struct sockaddr *to = (const struct sockaddr *)&f->servers[x->tries++ % f->n_servers];
    random_bytes(&x->id, sizeof(x->id));
    dns_set_id(x->packet.p, x->id);
    uv_buf_t b = uv_buf_init(x->packet.p, (unsigned)x->packet.n);
    x->udp = mem_new(sizeof(*x->udp));
    uv_udp_init(loop_uv(f->loop), x->udp);
    x->udp->data = x;
    /* What cannot be sent is as what is not answered, only sooner. */
    bool sent = uv_udp_connect(x->udp, to) == 0 && uv_udp_try_send(x->udp, &b, 1, NULL) >= 0 &&
                uv_udp_recv_start(x->udp, on_alloc, on_packet) == 0;
    x->timer = loop_timer_start(f->loop, sent ? TRY_MS : 0, 0, on_late, x);
}

bool dns_further_ask(struct dns_further *f, str packet, const struct dns_question *q,
                     void (*done)(void *ctx, str packet), void *ctx)
{
    if (f->n_waiting == WAITING_MOST || packet.n < DNS_HEAD)
        return false;
    struct further *x = mem_new(sizeof(*x));
    x->f = f;
    x->q = *q;
    x->done = done;
    x->ctx = ctx;
    buf_add(&x->packet, packet);
    x->next = f->waiting;
    f->waiting = x;
    f->n_waiting++;
    try_next(x);
    return true;
}

struct dns_further *dns_further_new(struct loop *l, const char *resolv, int port)
{
    struct dns_further *f = mem_new(sizeof(*f));

    f->loop = l;
    f->port = port;
    f->resolv = resolv ? mem_or_abort(strdup(resolv)) : NULL;
    return f;
}

void dns_further_free(struct dns_further *f)
{
    if (!f)
        return;
    for (struct further *x = f->waiting, *next; x; x = next) {
        next = x->next;
        hang_up(x);
        x->done(x->ctx, STR_NONE);
        buf_done(&x->packet);
        free(x);
    }
    free(f->resolv);
    free(f);
}
