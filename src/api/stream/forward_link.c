/* See forward.h. A pod is tried at each of its addresses, as long as none is listening. What is
 * told then is of the first: the machine may not even have the others. */

#include "api/stream/forward.h"

#include "base/mem.h"
#include "loop/watchdog.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

enum { READ_BYTES = 32 * 1024, READS_A_TURN = 8 };

struct forward_link {
    struct forward_link_opts o;
    int fd; /* -1: none */
    struct api_dial *dialling;
    int attempt;
    uv_poll_t *poll; /* NULL: none */
    struct loop_timer *soon;
    bool connected;
    bool deaf;       /* the pod takes nothing any more */
    bool input_ends; /* once all is written */
    bool input_over;
    struct buf input;
    size_t input_at;
    char why[512];
};

static void dial(struct forward_link *f);
static void watch(struct forward_link *f);

/* ---- the socket */

static void on_closed(uv_handle_t *h)
{
    free(h);
}

static void hang_up(struct forward_link *f)
{
    if (f->dialling)
        f->o.pods->dial_stop(f->o.pods->ctx, TAKE(f->dialling));
    if (f->poll) {
        uv_poll_stop(f->poll);
        uv_close((uv_handle_t *)TAKE(f->poll), on_closed);
    }
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

static void on_over(void *arg)
{
    struct forward_link *f = arg;

    loop_timer_stop(TAKE(f->soon));
    f->o.on_end(f->o.ctx, str_of(f->why));
}

/* Tells the end, from nobody's call. */
static void finish(struct forward_link *f)
{
    hang_up(f);
    if (!f->soon)
        f->soon = loop_timer_start(f->o.loop, 0, 0, on_over, f);
}

/* ---- to the pod */

static void flush(struct forward_link *f)
{
    size_t before = forward_link_waiting(f);

    while (f->connected && !f->deaf && f->input_at < f->input.n) {
        ssize_t n = send(f->fd, f->input.p + f->input_at, f->input.n - f->input_at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) /* what it has sent before is still to be read */
            f->deaf = true;
        else
            f->input_at += (size_t)n;
    }
    if (f->deaf || f->input_at == f->input.n) {
        buf_done(&f->input);
        f->input_at = 0;
    }
    if (f->connected && f->input_ends && !f->input_over && !f->input.n) {
        f->input_over = true;
        shutdown(f->fd, SHUT_WR);
    }
    if (forward_link_waiting(f) < before)
        f->o.on_room(f->o.ctx);
}

/* ---- from the pod */

static void drain(struct forward_link *f)
{
    char text[READ_BYTES];

    for (int i = 0; i < READS_A_TURN && f->fd >= 0 && f->o.takes(f->o.ctx); i++) {
        ssize_t n = recv(f->fd, text, sizeof(text), 0);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            return;
        if (n <= 0) {
            finish(f);
            return;
        }
        f->o.on_bytes(f->o.ctx, (str){ text, (size_t)n });
    }
}

/* ---- connecting */

static void refused(struct forward_link *f, int error)
{
    if (!f->why[0])
        snprintf(f->why, sizeof(f->why), "failed to connect to localhost:%d inside the pod: %s",
                 f->o.port, error == ECONNREFUSED ? "connection refused" : uv_strerror(-error));
    hang_up(f);
    f->attempt++;
    dial(f);
}

static void on_connect(struct forward_link *f)
{
    int error = 0;
    socklen_t n = sizeof(error);

    getsockopt(f->fd, SOL_SOCKET, SO_ERROR, &error, &n);
    if (error) {
        refused(f, error);
        return;
    }
    f->connected = true;
    f->why[0] = 0;
}

static void on_ready(uv_poll_t *h, int status, int events)
{
    LOOP_TURN();
    struct forward_link *f = h->data;

    (void)status; /* the socket says what is wrong when it is used */
    (void)events;
    if (!f->connected) {
        on_connect(f);
        if (!f->connected)
            return;
    }
    flush(f);
    if (f->fd >= 0)
        drain(f);
    watch(f);
}

static void watch(struct forward_link *f)
{
    int events = 0;

    if (f->fd < 0)
        return;
    if (!f->connected || forward_link_waiting(f))
        events |= UV_WRITABLE;
    if (f->connected && f->o.takes(f->o.ctx))
        events |= UV_READABLE;
    if (events)
        uv_poll_start(f->poll, events, on_ready);
    else
        uv_poll_stop(f->poll);
}

static void on_dialled(void *arg, int fd, const struct err *e)
{
    struct forward_link *f = arg;

    f->dialling = NULL;
    f->fd = fd;
    if (fd < 0 && e->sys == ECONNREFUSED) {
        refused(f, e->sys);
        return;
    }
    if (fd < 0) {
        if (!f->why[0])
            snprintf(f->why, sizeof(f->why), "%s", e->msg);
        finish(f);
        return;
    }
    f->poll = mem_new(sizeof(*f->poll));
    if (uv_poll_init(loop_uv(f->o.loop), f->poll, f->fd)) {
        free(TAKE(f->poll));
        snprintf(f->why, sizeof(f->why), "the socket cannot be watched");
        finish(f);
        return;
    }
    f->poll->data = f;
    watch(f);
}

static void dial(struct forward_link *f)
{
    struct api_dial_to to = { f->o.port, f->attempt, on_dialled, f };
    struct err e = { 0 };
    int fd = f->o.pods->dial(f->o.pods->ctx, f->o.pod, &to, &f->dialling, &e);

    if (!f->dialling)
        on_dialled(f, fd, &e);
}

/* ---- */

struct forward_link *forward_link_new(const struct forward_link_opts *o)
{
    struct forward_link *f = mem_new(sizeof(*f));

    f->o = *o;
    f->fd = -1;
    dial(f);
    return f;
}

void forward_link_send(struct forward_link *f, str bytes)
{
    if (f->deaf || f->input_ends || f->soon)
        return;
    buf_add(&f->input, bytes);
    flush(f);
    watch(f);
}

void forward_link_send_end(struct forward_link *f)
{
    f->input_ends = true;
    if (f->soon)
        return;
    flush(f);
    watch(f);
}

size_t forward_link_waiting(const struct forward_link *f)
{
    return f->input.n - f->input_at;
}

void forward_link_resume(struct forward_link *f)
{
    watch(f);
}

void forward_link_free(struct forward_link *f)
{
    if (!f)
        return;
    hang_up(f);
    loop_timer_stop(f->soon);
    buf_done(&f->input);
    free(f);
}
