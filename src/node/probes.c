/* One connection, one question, the first line of the answer. TLS certificates are not checked, as
 * kubelet does not. */

#include "node/probes.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/time.h"
#include "loop/watchdog.h"

#include <openssl/ssl.h>
#include <stdio.h>
#include <unistd.h>
#include <uv.h>

enum { ANSWER_MAX = 10 * 1024, PORT_MAX = 65535, CHUNK = 4096 };

struct probe {
    struct loop *loop;
    uv_tcp_t tcp;
    uv_connect_t connect;
    uv_write_t write;
    struct loop_timer *timer;
    SSL_CTX *tls_ctx;
    SSL *tls; /* NULL: plain */
    struct buf request, answer, out;
    char url[256], at[96];
    char room[CHUNK];
    bool http, closed, greeted;
    int64_t timeout_ms;
    struct sockaddr_storage to;
    const struct pod_network *net; /* of asked */
    struct net_ask *asked;         /* for a socket */
    enum probe_result result;
    char message[512];
    void (*done)(void *ctx, enum probe_result result, str message);
    void *ctx;
};

/* ---- the end */

static void on_closed(uv_handle_t *h)
{
    LOOP_TURN();
    struct probe *p = h->data;

    if (p->done)
        p->done(p->ctx, p->result, str_of(p->message));
    SSL_free(p->tls);
    SSL_CTX_free(p->tls_ctx);
    buf_done(&p->request);
    buf_done(&p->answer);
    buf_done(&p->out);
    free(p);
}

/* message NULL: it is there already. */
static void finish(struct probe *p, enum probe_result result, const char *message)
{
    if (p->closed)
        return;
    p->closed = true;
    p->result = result;
    if (message)
        str_clip_z(p->message, sizeof(p->message), str_of(message));
    loop_timer_stop(p->timer);
    p->timer = NULL;
    if (p->asked)
        p->net->cancel(TAKE(p->asked));
    uv_close((uv_handle_t *)&p->tcp, on_closed);
}

static void failed(struct probe *p, const char *why)
{
    char text[512];

    if (p->http)
        snprintf(text, sizeof(text), "Get \"%s\": %s", p->url, why);
    else
        snprintf(text, sizeof(text), "%s", why);
    finish(p, PROBE_BAD, text);
}

static void dial_failed(struct probe *p, int status)
{
    const char *why = status == UV_ECONNREFUSED ? "connection refused" : uv_strerror(status);
    char text[256];

    snprintf(text, sizeof(text), "dial tcp %s: connect: %s", p->at, why);
    failed(p, text);
}

static void on_timeout(void *arg)
{
    struct probe *p = arg;

    if (p->asked) { /* nothing is known of the container */
        finish(p, PROBE_UNKNOWN, "the network of pods does not answer");
        return;
    }
    char text[256];

    snprintf(text, sizeof(text), "dial tcp %s: i/o timeout", p->at);
    failed(p, p->http ? "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
                      : text);
}

/* ---- the answer */

static void look_at_answer(struct probe *p, bool over)
{
    str line = buf_str(&p->answer), rest = line;
    int64_t code = 0;

    if (str_find(line, '\n') < 0 && !over && line.n < ANSWER_MAX)
        return;
    str_cut(&rest, ' ');
    if (!str_starts(line, S("HTTP/")) || !str_to_int(str_sub(rest, 0, 3), &code)) {
        failed(p, over ? "EOF" : "malformed HTTP response");
        return;
    }
    if (code >= 200 && code < 400) {
        finish(p, PROBE_GOOD, "");
        return;
    }
    char text[80];
    snprintf(text, sizeof(text), "HTTP probe failed with statuscode: %lld", (long long)code);
    finish(p, PROBE_BAD, text);
}

static void flush(struct probe *p);

/* Moves TLS on: what came in was given to it already. */
static void tls_continue(struct probe *p)
{
    int rc = p->greeted ? 1 : SSL_do_handshake(p->tls);

    if (rc <= 0) {
        int why = SSL_get_error(p->tls, rc);
        if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) {
            failed(p, "tls: handshake failure");
            return;
        }
    } else if (!p->greeted) {
        p->greeted = true;
        SSL_write(p->tls, p->request.p, (int)p->request.n);
    }
    flush(p);
    for (int n = 1; p->greeted && !p->closed && n > 0 && p->answer.n < ANSWER_MAX;) {
        n = SSL_read(p->tls, buf_room(&p->answer, CHUNK), CHUNK);
        if (n > 0) {
            p->answer.n += (size_t)n;
            look_at_answer(p, false);
        }
    }
}

static void on_alloc(uv_handle_t *h, size_t want, uv_buf_t *b)
{
    struct probe *p = h->data;

    (void)want;
    *b = uv_buf_init(p->room, sizeof(p->room));
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
    LOOP_TURN();
    struct probe *p = s->data;

    if (p->closed || n == 0)
        return;
    if (n < 0) {
        look_at_answer(p, true);
        return;
    }
    str got = { b->base, (size_t)n };
    if (p->tls) {
        BIO_write(SSL_get_rbio(p->tls), got.p, (int)got.n);
        tls_continue(p);
    } else {
        buf_add(&p->answer, got);
        look_at_answer(p, false);
    }
}

/* ---- the question */

static void on_written(uv_write_t *w, int status)
{
    LOOP_TURN();
    struct probe *p = w->handle->data;

    if (p->closed)
        return;
    buf_clear(&p->out);
    if (status < 0)
        failed(p, uv_strerror(status));
    else if (p->tls)
        flush(p);
}

static void flush(struct probe *p)
{
    if (p->out.n) /* under way; the rest follows */
        return;
    if (!p->tls) {
        buf_add(&p->out, buf_str(&p->request));
    } else {
        for (int n = 1; n > 0;) {
            n = BIO_read(SSL_get_wbio(p->tls), buf_room(&p->out, CHUNK), CHUNK);
            p->out.n += n > 0 ? (size_t)n : 0;
        }
    }
    if (!p->out.n)
        return;
    uv_buf_t b = uv_buf_init(p->out.p, (unsigned)p->out.n);
    int rc = uv_write(&p->write, (uv_stream_t *)&p->tcp, &b, 1, on_written);
    if (rc < 0)
        failed(p, uv_strerror(rc));
}

static void on_connected(uv_connect_t *c, int status)
{
    LOOP_TURN();
    struct probe *p = c->handle->data;

    if (p->closed)
        return;
    if (status < 0) {
        dial_failed(p, status);
        return;
    }
    if (!p->http) {
        finish(p, PROBE_GOOD, "");
        return;
    }
    uv_read_start((uv_stream_t *)&p->tcp, on_alloc, on_read);
    if (p->tls)
        tls_continue(p);
    else
        flush(p);
}

/* ---- beginning */

static int64_t port_of(jv port, jv container)
{
    str name = jv_str(port, S(""));
    int64_t n = jv_int(port, 0);

    if (!jv_is(port, JV_STR) || str_to_int(name, &n))
        return n;
    JV_EACH (it, jv_at(container, "ports"))
        if (str_eq(jv_str(jv_at(it.value, "name"), S("")), name))
            return jv_int(jv_at(it.value, "containerPort"), 0);
    return 0;
}

static bool is_field(str s) /* fit for a header or request line */
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 127)
            return false;
    return true;
}

static void ask_http(struct probe *p, jv get, str host, int64_t port)
{
    bool tls = str_eq_nocase(jv_str(jv_at(get, "scheme"), S("HTTP")), S("HTTPS"));
    str path = jv_str(jv_at(get, "path"), S("/"));
    bool named = false, agent = false;

    if (!str_starts(path, S("/")) || !is_field(path) || str_find(path, ' ') >= 0)
        path = S("/");
    p->http = true;
    snprintf(p->url, sizeof(p->url), "%s://%s%.*s", tls ? "https" : "http", p->at,
             (int)(path.n > 128 ? 128 : path.n), path.p);
    buf_printf(&p->request, "GET %" PRI_STR " HTTP/1.1\r\n", STR_ARG(path));
    JV_EACH (it, jv_at(get, "httpHeaders")) {
        str name = jv_str(jv_at(it.value, "name"), S(""));
        str value = jv_str(jv_at(it.value, "value"), S(""));
        if (!name.n || !is_field(name) || !is_field(value) || str_find(name, ':') >= 0)
            continue;
        named |= str_eq_nocase(name, S("Host"));
        agent |= str_eq_nocase(name, S("User-Agent"));
        buf_printf(&p->request, "%" PRI_STR ": %" PRI_STR "\r\n", STR_ARG(name), STR_ARG(value));
    }
    if (!named)
        buf_printf(&p->request, "Host: %" PRI_STR ":%lld\r\n", STR_ARG(host), (long long)port);
    if (!agent)
        buf_add(&p->request, S("User-Agent: kube-probe/1.34\r\n"));
    buf_add(&p->request, S("Accept: */*\r\nConnection: close\r\n\r\n"));
    if (!tls)
        return;
    p->tls_ctx = SSL_CTX_new(TLS_client_method());
    p->tls = p->tls_ctx ? SSL_new(p->tls_ctx) : NULL;
    if (!p->tls)
        abort();
    SSL_set_verify(p->tls, SSL_VERIFY_NONE, NULL);
    SSL_set_bio(p->tls, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(p->tls);
}

static int address(str host, int64_t port, struct sockaddr_storage *to)
{
    char text[64];

    if (str_eq(host, S("localhost")))
        host = S("127.0.0.1");
    if (host.n >= sizeof(text) || port <= 0 || port > PORT_MAX)
        return -1;
    snprintf(text, sizeof(text), "%" PRI_STR, STR_ARG(host));
    return uv_ip4_addr(text, (int)port, (struct sockaddr_in *)to) == 0
               ? 0
               : uv_ip6_addr(text, (int)port, (struct sockaddr_in6 *)to);
}

static void on_wrong(void *arg)
{
    struct probe *p = arg;

    if (!p->closed)
        finish(p, PROBE_UNKNOWN, NULL);
}

static void not_now(struct probe *p)
{
    loop_timer_stop(p->timer);
    p->timer = loop_timer_start(p->loop, 0, 0, on_wrong, p);
}

static void connect_it(struct probe *p)
{
    int rc = uv_tcp_connect(&p->connect, &p->tcp, (struct sockaddr *)&p->to, on_connected);

    if (rc < 0) {
        snprintf(p->message, sizeof(p->message), "dial tcp %s: %s", p->at, uv_strerror(rc));
        not_now(p);
    }
}

static void on_socket(void *arg, jv ok, int fd, const struct err *e)
{
    struct probe *p = arg;

    p->asked = NULL;
    if (jv_exists(ok) && uv_tcp_open(&p->tcp, fd) == 0) {
        connect_it(p);
        return;
    }
    if (fd >= 0)
        close(fd);
    snprintf(p->message, sizeof(p->message), "dial tcp %s: %s", p->at, e->msg);
    not_now(p);
}

static void dial(struct probe *p, const struct probe_opts *o, str host, int64_t port)
{
    if (address(host, port, &p->to) < 0) {
        snprintf(p->message, sizeof(p->message), "cannot reach %s: not an address and a port",
                 p->at);
        not_now(p);
        return;
    }
    /* Where the pod has a network of its own, only a socket of that leads to it. */
    p->net = str_eq(host, o->host) ? o->net : NULL;
    if (p->net)
        p->asked = p->net->socket(p->net->ctx, (struct net_then){ on_socket, p });
    else
        connect_it(p);
}

struct probe *probe_start(const struct probe_opts *o)
{
    jv get = jv_at(o->handler, "httpGet"), tcp = jv_at(o->handler, "tcpSocket");
    bool http = jv_is(get, JV_OBJ);
    jv which = http ? get : tcp;

    if (!jv_is(which, JV_OBJ))
        return NULL;
    struct probe *p = mem_new(sizeof(*p));
    str host = jv_str(jv_at(which, "host"), S(""));
    int64_t port = port_of(jv_at(which, "port"), o->container);
    if (!host.n)
        host = o->host;
    p->loop = o->loop;
    p->done = o->done;
    p->ctx = o->ctx;
    p->timeout_ms = o->timeout_ms;
    snprintf(p->at, sizeof(p->at), str_find(host, ':') >= 0 ? "[%.*s]:%lld" : "%.*s:%lld",
             (int)(host.n > 64 ? 64 : host.n), host.p, (long long)port);
    if (uv_tcp_init(loop_uv(o->loop), &p->tcp) < 0)
        abort();
    p->tcp.data = p;
    p->timer = loop_timer_start(o->loop, o->timeout_ms, 0, on_timeout, p);
    if (http)
        ask_http(p, get, host, port);
    dial(p, o, host, port);
    return p;
}

void probe_stop(struct probe *p)
{
    if (!p)
        return;
    p->done = NULL;
    finish(p, PROBE_UNKNOWN, "");
}
