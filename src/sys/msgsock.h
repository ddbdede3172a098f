/* Messages over a unix socket, with descriptors: bytes after their number. What the node says to
 * wardens and to the hub of the pod network, and they to it. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

enum {
    MSGSOCK_BYTES = 4 * 1024 * 1024, /* most that one message may have */
    MSGSOCK_FDS = 4,                 /* and descriptors */
};

struct msgsock_out {
    char *text;
    size_t n;
    size_t at; /* sent so far */
    int fd;    /* goes with its first byte; -1: none */
};

struct msgsock {
    int fd; /* -1: none */
    struct buf in;
    size_t taken; /* bytes of in that were taken as messages */
    struct {
        VEC(int);
    } fds; /* came in, not taken yet, in order */
    struct {
        VEC(struct msgsock_out);
    } out;
    size_t queued; /* bytes */
};

void msgsock_init(struct msgsock *w, int fd); /* takes fd, which must not block */
void msgsock_done(struct msgsock *w);
/* Reads what there is. -1: the other side is gone, or (ERR_INVALID) does not speak in messages. */
int msgsock_fill(struct msgsock *w, struct err *e);
/* One whole message; false: none yet. Valid until the next fill. */
bool msgsock_next(struct msgsock *w, str *message);
/* All messages taken were dealt with. -1: what came after them is none (ERR_INVALID). */
int msgsock_used(struct msgsock *w, struct err *e);
int msgsock_take_fd(struct msgsock *w); /* -1: there is none */
/* fds are borrowed (copies are sent); at most MSGSOCK_FDS. -1: the other side does not read. */
int msgsock_say(struct msgsock *w, str message, const int *fds, size_t nfds);
int msgsock_flush(struct msgsock *w);        /* -1: gone */
bool msgsock_waits(const struct msgsock *w); /* for room to write */
