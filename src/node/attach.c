/* What a container writes, as it goes on, into descriptors of somebody else: read back from its
 * log, so in whole lines unless it has standard input or a terminal. Waits for a slow reader by
 * reading no further. With a terminal the client has one socket for all. */

#include "node/exec.h"

#include "base/buf.h"
#include "base/mem.h"
#include "loop/watchdog.h"
#include "node/internal.h"
#include "node/logs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

struct sink {
    struct attach *t;
    int fd; /* -1: nobody reads it any more */
    struct buf rest;
    size_t at;
    bool open;
    uv_poll_t poll;
};

struct attach {
    struct node_log *log;
    struct sink to[2]; /* output, error */
    bool log_over;
    bool freed;
    unsigned handles;
    struct loop *loop;
    struct loop_timer *soon;
    struct attach_input *input; /* NULL: none */
    int theirs;                 /* of a terminal's socket, until it is handed over; -1: none */
    void (*on_tty)(void *ctx, int fd);
    void *tty_ctx;
    void (*done)(void *ctx);
    void *ctx;
};

static void resume(struct attach *t);

static void maybe_free(struct attach *t)
{
    if (t->freed && !t->handles)
        free(t);
}

static void on_closed(uv_handle_t *h)
{
    struct sink *s = h->data;

    close(s->fd);
    s->t->handles--;
    maybe_free(s->t);
}

static void sink_close(struct sink *s)
{
    buf_done(&s->rest);
    s->at = 0;
    if (!s->open)
        return;
    s->open = false;
    uv_poll_stop(&s->poll);
    uv_close((uv_handle_t *)&s->poll, on_closed);
}

static void on_ready(uv_poll_t *h, int status, int events)
{
    LOOP_TURN();
    struct sink *s = h->data;

    (void)events;
    if (status < 0)
        sink_close(s);
    resume(s->t);
}

/* True: it takes more. */
static bool flush(struct sink *s)
{
    while (s->open && s->at < s->rest.n) {
        ssize_t n = write(s->fd, s->rest.p + s->at, s->rest.n - s->at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            uv_poll_start(&s->poll, UV_WRITABLE | UV_DISCONNECT, on_ready);
            return false;
        }
        if (n < 0) {
            sink_close(s);
            return true;
        }
        s->at += (size_t)n;
    }
    if (s->open)
        uv_poll_stop(&s->poll);
    buf_done(&s->rest);
    s->at = 0;
    return true;
}

static void on_piece(void *ctx, enum crilog_stream stream, str text)
{
    struct attach *t = ctx;
    struct sink *s = &t->to[stream == CRILOG_ERR && t->to[1].open];

    if (s->open)
        buf_add(&s->rest, text);
}

static void on_over(void *arg)
{
    struct attach *t = arg;

    loop_timer_stop(TAKE(t->soon));
    t->done(t->ctx);
}

static void resume(struct attach *t)
{
    char nothing[1];

    if (t->soon)
        return;
    bool ready = flush(&t->to[0]);
    ready = flush(&t->to[1]) && ready;
    if (ready && !t->log_over) {
        t->log_over = node_log_read(t->log, nothing, sizeof(nothing)) < 0;
        ready = flush(&t->to[0]);
        ready = flush(&t->to[1]) && ready;
    }
    if ((t->log_over && ready) || (!t->to[0].open && !t->to[1].open))
        t->soon = loop_timer_start(t->loop, 0, 0, on_over, t); /* not from within a call */
}

static void on_news(void *ctx)
{
    resume(ctx);
}

static void sink_open(struct attach *t, struct sink *s, int fd)
{
    s->t = t;
    s->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (s->fd < 0)
        return;
    fcntl(s->fd, F_SETFL, fcntl(s->fd, F_GETFL) | O_NONBLOCK);
    if (uv_poll_init(loop_uv(t->loop), &s->poll, s->fd)) { /* /dev/null, as nobody wants it */
        close(s->fd);
        return;
    }
    s->poll.data = s;
    s->open = true;
    t->handles++;
}

static void on_input(void *ctx)
{
    struct attach *t = ctx;
    int fd = t->theirs;

    t->theirs = -1;
    if (fd >= 0)
        t->on_tty(t->tty_ctx, fd);
}

/* Input, and with a terminal the one socket that stands for it. */
static int connect_client(struct attach *t, struct pod *p, const struct node_exec_opts *o,
                          struct err *e)
{
    jv spec = life_find(p->life, o->container)->spec;
    bool tty = jv_bool(jv_at(spec, "tty"), false);
    bool has_in = tty || jv_bool(jv_at(spec, "stdin"), false);
    int pair[2] = { -1, -1 };
    struct attach_input_opts in = { .container = o->container,
                                    .from = -1,
                                    .once =
                                        o->in && !tty && jv_bool(jv_at(spec, "stdinOnce"), false),
                                    .opened = on_input,
                                    .ctx = t };

    if (o->tty && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        return err_sys(e, "socketpair");
    t->theirs = pair[1];
    t->on_tty = o->on_tty;
    t->tty_ctx = o->ctx;
    if (o->in && has_in) {
        in.from = fcntl(o->tty ? pair[0] : o->fds[0], F_DUPFD_CLOEXEC, 3);
        fcntl(in.from, F_SETFL, fcntl(in.from, F_GETFL) | O_NONBLOCK);
    }
    if ((o->in && has_in) || o->tty)
        t->input = attach_input_start(p, &in);
    sink_open(t, &t->to[0], o->tty ? pair[0] : o->fds[1]);
    sink_open(t, &t->to[1], o->tty ? -1 : o->fds[2]);
    if (pair[0] >= 0)
        close(pair[0]);
    return 0;
}

/* `kubectl run -i` makes a pod that is there for who attaches first (stdinOnce), `kubectl debug -i`
 * a container, `kubectl run --attach` one that has just begun, and comes when it runs: what such a
 * program has printed by then is shown as well, so that one that ends at once is not mute. On a
 * cluster it may be. */
static bool is_awaited(struct life_container *c, int64_t now_ms)
{
    enum { YOUNG_MS = 5 * 1000 };
    bool first = c->greeted != c->attempt + 1;

    c->greeted = c->attempt + 1;
    return first && (c->kind == LIFE_EPHEMERAL || jv_bool(jv_at(c->spec, "stdinOnce"), false) ||
                     now_ms - c->started_ms < YOUNG_MS);
}

struct attach *attach_start(struct node *n, const struct node_exec_opts *o, void (*done)(void *ctx),
                            void *ctx, struct err *e)
{
    struct pod *p = map_get(&n->pods, o->uid);
    struct attach *t = mem_new(sizeof(*t));
    int64_t tail = is_awaited(life_find(p->life, o->container), node_now(n)) ? -1 : 0;
    struct node_log_opts log = {
        .pod = jdoc_root(p->doc),
        .name = o->uid,
        .container = o->container,
        .run = -1,
        .follow = true,
        .file = { .tail = tail, .limit_bytes = -1, .on_piece = on_piece, .ctx = t },
        .wake = on_news,
        .ctx = t
    };

    t->loop = n->o.loop;
    t->done = done;
    t->ctx = ctx;
    t->theirs = -1;
    if (node_log_open(n, &log, &t->log, e) < 0) {
        free(t);
        return NULL;
    }
    if (connect_client(t, p, o, e) < 0) {
        node_log_free(t->log);
        free(t);
        return NULL;
    }
    resume(t);
    return t;
}

void attach_resize(struct attach *t, int rows, int cols)
{
    attach_input_resize(t->input, rows, cols);
}

void attach_free(struct attach *t)
{
    if (!t)
        return;
    t->freed = true;
    loop_timer_stop(TAKE(t->soon));
    node_log_free(t->log);
    attach_input_free(t->input);
    if (t->theirs >= 0)
        close(t->theirs);
    sink_close(&t->to[0]);
    sink_close(&t->to[1]);
    maybe_free(t);
}
