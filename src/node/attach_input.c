/* What a client types, from a descriptor of its to the standard input of a container: held up by
 * whichever is slower, and never more than a little of it here. */

#include "base/mem.h"
#include "loop/watchdog.h"
#include "node/exec.h"
#include "node/internal.h"
#include "node/warden.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <uv.h>

enum { PIECE = 16 * 1024 };

struct side {
    struct attach_input *of;
    int fd; /* -1: none, or closed */
    uv_poll_t poll;
};

struct attach_input {
    struct pod *pod;
    struct attach_input_opts o;
    char *container;
    struct side from, to;
    uint64_t asked; /* for the container's side; 0: it came */
    bool over;      /* the client sends no more */
    bool freed;
    int rows, cols;
    unsigned handles;
    size_t at, n;
    char piece[PIECE];
};

static void resume(struct attach_input *t);

static void maybe_free(struct attach_input *t)
{
    if (!t->freed || t->handles)
        return;
    free(t->container);
    free(t);
}

static void on_closed(uv_handle_t *h)
{
    struct side *s = h->data;

    s->of->handles--;
    maybe_free(s->of);
}

static void side_close(struct side *s)
{
    if (s->fd < 0)
        return;
    uv_poll_stop(&s->poll);
    close(s->fd);
    s->fd = -1;
    uv_close((uv_handle_t *)&s->poll, on_closed);
}

/* Takes fd. */
static void side_open(struct attach_input *t, struct side *s, int fd)
{
    if (fd < 0)
        return;
    if (uv_poll_init(loop_uv(t->pod->n->o.loop), &s->poll, fd)) {
        close(fd);
        return;
    }
    s->of = t;
    s->fd = fd;
    s->poll.data = s;
    t->handles++;
}

static void on_ready(uv_poll_t *h, int status, int events)
{
    LOOP_TURN();
    const struct side *s = h->data;

    (void)status; /* reading or writing says what is wrong */
    (void)events;
    resume(s->of);
}

static void end_input(struct attach_input *t)
{
    side_close(&t->from);
    side_close(&t->to);
    if (t->o.once && t->pod->rt && !t->over)
        warden_input_end(t->pod->rt, str_of(t->container));
    t->over = true;
}

/* False: nothing came now. */
static bool fill(struct attach_input *t)
{
    ssize_t n = read(t->from.fd, t->piece, sizeof(t->piece));

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    t->at = 0;
    t->n = n > 0 ? (size_t)n : 0;
    if (n <= 0)
        end_input(t);
    return n > 0;
}

static void resume(struct attach_input *t)
{
    while (t->from.fd >= 0 && t->to.fd >= 0) {
        if (t->at == t->n && !fill(t))
            break;
        if (t->to.fd < 0)
            return;
        ssize_t n = write(t->to.fd, t->piece + t->at, t->n - t->at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) { /* nobody reads it any more */
            end_input(t);
            return;
        }
        t->at += (size_t)n;
    }
    if (t->from.fd < 0 || t->to.fd < 0)
        return;
    if (t->at < t->n) {
        uv_poll_stop(&t->from.poll);
        uv_poll_start(&t->to.poll, UV_WRITABLE, on_ready);
    } else {
        uv_poll_stop(&t->to.poll);
        uv_poll_start(&t->from.poll, UV_READABLE | UV_DISCONNECT, on_ready);
    }
}

static void set_size(const struct attach_input *t)
{
    struct winsize size = { .ws_row = (unsigned short)t->rows, .ws_col = (unsigned short)t->cols };

    if (t->to.fd >= 0 && t->rows > 0 && t->cols > 0)
        ioctl(t->to.fd, TIOCSWINSZ, &size); /* what is no terminal has no size */
}

static void on_fd(void *ctx, int fd, str why)
{
    struct attach_input *t = ctx;

    (void)why; /* what is sent goes nowhere, as on a cluster */
    t->asked = 0;
    if (t->over && fd >= 0)
        close(fd);
    else
        side_open(t, &t->to, fd);
    set_size(t);
    resume(t);
    if (t->o.opened)
        t->o.opened(t->o.ctx);
}

struct attach_input *attach_input_start(struct pod *p, const struct attach_input_opts *o)
{
    struct attach_input *t = mem_new(sizeof(*t));

    t->pod = p;
    t->o = *o;
    t->container = mem_or_abort(strndup(o->container.p, o->container.n));
    t->from.fd = t->to.fd = -1;
    side_open(t, &t->from, o->from);
    t->asked = warden_input_open(p->rt, str_of(t->container), on_fd, t);
    return t;
}

void attach_input_resize(struct attach_input *t, int rows, int cols)
{
    if (!t)
        return;
    t->rows = rows;
    t->cols = cols;
    set_size(t);
}

void attach_input_free(struct attach_input *t)
{
    if (!t)
        return;
    if (t->asked && t->pod->rt)
        warden_input_cancel(t->pod->rt, t->asked);
    end_input(t);
    t->freed = true;
    maybe_free(t);
}
