/* Messages in and out of a socket, bounded both ways. A message is its length (four bytes, as this
 * machine has them) and its bytes. Descriptors are kept in the order they came; the message that
 * needs them takes them. */

#include "sys/msgsock.h"

#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { READ_BYTES = 64 * 1024, HEAD = 4, QUEUE_BYTES = 2 * MSGSOCK_BYTES, MOST_FDS = 64 };

void msgsock_init(struct msgsock *w, int fd)
{
    *w = (struct msgsock){ .fd = fd };
}

void msgsock_done(struct msgsock *w)
{
    if (w->fd >= 0)
        close(w->fd);
    for (size_t i = 0; i < w->fds.n; i++)
        close(w->fds.at[i]);
    for (size_t i = 0; i < w->out.n; i++) {
        free(w->out.at[i].text);
        if (w->out.at[i].fd >= 0)
            close(w->out.at[i].fd);
    }
    vec_done(&w->fds);
    vec_done(&w->out);
    buf_done(&w->in);
    *w = (struct msgsock){ .fd = -1 };
}

/* Of the message that comes next; 0: not known yet. */
static uint32_t next_length(const struct msgsock *w)
{
    uint32_t len = 0;

    if (w->in.n - w->taken >= HEAD)
        memcpy(&len, w->in.p + w->taken, HEAD);
    return len;
}

static int check_length(const struct msgsock *w, struct err *e)
{
    return next_length(w) > MSGSOCK_BYTES
               ? err_set(e, ERR_INVALID, "a message has over %d bytes", MSGSOCK_BYTES)
               : 0;
}

int msgsock_fill(struct msgsock *w, struct err *e)
{
    /* for all of a thread: what is kept of it is little */
    static _Thread_local char text[READ_BYTES];
    int fds[SYS_FDS];
    size_t nfds;

    for (;;) {
        ssize_t n = sys_recv_fds(w->fd, text, sizeof(text), fds, &nfds);
        if (n < 0 && (errno == EAGAIN))
            return 0;
        if (n < 0)
            return err_sys(e, "read");
        for (size_t i = 0; i < nfds; i++)
            vec_push(&w->fds, fds[i]);
        if (n == 0)
            return err_set(e, ERR_IO, "closed by the other side");
        buf_add(&w->in, (str){ text, (size_t)n });
        if (w->fds.n > MOST_FDS)
            return err_set(e, ERR_TOO_LARGE, "more descriptors than messages for them");
        if (check_length(w, e) < 0)
            return -1;
        if (w->in.n - w->taken >= HEAD + MSGSOCK_BYTES)
            return 0; /* the rest after these */
    }
}

bool msgsock_next(struct msgsock *w, str *message)
{
    uint32_t len = next_length(w);

    if (w->in.n - w->taken < HEAD + (size_t)len || len > MSGSOCK_BYTES)
        return false;
    *message = (str){ w->in.p + w->taken + HEAD, len };
    w->taken += HEAD + (size_t)len;
    return true;
}

int msgsock_used(struct msgsock *w, struct err *e)
{
    if (w->taken == 0)
        return 0;
    memmove(w->in.p, w->in.p + w->taken, w->in.n - w->taken);
    w->in.n -= w->taken;
    w->taken = 0;
    if (w->in.n == 0)
        buf_done(&w->in); /* hundreds of them, and most are silent most of the time */
    return check_length(w, e);
}

int msgsock_take_fd(struct msgsock *w)
{
    if (w->fds.n == 0)
        return -1;
    int fd = w->fds.at[0];
    memmove(w->fds.at, w->fds.at + 1, (w->fds.n - 1) * sizeof(int));
    w->fds.n--;
    return fd;
}

static void queue(struct msgsock *w, const char *text, size_t n, int fd)
{
    struct msgsock_out o = { .text = mem_room(n), .n = n, .fd = -1 };

    memcpy(o.text, text, n);
    if (fd >= 0)
        o.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    vec_push(&w->out, o);
    w->queued += n;
}

/* Descriptor i goes with byte i of the message, which is of its length: four at most. */
int msgsock_say(struct msgsock *w, str message, const int *fds, size_t nfds)
{
    AUTO(buf) struct buf b = { 0 };
    uint32_t len = (uint32_t)message.n;

    if (w->fd < 0 || message.n > MSGSOCK_BYTES || w->queued + HEAD + message.n > QUEUE_BYTES)
        return -1;
    buf_add(&b, (str){ (const char *)&len, HEAD });
    buf_add(&b, message);
    for (size_t i = 0; i < nfds; i++)
        queue(w, b.p + i, 1, fds[i]);
    queue(w, b.p + nfds, b.n - nfds, -1);
    return msgsock_flush(w);
}

int msgsock_flush(struct msgsock *w)
{
    size_t done = 0;
    int rc = 0;

    for (; done < w->out.n; done++) {
        struct msgsock_out *o = &w->out.at[done];
        while (o->at < o->n) {
            ssize_t n = sys_send_fd(w->fd, o->text + o->at, o->n - o->at, o->at ? -1 : o->fd);
            if (n < 0) {
                rc = errno == EAGAIN ? 0 : -1;
                goto out;
            }
            o->at += (size_t)n;
            w->queued -= (size_t)n;
        }
        free(o->text);
        if (o->fd >= 0)
            close(o->fd);
    }
out:
    w->out.n -= done;
    if (done && w->out.n)
        memmove(w->out.at, w->out.at + done, w->out.n * sizeof(*w->out.at));
    return rc;
}

bool msgsock_waits(const struct msgsock *w)
{
    return w->out.n > 0;
}
