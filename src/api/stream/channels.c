/* See channels.h. What the program writes is read only while little waits for the client, and the
 * client only while little waits for the program, so neither makes us hold much. */

#include "api/stream/channels.h"

#include "api/stream/spdy_upgrade.h"
#include "base/mem.h"
#include "base/websocket.h"
#include "loop/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <uv.h>

enum {
    READ_BYTES = 32 * 1024,
    QUEUE_MOST = 256 * 1024,
    INPUT_MOST = 64 * 1024,
    LATE_MS = 500,
    SETTLE_MS = 10
};

struct channels;

struct end { /* ours, of a pipe or a terminal */
    struct channels *c;
    int fd; /* -1: closed */
    enum channel channel;
    bool open; /* the handle is */
    uv_poll_t poll;
};

struct channels {
    struct arena *a;
    struct channels_opts o;
    struct ws *ws;                   /* NULL: closed */
    struct channel_streams *streams; /* NULL: messages of a WebSocket */
    bool v5;
    bool started;
    struct end in, out[2];
    struct buf input; /* for the program */
    size_t input_at;
    bool input_ends;
    int rows, cols;
    struct api_running *run;
    bool exited;
    bool told;
    int code;
    char why[512];
    unsigned handles;
    struct loop_timer *late;
    bool late_over;
    struct loop_timer *settle;
    bool settled;
};

static void on_ready(uv_poll_t *h, int status, int events);

/* ---- descriptors */

static void maybe_free(struct channels *c)
{
    if (c->ws || c->run || c->handles)
        return;
    channel_streams_free(c->streams);
    buf_done(&c->input);
    arena_free(c->a);
    free(c);
}

static void on_closed(uv_handle_t *h)
{
    struct end *x = h->data;

    close(x->fd);
    x->fd = -1;
    x->c->handles--;
    maybe_free(x->c);
}

static void end_close(struct end *x)
{
    if (!x->open)
        return;
    x->open = false;
    uv_poll_stop(&x->poll);
    uv_close((uv_handle_t *)&x->poll, on_closed);
}

/* Takes fd. */
static void end_open(struct channels *c, struct end *x, int fd, enum channel channel)
{
    *x = (struct end){ .c = c, .fd = fd, .channel = channel, .open = true };
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    if (uv_poll_init(loop_uv(c->o.loop), &x->poll, fd)) {
        close(fd);
        *x = (struct end){ .fd = -1 };
        return;
    }
    x->poll.data = x;
    c->handles++;
}

static void end_poll(struct end *x, bool wanted, int events)
{
    if (!x->open)
        return;
    if (wanted)
        uv_poll_start(&x->poll, events, on_ready);
    else
        uv_poll_stop(&x->poll);
}

/* ---- from the program */

static void send_streams(struct channels *c)
{
    struct buf *b = channel_streams_out(c->streams);

    if (c->ws && b->n)
        ws_send(c->ws, true, buf_str(b));
    buf_done(b);
}

static void tell(struct channels *c, enum channel channel, str bytes)
{
    AUTO(buf) struct buf b = { 0 };

    if (c->streams) {
        channel_streams_tell(c->streams, channel, bytes, false);
        send_streams(c);
        return;
    }
    buf_addc(&b, (char)channel);
    buf_add(&b, bytes);
    ws_send(c->ws, true, buf_str(&b));
}

/* Reads until there is nothing, or enough waits for the client. True: nothing is left. */
static bool drain(struct channels *c, struct end *x)
{
    char text[READ_BYTES];

    while (x->open && c->ws) {
        if (ws_queued(c->ws) > QUEUE_MOST)
            return false;
        ssize_t n = read(x->fd, text, sizeof(text));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n <= 0) { /* EIO: nobody has the terminal open any more */
            end_close(x);
            return true;
        }
        tell(c, x->channel, (str){ text, (size_t)n });
    }
    return true;
}

static void report_end(struct channels *c)
{
    AUTO(arena) struct arena *a = arena_new();

    if (c->told || !c->ws)
        return;
    c->told = true;
    tell(c, CHANNEL_ERROR, channels_status(a, c->o.exec.argv, c->code, str_of(c->why)));
    if (c->streams) {
        static const enum channel outputs[] = { CHANNEL_STDOUT, CHANNEL_STDERR, CHANNEL_ERROR };
        for (size_t i = 0; i < COUNT(outputs); i++)
            channel_streams_tell(c->streams, outputs[i], STR_NONE, true);
        send_streams(c);
    }
    ws_close(c->ws, WS_NORMAL, STR_NONE);
}

static void look(struct channels *c);

static void on_late(void *arg)
{
    struct channels *c = arg;

    loop_timer_stop(TAKE(c->late));
    c->late_over = true;
    look(c);
}

static void on_settled(void *arg)
{
    struct channels *c = arg;

    loop_timer_stop(TAKE(c->settle));
    c->settled = true;
    look(c);
}

/* kubectl makes its streams after the connection is up, and throws away what comes before that: it
 * is given a moment. */
static bool is_settled(struct channels *c)
{
    if (!c->streams && !c->settled && !c->settle && c->ws)
        c->settle = loop_timer_start(c->o.loop, SETTLE_MS, 0, on_settled, c);
    return c->streams || c->settled || !c->ws;
}

static void look(struct channels *c)
{
    bool all = true;

    if (!is_settled(c))
        return;
    for (int i = 0; i < 2; i++) {
        bool dry = drain(c, &c->out[i]);
        end_poll(&c->out[i], dry, UV_READABLE | UV_DISCONNECT);
        all = all && dry;
    }
    /* What a terminal was told comes through a little later, and then its end; but processes that
     * the program left behind may hold it. */
    if (c->exited && c->o.exec.tty && c->out[0].open && !c->late_over) {
        if (!c->late)
            c->late = loop_timer_start(c->o.loop, LATE_MS, 0, on_late, c);
    } else if (c->exited && all) {
        report_end(c);
    }
}

/* ---- to the program */

static void feed(struct channels *c)
{
    while (c->in.open && c->input_at < c->input.n) {
        ssize_t n = write(c->in.fd, c->input.p + c->input_at, c->input.n - c->input_at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) { /* nobody reads it */
            end_close(&c->in);
            break;
        }
        c->input_at += (size_t)n;
    }
    if (!c->in.open || c->input_at == c->input.n) {
        buf_clear(&c->input);
        c->input_at = 0;
    }
    size_t left = c->input.n - c->input_at;
    if (!left && c->input_ends)
        end_close(&c->in);
    end_poll(&c->in, left > 0, UV_WRITABLE);
    if (c->ws)
        ws_pause(c->ws, left > INPUT_MOST);
}

static void on_ready(uv_poll_t *h, int status, int events)
{
    LOOP_TURN();
    struct end *x = h->data;
    struct channels *c = x->c;

    (void)events;
    if (status < 0)
        end_close(x);
    if (x == &c->in)
        feed(c);
    else
        look(c);
}

static void resize(struct channels *c)
{
    struct winsize size = { .ws_row = (unsigned short)c->rows, .ws_col = (unsigned short)c->cols };

    if (!c->o.exec.tty || !c->out[0].open || !c->rows)
        return;
    /* Of the container's own terminal we only have what goes through it. */
    if (ioctl(c->out[0].fd, TIOCSWINSZ, &size) < 0 && c->run)
        c->o.pods->exec_resize(c->o.pods->ctx, c->run, c->rows, c->cols);
}

static void on_said(void *ctx, const struct channel_message *m)
{
    struct channels *c = ctx;

    switch (m->what) {
    case CHANNEL_NOTHING:
        break;
    case CHANNEL_INPUT:
        if (c->o.in && !c->input_ends && !c->exited)
            buf_add(&c->input, m->bytes);
        break;
    case CHANNEL_INPUT_ENDS: /* a terminal has no end: its program is told by ^D */
        c->input_ends = !c->o.exec.tty;
        break;
    case CHANNEL_SIZE:
        c->rows = m->rows;
        c->cols = m->cols;
        resize(c);
        break;
    }
    if (c->in.open)
        feed(c);
    else if (c->exited || (c->started && !c->o.exec.tty)) /* nobody will read it */
        buf_clear(&c->input);
    else if (c->input.n > INPUT_MOST) /* the terminal is on its way */
        ws_pause(c->ws, true);
}

static void on_message(void *ctx, bool binary, str payload)
{
    struct channels *c = ctx;
    struct channel_message m;

    (void)binary;
    if (!c->streams) {
        channel_read(payload, c->v5, &m);
        on_said(c, &m);
        return;
    }
    bool is_broken = channel_streams_feed(c->streams, payload) < 0;
    send_streams(c);
    if (is_broken)
        ws_close(c->ws, WS_PROTOCOL_ERROR, S("these are not SPDY/3.1 frames"));
}

/* ---- its end, and the client's */

static void on_ended(void *ctx, int code, str why)
{
    struct channels *c = ctx;

    c->run = NULL;
    c->exited = true;
    c->code = code;
    str_clip_z(c->why, sizeof(c->why), why);
    end_close(&c->in);
    if (c->ws)
        ws_pause(c->ws, false); /* what was not read is thrown away */
    look(c);
    maybe_free(c);
}

static void on_tty(void *ctx, int fd)
{
    struct channels *c = ctx;

    if (fd < 0)
        return;
    int other = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* one handle a descriptor */
    end_open(c, &c->out[0], fd, CHANNEL_STDOUT);
    if (other >= 0)
        end_open(c, &c->in, other, CHANNEL_STDIN);
    resize(c);
    feed(c);
    look(c);
}

static void on_drain(void *ctx)
{
    look(ctx);
}

static void on_close(void *ctx, int code)
{
    struct channels *c = ctx;

    (void)code;
    c->ws = NULL;
    loop_timer_stop(TAKE(c->late));
    loop_timer_stop(TAKE(c->settle));
    end_close(&c->in);
    for (int i = 0; i < 2; i++)
        end_close(&c->out[i]);
    if (c->run)
        c->o.pods->exec_stop(c->o.pods->ctx, TAKE(c->run));
    maybe_free(c);
}

/* ---- starting */

/* theirs: for the program; ours: taken by an end. Without a stream: nothing. */
static int make_pipe(bool wanted, bool is_input, int *theirs, int *ours)
{
    int ends[2];

    *ours = -1;
    if (!wanted) {
        *theirs = open("/dev/null", (is_input ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
        return *theirs;
    }
    if (pipe2(ends, O_CLOEXEC) < 0)
        return *theirs = -1;
    *theirs = ends[is_input ? 0 : 1];
    *ours = ends[is_input ? 1 : 0];
    return 0;
}

static int open_pipes(struct channels *c, int fds[3], struct err *e)
{
    const bool wanted[3] = { c->o.in, c->o.out, c->o.err };
    struct end *ends[3] = { &c->in, &c->out[0], &c->out[1] };
    int rc = 0;

    for (int i = 0; i < 3; i++) {
        int ours;
        if (make_pipe(wanted[i], i == CHANNEL_STDIN, &fds[i], &ours) < 0)
            rc = err_sys(e, "pipe");
        if (ours >= 0)
            end_open(c, ends[i], ours, (enum channel)i);
    }
    return rc;
}

static void start(void *ctx)
{
    struct channels *c = ctx;
    struct api_exec *x = &c->o.exec;
    struct err e = { 0 };

    c->started = true;
    x->fds[0] = x->fds[1] = x->fds[2] = -1;
    x->in = c->o.in;
    x->on_tty = on_tty;
    x->on_exit = on_ended;
    x->ctx = c;
    int rc = x->tty ? 0 : open_pipes(c, x->fds, &e);
    if (rc == 0)
        c->run = c->o.pods->exec(c->o.pods->ctx, &c->o.pod, x, &e);
    for (int i = 0; i < 3; i++)
        if (x->fds[i] >= 0)
            close(x->fds[i]);
    /* The client waits for a first message: it says that all is well so far. */
    tell(c, c->o.out ? CHANNEL_STDOUT : c->o.err ? CHANNEL_STDERR : CHANNEL_ERROR, STR_NONE);
    if (c->run)
        look(c);
    else
        on_ended(c, 126, str_of(e.msg));
}

void channels_start(struct http_req *r, str protocol, const struct channels_opts *o)
{
    struct channels *c = mem_new(sizeof(*c));
    struct ws_handler h = {
        .on_message = on_message, .on_drain = on_drain, .on_close = on_close, .ctx = c
    };

    c->a = arena_new();
    c->o = *o;
    c->o.pod = api_pod_copy(c->a, &o->pod);
    c->o.exec.container = arena_str(c->a, o->exec.container);
    c->o.exec.argv = jv_copy(c->a, o->exec.argv);
    c->in.fd = c->out[0].fd = c->out[1].fd = -1;
    c->v5 = str_starts(protocol, S("v5"));
    bool gone = http_is_gone(r);
    if (o->spdy) {
        c->streams = channel_streams_new(&(struct channel_streams_opts){ .in = o->in,
                                                                         .out = o->out,
                                                                         .err = o->err,
                                                                         .tty = o->exec.tty,
                                                                         .on_all = start,
                                                                         .on_said = on_said,
                                                                         .ctx = c });
        c->ws = spdy_accept(r, protocol, &h);
        return;
    }
    c->ws = http_accept_websocket(r, protocol, &h);
    if (!gone) /* else on_close comes at once */
        start(c);
}
