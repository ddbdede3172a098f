/* Room on disk that is kept for deletions: the file `reserve` beside the database, let go when the
 * disk is full and taken again when there is room. */
#pragma once

#include "base/str.h"

enum { RESERVE_BYTES = 16 * 1024 * 1024 };

struct reserve {
    char *path;
    int64_t bytes; /* 0: none is kept (in memory, or the file system cannot) */
    bool is_held;
};

void reserve_open(struct reserve *r, const char *db_path);
void reserve_done(struct reserve *r); /* the file stays */
bool reserve_take(
    struct reserve *r); /* false: there is no room for it; true too where none is kept */
void reserve_release(struct reserve *r);
