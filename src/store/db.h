/* The file: its format, its statements, and how rows come in and go out. One thread at a time. */
#pragma once

#include "base/arena.h"
#include "base/blob.h"
#include "base/err.h"

#include <sqlite3.h>

enum {
    DB_APPLICATION = 0x4d737472, /* "Mstr" */
    DB_FORMAT = 1,
    DB_PAGE_BYTES = 8192, /* holds three pods: a third less CPU and disk than 4096 */
    DB_SAFE_JUMP =
        1000000, /* when the last revision is lost: more than deletions can have hidden */
};
#define DB_SCHEMA_MARK "CREATE TABLE objects(id INTEGER PRIMARY KEY, coll TEXT, /* muster 1 */"

enum db_stmt {
    DB_BEGIN,
    DB_COMMIT,
    DB_PUT,
    DB_NAME,
    DB_DELETE,
    DB_UNNAME,
    DB_META,
    DB_KEEP,
    DB_STMTS
};

struct db {
    sqlite3 *sql;
    sqlite3_stmt *stmts[DB_STMTS];
    const char *path; /* borrowed */
    int wal_pages;    /* in the log since it last started over */
};

struct db_row {
    int64_t id;
    str coll;
    str key;
    int64_t rev;
    int64_t create_rev;
    uint32_t crc;
    str value;
};

uint32_t db_row_crc(const struct db_row *r); /* over all but the id */
uint32_t db_rev_crc(int64_t rev);

/* ERR_CONFLICT: somebody else has it. ERR_INVALID: not ours, or newer. *damaged: ours, but broken
 * so that SQLite will not have it (d is closed again). */
int db_open(struct db *d, const char *path, bool *damaged, struct err *e);
void db_close(struct db *d);              /* leaves file and log as they are */
int db_tidy(struct db *d, struct err *e); /* before closing for good: empties the log */

int db_begin(struct db *d, struct err *e);
int db_put(struct db *d, const struct db_row *r, bool is_new, struct err *e);
int db_delete(struct db *d, int64_t id, struct err *e);
int db_keep_damaged(struct db *d, const struct db_row *r, const char *what, struct err *e);
/* Commits, with rev as the last revision. After a failure of any step: db_rollback. */
int db_commit(struct db *d, int64_t rev, struct err *e);
void db_rollback(struct db *d);
/* Moves the log into the file; false: nothing came of it. */
bool db_checkpoint(struct db *d);
bool db_empty_log(struct db *d); /* and gives its room back, too */

/* Reads everything. *damaged: it cannot be taken as it is; db_row and db_damage calls made so far
 * are void. Rows come in the order of their ids; what they point to is valid during the call. */
struct db_reader {
    bool (*row)(void *ctx, const struct db_row *r); /* false: its name is there already */
    void (*damage)(void *ctx, const struct db_row *r, const char *what);
    void *ctx;
};
int db_load(struct db *d, const struct db_reader *to, int64_t *rev, bool *damaged, struct err *e);

/* Builds a new file out of what can be read of the damaged one, which is kept beside it. */
int db_salvage(const char *path, struct err *e);
/* Finishes a salvage that was cut short, if there is one. */
int db_salvage_finish(const char *path, struct err *e);
