/* What a container writes, as it goes on, into descriptors of somebody else: read back from its
 * log, so whole lines. Waits for a slow reader by reading no further. */

#include "node/exec.h"

#include "base/buf.h"
#include "base/mem.h"
#include "node/inside.h"
#include "node/logs.h"

#include <errno.h>
#include <fcntl.h>
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
    void (*done)(void *ctx);
    void *ctx;
};

static void go_on(struct attach *t);

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
    struct sink *s = h->data;

    (void)events;
    if (status < 0)
        sink_close(s);
    go_on(s->t);
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
    struct sink *s = &t->to[stream == CRILOG_ERR];

    if (s->open)
        buf_add(&s->rest, text);
}

static void on_over(void *arg)
{
    struct attach *t = arg;

    loop_timer_stop(TAKE(t->soon));
    t->done(t->ctx);
}

static void go_on(struct attach *t)
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
    go_on(ctx);
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

struct attach *attach_start(struct node *n, const struct node_exec_opts *o, void (*done)(void *ctx),
                            void *ctx, struct err *e)
{
    struct pod *p = map_get(&n->pods, o->uid);
    struct attach *t = mem_new(sizeof(*t));
    struct node_log_opts log = {
        .pod = jdoc_root(p->doc),
        .name = o->uid,
        .container = o->container,
        .run = -1,
        .follow = true,
        .file = { .tail = 0, .limit_bytes = -1, .on_piece = on_piece, .ctx = t },
        .wake = on_news,
        .ctx = t
    };

    t->loop = n->o.loop;
    t->done = done;
    t->ctx = ctx;
    if (node_log_open(n, &log, &t->log, e) < 0) {
        free(t);
        return NULL;
    }
    sink_open(t, &t->to[0], o->fds[1]);
    sink_open(t, &t->to[1], o->fds[2]);
    go_on(t);
    return t;
}

void attach_free(struct attach *t)
{
    if (!t)
        return;
    t->freed = true;
    loop_timer_stop(TAKE(t->soon));
    node_log_free(t->log);
    sink_close(&t->to[0]);
    sink_close(&t->to[1]);
    maybe_free(t);
}
