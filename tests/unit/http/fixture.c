/* See fixture.h. Handlers run on the fixture's loop thread; counts are read by the test. */

#include "fixture.h"

#include "base/buf.h"
#include "http/pki.h"
#include "loop/log.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct source {
    struct fixture *f;
    struct http_req *r;
    struct source *prev, *next; /* watches */
    int64_t left;
    struct blob *event;
    size_t event_at;
    bool slow, aborts, is_watch, closed, woken, pending;
};

struct held {
    struct http_req *r;
    struct held *next;
    bool with_source;
};

struct fixture {
    struct loop *loop;
    struct http_server *server;
    struct http_limits limits;
    struct fixture_counts n;
    struct source *watches;
    struct held *held;
    pthread_t thread;
    char dir[64];
    int port;
    int64_t grace_ms;
    bool freed; /* the server */
    bool plain;
    atomic_int ready, stopping, answered;
    struct http_stats stats;
};

static void wake_source(void *arg)
{
    struct source *s = arg;

    s->woken = true;
    s->pending = false;
    if (s->closed)
        free(s);
    else
        http_wake(s->r);
}

static ssize_t source_read(void *ctx, char *to, size_t n)
{
    struct source *s = ctx;

    if (s->is_watch) {
        str all = blob_str(s->event);
        size_t k = all.n - s->event_at < n ? all.n - s->event_at : n;
        if (k == 0)
            return HTTP_WAIT;
        memcpy(to, all.p + s->event_at, k);
        s->event_at += k;
        return (ssize_t)k;
    }
    if (s->left == 0)
        return s->aborts ? HTTP_ABORT : HTTP_END;
    if (s->slow && !s->woken) {
        if (s->pending)
            return HTTP_WAIT;
        s->pending = true;
        loop_defer(s->f->loop, wake_source, s);
        return HTTP_WAIT;
    }
    size_t k = s->left < (int64_t)n ? (size_t)s->left : n;
    if (s->slow) {
        s->woken = false;
        k = k < 1024 ? k : 1024;
    }
    for (size_t i = 0; i < k; i++)
        to[i] = (char)('a' + (s->left - (int64_t)i) % 26);
    s->left -= (int64_t)k;
    s->f->n.produced += (long long)k;
    return (ssize_t)k;
}

static void source_close(void *ctx)
{
    struct source *s = ctx;
    struct fixture *f = s->f;

    if (s->closed)
        s->f->n.closed_twice++;
    s->closed = true;
    if (s->is_watch) {
        s->f->n.watches--;
        if (s->next)
            s->next->prev = s->prev;
        if (s->prev)
            s->prev->next = s->next;
        else
            s->f->watches = s->next;
        blob_unref(s->event);
    }
    if (!s->pending) /* else a wake-up is on its way, and frees it */
        free(s);
    f->n.closed++; /* last: who waits for it looks at the rest then */
}

static struct source *source_new(struct fixture *f, struct http_req *r, int64_t n)
{
    struct source *s = calloc(1, sizeof(*s));

    if (!s)
        abort();
    *s = (struct source){ .f = f, .r = r, .left = n };
    f->n.opened++;
    return s;
}

static void reply_source(struct source *s, int64_t length)
{
    struct http_header h = { S("content-type"), S("text/plain") };
    struct http_source src = { source_read, source_close, s, length };

    if (http_wants_websocket(s->r))
        http_reply_lines(s->r, src);
    else
        http_reply_source(s->r, 200, &h, 1, src);
}

static void reply_text(struct http_req *r, int status, str text)
{
    struct http_header h = { S("content-type"), S("application/json") };

    http_reply(r, status, &h, 1, blob_new(text));
}

static int64_t number(struct http_req *r)
{
    int64_t n = 0;

    str_to_int(http_query(r), &n);
    return n;
}

static void on_bytes(struct fixture *f, struct http_req *r)
{
    char *p = NULL;
    size_t n = (size_t)number(r);
    struct blob *b = blob_new_room(n, &p);

    (void)f;
    for (size_t i = 0; i < n; i++)
        p[i] = (char)('a' + (i * 7 + i / 1000) % 26);
    http_reply(r, 200, NULL, 0, b);
}

static void on_stream(struct fixture *f, struct http_req *r)
{
    reply_source(source_new(f, r, number(r)), -1);
}

static void on_patient(struct fixture *f, struct http_req *r)
{
    http_allow_slow_client(r);
    on_stream(f, r);
}

static void on_known(struct fixture *f, struct http_req *r)
{
    reply_source(source_new(f, r, number(r)), number(r));
}

static void on_slow_source(struct fixture *f, struct http_req *r)
{
    struct source *s = source_new(f, r, number(r));

    s->slow = true;
    reply_source(s, number(r));
}

static void on_abort(struct fixture *f, struct http_req *r)
{
    struct source *s = source_new(f, r, number(r));

    s->aborts = true;
    reply_source(s, -1);
}

static void on_short(struct fixture *f, struct http_req *r)
{
    reply_source(source_new(f, r, 10), 20);
}

static void on_watch(struct fixture *f, struct http_req *r)
{
    struct source *s = source_new(f, r, 0);

    s->is_watch = true;
    s->next = f->watches;
    if (s->next)
        s->next->prev = s;
    f->watches = s;
    f->n.watches++;
    reply_source(s, -1);
}

static void on_event(struct fixture *f, struct http_req *r)
{
    struct blob *b = blob_new(http_body(r));

    for (struct source *s = f->watches; s; s = s->next) {
        blob_unref(s->event);
        s->event = blob_ref(b);
        s->event_at = 0;
        http_wake(s->r);
    }
    blob_unref(b);
    reply_text(r, 200, S("sent"));
}

static void on_held(struct fixture *f, struct http_req *r)
{
    struct held *h = calloc(1, sizeof(*h));

    if (!h)
        abort();
    *h = (struct held){ r, f->held, str_eq(http_query(r), S("source")) };
    f->held = h;
    f->n.held++;
}

static void release(void *arg)
{
    struct fixture *f = arg;

    while (f->held) {
        struct held *h = f->held;
        f->held = h->next;
        f->n.held_gone += http_is_gone(h->r);
        if (h->with_source)
            reply_source(source_new(f, h->r, 100000), 100000);
        else
            reply_text(h->r, 200, S("released"));
        free(h);
        f->n.held--;
    }
    if (f->freed)
        loop_stop(f->loop);
}

static void on_head(struct fixture *f, struct http_req *r)
{
    AUTO(buf) struct buf b = { 0 };
    const struct http_header *h = NULL;
    size_t n = http_headers(r, &h);

    (void)f;
    buf_printf(&b, "%d %.*s %.*s ? %.*s @ %.*s\n", http_version(r), STR_ARG(http_method(r)),
               STR_ARG(http_path(r)), STR_ARG(http_query(r)), STR_ARG(http_host(r)));
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%.*s=%.*s\n", STR_ARG(h[i].name), STR_ARG(h[i].value));
    reply_text(r, 200, buf_str(&b));
}

static void on_whoami(struct fixture *f, struct http_req *r)
{
    AUTO(buf) struct buf b = { 0 };
    struct http_identity who = http_identity(r);

    (void)f;
    buf_add(&b, who.user);
    for (size_t i = 0; i < who.n_groups; i++)
        buf_printf(&b, " %.*s", STR_ARG(who.groups[i]));
    reply_text(r, who.user.n ? 200 : 401, buf_str(&b));
}

static void on_inject(struct fixture *f, struct http_req *r)
{
    struct http_header h = { S("warning"), S("299 - \"a\r\nset-cookie: b\"") };

    (void)f;
    http_reply(r, 200, &h, 1, NULL);
}

struct socket {
    struct fixture *f;
    struct ws *w;
};

static void on_ws_message(void *ctx, bool binary, str payload)
{
    struct socket *s = ctx;

    if (str_eq(payload, S("close")))
        ws_close(s->w, 4000, S("bye"));
    else if (str_eq(payload, S("pause")))
        ws_pause(s->w, true);
    else
        ws_send(s->w, binary, payload);
}

static void on_ws_drain(void *ctx)
{
    struct socket *s = ctx;

    s->f->n.ws_drained++;
}

static void on_ws_close(void *ctx, int code)
{
    struct socket *s = ctx;

    s->f->n.ws_code = code;
    s->f->n.ws_closed++;
    free(s);
}

static void on_ws(struct fixture *f, struct http_req *r)
{
    if (!http_wants_websocket(r)) {
        reply_text(r, 400, S("no websocket asked for"));
        return;
    }
    struct socket *s = calloc(1, sizeof(*s));
    struct ws_handler h = { on_ws_message, on_ws_drain, on_ws_close, s };
    if (!s)
        abort();
    s->f = f;
    if (str_eq(http_query(r), S("patient")))
        http_allow_slow_client(r);
    s->w = http_accept_websocket(r, http_get_header(r, S("sec-websocket-protocol")), &h);
}

static void on_echo(struct fixture *f, struct http_req *r)
{
    (void)f;
    reply_text(r, 200, http_body(r));
}

static void on_root(struct fixture *f, struct http_req *r)
{
    (void)f;
    reply_text(r, 200, S("ok"));
}

static const struct {
    str path;
    void (*fn)(struct fixture *f, struct http_req *r);
} routes[] = {
    { S_INIT("/"), on_root },         { S_INIT("/echo"), on_echo },
    { S_INIT("/bytes"), on_bytes },   { S_INIT("/stream"), on_stream },
    { S_INIT("/known"), on_known },   { S_INIT("/slow-source"), on_slow_source },
    { S_INIT("/abort"), on_abort },   { S_INIT("/short"), on_short },
    { S_INIT("/watch"), on_watch },   { S_INIT("/event"), on_event },
    { S_INIT("/held"), on_held },     { S_INIT("/head"), on_head },
    { S_INIT("/whoami"), on_whoami }, { S_INIT("/inject"), on_inject },
    { S_INIT("/ws"), on_ws },         { S_INIT("/patient"), on_patient },
};

static void on_request(void *ctx, struct http_req *r)
{
    for (size_t i = 0; i < COUNT(routes); i++) {
        if (str_eq(routes[i].path, http_path(r))) {
            routes[i].fn(ctx, r);
            return;
        }
    }
    reply_text(r, 404, S("not found"));
}

static void on_stopped(void *ctx)
{
    struct fixture *f = ctx;

    f->stats = http_server_stats(f->server);
    http_server_free(f->server);
    f->freed = true;
    if (!f->held)
        loop_stop(f->loop);
}

static void begin_stop(void *ctx)
{
    struct fixture *f = ctx;

    http_server_stop(f->server, f->grace_ms, on_stopped, f);
}

static void *run(void *arg)
{
    struct fixture *f = arg;
    struct err e = { 0 };
    char cert[96], key[96], ca[96];

    f->loop = loop_new();
    snprintf(cert, sizeof(cert), "%s/server.crt", f->dir);
    snprintf(key, sizeof(key), "%s/server.key", f->dir);
    snprintf(ca, sizeof(ca), "%s/ca.crt", f->dir);
    struct http_server_opts o = { .host = "127.0.0.1",
                                  .port = f->port,
                                  .cert_pem_path = cert,
                                  .key_pem_path = key,
                                  .client_ca_pem_path = ca,
                                  .on_request = on_request,
                                  .ctx = f,
                                  .limits = f->limits };
    if (f->plain)
        o.host = o.cert_pem_path = NULL;
    if (pki_ensure(f->dir, NULL, 0, &e) < 0 || http_server_start(&f->server, f->loop, &o, &e) < 0) {
        printf("Bail out! %s\n", e.msg);
        exit(1);
    }
    f->port = http_server_port(f->server);
    f->ready = 1;
    loop_run(f->loop);
    loop_free(f->loop);
    return NULL;
}

bool fixture_await(atomic_int *p, int want)
{
    for (int i = 0; i < 60000 && *p < want; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    return *p >= want;
}

static struct fixture *start(struct http_limits limits, bool plain)
{
    struct fixture *f = calloc(1, sizeof(*f));
    const char *port = getenv("FIXTURE_PORT");

    if (!f)
        abort();
    f->limits = limits;
    f->plain = plain;
    f->port = port ? atoi(port) : 0;
    snprintf(f->dir, sizeof(f->dir), "/tmp/muster-http-XXXXXX");
    if (!mkdtemp(f->dir))
        abort();
    pthread_create(&f->thread, NULL, run, f);
    fixture_await(&f->ready, 1);
    return f;
}

struct fixture *fixture_start(struct http_limits limits)
{
    return start(limits, false);
}

struct fixture *fixture_start_plain(struct http_limits limits)
{
    return start(limits, true);
}

bool fixture_is_plain(const struct fixture *f)
{
    return f->plain;
}

struct fixture *fixture_attach(int port, const char *dir)
{
    struct fixture *f = calloc(1, sizeof(*f));

    if (!f)
        abort();
    f->port = port;
    snprintf(f->dir, sizeof(f->dir), "%s", dir);
    return f;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *w)
{
    (void)st, (void)type, (void)w;
    return remove(path);
}

void fixture_begin_stop(struct fixture *f, int64_t grace_ms)
{
    f->stopping = 1;
    f->grace_ms = grace_ms;
    loop_post(f->loop, begin_stop, f);
}

void fixture_stop(struct fixture *f, int64_t grace_ms)
{
    if (!f->stopping)
        fixture_begin_stop(f, grace_ms);
    pthread_join(f->thread, NULL);
    nftw(f->dir, remove_one, 8, FTW_DEPTH);
    free(f);
}

int fixture_port(const struct fixture *f)
{
    return f->port;
}

const char *fixture_dir(const struct fixture *f)
{
    return f->dir;
}

struct fixture_counts *fixture_counts(struct fixture *f)
{
    return &f->n;
}

static void take_stats(void *arg)
{
    struct fixture *f = arg;

    f->stats = http_server_stats(f->server);
    f->answered++;
}

struct http_stats fixture_stats(struct fixture *f)
{
    int before = f->answered;

    loop_post(f->loop, take_stats, f);
    fixture_await(&f->answered, before + 1);
    return f->stats;
}

void fixture_release(struct fixture *f)
{
    loop_post(f->loop, release, f);
}
