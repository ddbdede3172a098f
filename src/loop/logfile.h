/* Reads a container's log as it was written: over rotated files, from its last lines or from a
 * time on, a bounded amount a call. Plain files, no waiting; for one that grows ask again. */
#pragma once

#include "base/crilog.h"

#include <sys/types.h>

struct logfile_opts {
    int64_t tail;        /* lines; -1: all */
    int64_t since_us;    /* since 1970; 0: all */
    int64_t limit_bytes; /* of what is given out; -1: none */
    bool timestamps;
    /* Instead of text: told which stream each piece is from. */
    void (*on_piece)(void *ctx, enum crilog_stream stream, str text);
    void *ctx;
};

struct logfile;

/* path: the newest file; those before are path.1, path.2 and so on. It need not be there yet. */
struct logfile *logfile_open(const char *path, const struct logfile_opts *o);
void logfile_free(struct logfile *f);
static inline void logfile_auto(struct logfile **f)
{
    logfile_free(*f);
}

enum {
    LOGFILE_DRY = 0,   /* all that is there was read */
    LOGFILE_BUSY = -1, /* there is more to look at: call again */
    LOGFILE_FULL = -2, /* limit_bytes were given out */
};
/* Bytes put at `to`, or one of the above. */
ssize_t logfile_read(struct logfile *f, char *to, size_t n);
