/* JSON lines over a unix socket, with descriptors: what node and warden say to each other. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/vec.h"

enum { MSGSOCK_LINE_BYTES = 4 * 1024 * 1024 }; /* one message */

struct msgsock_out {
    char *text;
    size_t n;
    size_t at; /* sent so far */
    int fd;    /* goes with its first byte; -1: none */
};

struct msgsock {
    int fd; /* -1: none */
    struct buf in;
    size_t looked; /* bytes of in that hold no end of line */
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
/* Reads what there is. -1: the other side is gone, or has broken the rules. */
int msgsock_fill(struct msgsock *w, struct err *e);
/* One whole line; false: none yet. Valid until the next fill. */
bool msgsock_line(struct msgsock *w, str *line);
void msgsock_used(struct msgsock *w);   /* all lines taken were dealt with */
int msgsock_take_fd(struct msgsock *w); /* -1: there is none */
/* fds are borrowed (copies are sent); at most 3. -1: the other side does not read. */
int msgsock_say(struct msgsock *w, jv v, const int *fds, size_t nfds);
int msgsock_flush(struct msgsock *w);        /* -1: gone */
bool msgsock_waits(const struct msgsock *w); /* for room to write */
