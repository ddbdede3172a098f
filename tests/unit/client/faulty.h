/* A server of plain HTTP/1.1 that answers each request with the next step of a script, however bad
 * that is. On the test's own loop. */
#pragma once

#include "help.h"

enum then { KEEP, CLOSE, RESET };

struct step {
    const char *reply; /* NULL: none */
    enum then then;
    int repeat; /* of the reply, further times */
    int piece;  /* bytes at a time, 0: all at once */
};

struct faulty {
    struct loop *loop;
    uv_tcp_t tcp;
    int port;
    const struct step *steps;
    size_t n;
    int asked;       /* requests seen */
    int open;        /* connections */
    int most;        /* connections at once */
    struct buf text; /* all that was asked */
};

struct faulty_conn {
    uv_tcp_t tcp;
    struct faulty *f;
    char in[65536];
    size_t n;
    const struct step *step;
    size_t sent; /* of its reply */
    int left;    /* repeats */
};

static void faulty_conn_closed(uv_handle_t *h)
{
    struct faulty_conn *k = h->data;

    k->f->open--;
    free(k);
}

static void faulty_send(struct faulty_conn *k);

static void faulty_sent(uv_write_t *w, int status)
{
    struct faulty_conn *k = w->data;

    free(w);
    if (status == 0 && !uv_is_closing((uv_handle_t *)&k->tcp))
        faulty_send(k);
}

static void faulty_end(struct faulty_conn *k, enum then then)
{
    if (uv_is_closing((uv_handle_t *)&k->tcp))
        return;
    if (then == RESET)
        uv_tcp_close_reset(&k->tcp, faulty_conn_closed);
    else
        uv_close((uv_handle_t *)&k->tcp, faulty_conn_closed);
}

static void faulty_send(struct faulty_conn *k)
{
    const struct step *s = k->step;
    size_t whole = s->reply ? strlen(s->reply) : 0;

    if (k->sent == whole && k->left > 0) {
        k->left--;
        k->sent = 0;
    }
    if (k->sent == whole) {
        if (s->then != KEEP)
            faulty_end(k, s->then);
        return;
    }
    size_t n = s->piece && (size_t)s->piece < whole - k->sent ? (size_t)s->piece : whole - k->sent;
    uv_buf_t b = uv_buf_init((char *)(uintptr_t)s->reply + k->sent, (unsigned)n);
    uv_write_t *w = mem_new(sizeof(*w));
    w->data = k;
    k->sent += n;
    uv_write(w, (uv_stream_t *)&k->tcp, &b, 1, faulty_sent);
}

static void faulty_room(uv_handle_t *h, size_t want, uv_buf_t *b)
{
    struct faulty_conn *k = h->data;

    (void)want;
    *b = uv_buf_init(k->in + k->n, (unsigned)(sizeof(k->in) - k->n));
}

/* A request is whole when its head is, and its body if it has one. */
static bool faulty_is_whole(struct faulty_conn *k)
{
    str in = { k->in, k->n };
    const char *end = memmem(in.p, in.n, "\r\n\r\n", 4);
    const char *length = memmem(in.p, in.n, "Content-Length: ", 16);

    return end && (!length || length > end ||
                   (size_t)(k->in + k->n - end - 4) >= (size_t)atoi(length + 16));
}

static void faulty_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
    static const struct step none = { NULL, CLOSE, 0, 0 };
    struct faulty_conn *k = s->data;
    struct faulty *f = k->f;

    (void)b;
    if (n < 0) {
        faulty_end(k, CLOSE);
        return;
    }
    k->n += (size_t)n;
    if (!faulty_is_whole(k))
        return;
    buf_add(&f->text, (str){ k->in, k->n });
    buf_addc(&f->text, '\n');
    k->n = 0;
    k->step = (size_t)f->asked < f->n ? &f->steps[f->asked] : &none;
    f->asked++;
    k->sent = 0;
    k->left = k->step->repeat;
    faulty_send(k);
}

static void faulty_accept(uv_stream_t *s, int status)
{
    struct faulty *f = s->data;
    struct faulty_conn *k = mem_new(sizeof(*k));

    (void)status;
    k->f = f;
    uv_tcp_init(loop_uv(f->loop), &k->tcp);
    k->tcp.data = k;
    uv_accept(s, (uv_stream_t *)&k->tcp);
    f->open++;
    f->most = f->open > f->most ? f->open : f->most;
    uv_read_start((uv_stream_t *)&k->tcp, faulty_room, faulty_read);
}

__attribute__((unused)) static void faulty_start(struct faulty *f, struct loop *l)
{
    struct sockaddr_in at;
    int size = sizeof(at);

    f->loop = l;
    uv_ip4_addr("127.0.0.1", 0, &at);
    uv_tcp_init(loop_uv(l), &f->tcp);
    f->tcp.data = f;
    uv_tcp_bind(&f->tcp, (struct sockaddr *)&at, 0);
    uv_listen((uv_stream_t *)&f->tcp, 64, faulty_accept);
    uv_tcp_getsockname(&f->tcp, (struct sockaddr *)&at, &size);
    f->port = ntohs(at.sin_port);
}

__attribute__((unused)) static void faulty_script(struct faulty *f, const struct step *s, size_t n)
{
    f->steps = s;
    f->n = n;
    f->asked = 0;
    buf_clear(&f->text);
}
#define SCRIPT(f, ...)                                       \
    faulty_script((f), (const struct step[]){ __VA_ARGS__ }, \
                  COUNT(((const struct step[]){ __VA_ARGS__ })))

__attribute__((unused)) static void faulty_stop(struct faulty *f)
{
    uv_close((uv_handle_t *)&f->tcp, NULL);
}
