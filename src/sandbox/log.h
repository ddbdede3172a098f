/* What a container prints, into its log file: CRI's lines, cut at a size, never waiting. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

enum { WARDEN_LOG_LINE = 16 * 1024 }; /* longer lines come in parts, as with containerd */

struct warden_log {
    int fd; /* -1: nowhere */
    char *path;
    int64_t size;
    int64_t max_bytes;
    int64_t files;   /* at most: path, path.1 (the one before) ... */
    bool live;       /* somebody may be looking: parts of lines are written as they come */
    int64_t lost;    /* bytes that did not fit on the disk since it was full */
    struct buf line; /* being written */
};

struct warden_stream {
    const char *name; /* stdout, stderr */
    struct buf rest;  /* of a line that has not ended yet */
};

/* path NULL: thrown away. */
int warden_log_open(struct warden_log *l, const char *path, int64_t max_bytes, int64_t files,
                    struct err *e);
void warden_log_done(struct warden_log *l);
void warden_log_add(struct warden_log *l, struct warden_stream *s, str text);
/* At its end: what is left of a line is written as a part of one. */
void warden_log_end(struct warden_log *l, struct warden_stream *s);
