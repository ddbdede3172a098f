/* The last changes that were acknowledged, by name, in the file `changes` beside the database: when
 * the database turns out to end before them, we know that something is missing, and what. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct changed {
    str coll, key;
    int64_t rev;
    bool is_delete;
};

/* Of what was acknowledged before this start. */
struct changes_past {
    int64_t rev; /* the last one; 0: not known */
    int64_t end; /* of the last line */
    struct changed *at;
    size_t n;
};
/* db_path: of the database. No file, or one that cannot be read: nothing is known. */
struct changes_past changes_read(struct arena *a, const char *db_path);

/* Writing. One thread at a time. */
struct changes {
    int fd;         /* -1: nothing is written */
    int64_t at;     /* where the next ones go */
    struct buf new; /* added, and not yet written */
    bool is_failing;
};
void changes_open(struct changes *c, const char *db_path, int64_t at); /* at: past.end */
void changes_close(struct changes *c);
void changes_add(struct changes *c, const struct changed *one);
/* Writes what was added, once the database has it on disk and before anybody is told. */
void changes_write(struct changes *c);
/* All before now is in the database file, and its log may start over; so do we. */
void changes_restart(struct changes *c);
