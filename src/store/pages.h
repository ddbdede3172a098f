/* The pages of a database file as its log would have them, read without SQLite: for salvage. */
#pragma once

#include "store/db.h"

struct pages {
    int fd;
    int wal;
    uint32_t n;      /* numbered from 1 */
    int64_t *in_wal; /* where page i is in the log; 0: it is in the file */
    uint32_t in_wal_n;
    bool wal_is_broken; /* an old state of a page may have come back */
};

int pages_open(struct pages *p, const char *path, struct err *e);
void pages_done(struct pages *p);
bool pages_read(const struct pages *p, uint32_t no, unsigned char to[DB_PAGE_BYTES]);

/* How many commits the log of path holds beyond a place where it is broken, so that SQLite would
 * pass over them without a word. One may be a write that was never acknowledged. */
unsigned wal_commits_cut_off(const char *path);
