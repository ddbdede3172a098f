/* JSON lines over a unix socket, with descriptors: what node and warden say to each other. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/vec.h"

struct warden_out {
    char *text;
    size_t n;
    size_t at; /* sent so far */
    int fd;    /* goes with its first byte; -1: none */
};

struct warden_wire {
    int fd; /* -1: none */
    struct buf in;
    size_t looked; /* bytes of in that hold no end of line */
    struct {
        VEC(int);
    } fds; /* came in, not taken yet, in order */
    struct {
        VEC(struct warden_out);
    } out;
    size_t queued; /* bytes */
};

void warden_wire_init(struct warden_wire *w, int fd); /* takes fd, which must not block */
void warden_wire_done(struct warden_wire *w);
/* Reads what there is. -1: the other side is gone, or has broken the rules. */
int warden_wire_fill(struct warden_wire *w, struct err *e);
/* One whole line; false: none yet. Valid until the next fill. */
bool warden_wire_line(struct warden_wire *w, str *line);
void warden_wire_used(struct warden_wire *w);   /* all lines taken were dealt with */
int warden_wire_take_fd(struct warden_wire *w); /* -1: there is none */
/* fds are borrowed (copies are sent); at most 3. -1: the other side does not read. */
int warden_wire_say(struct warden_wire *w, jv v, const int *fds, size_t nfds);
int warden_wire_flush(struct warden_wire *w);        /* -1: gone */
bool warden_wire_waits(const struct warden_wire *w); /* for room to write */
