/* SQLite as a durable bag of rows: WAL, full sync, exclusive, small cache. `names` repeats what
 * `objects` says of each row's name, so that a page that cannot be read can still be told by name.
 * Freed space is zeroed, so that salvage never finds what was deleted. */

#include "store/db.h"

#include "loop/log.h"
#include "store/crc32c.h"
#include "store/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char schema[] =
    DB_SCHEMA_MARK " key TEXT, rev INTEGER, create_rev INTEGER, crc INTEGER, value BLOB);"
                   "CREATE TABLE names(id INTEGER PRIMARY KEY, coll TEXT, key TEXT);"
                   "CREATE TABLE meta(id INTEGER PRIMARY KEY, rev INTEGER, crc INTEGER);"
                   "CREATE TABLE damaged(id INTEGER PRIMARY KEY, coll TEXT, key TEXT, rev INTEGER,"
                   " create_rev INTEGER, crc INTEGER, value BLOB, what TEXT);";

static const char *const texts[DB_STMTS] = {
    [DB_BEGIN] = "BEGIN IMMEDIATE",
    [DB_COMMIT] = "COMMIT",
    [DB_PUT] = "REPLACE INTO objects VALUES(?, ?, ?, ?, ?, ?, ?)",
    [DB_NAME] = "REPLACE INTO names VALUES(?, ?, ?)",
    [DB_DELETE] = "DELETE FROM objects WHERE id = ?",
    [DB_UNNAME] = "DELETE FROM names WHERE id = ?",
    [DB_META] = "REPLACE INTO meta VALUES(1, ?, ?)",
    [DB_KEEP] = "INSERT INTO damaged VALUES(NULL, ?, ?, ?, ?, ?, ?, ?)",
};

static uint32_t crc_int(uint32_t crc, int64_t n)
{
    char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (char)((uint64_t)n >> (8 * i));
    return crc32c(crc, (str){ bytes, 8 });
}

uint32_t db_row_crc(const struct db_row *r)
{
    uint32_t crc = crc_int(0, (int64_t)r->coll.n);

    crc = crc32c(crc, r->coll);
    crc = crc_int(crc, (int64_t)r->key.n);
    crc = crc32c(crc, r->key);
    crc = crc_int(crc, r->rev);
    crc = crc_int(crc, r->create_rev);
    return crc32c(crc, r->value);
}

uint32_t db_rev_crc(int64_t rev)
{
    return crc_int(0, rev);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool is_full(int sys)
{
    return sys == ENOSPC || sys == EDQUOT || sys == EFBIG;
}

/* What the system said of the last failure on the file or, more often, its log. */
static int last_errno(const struct db *d)
{
    sqlite3_file *log = NULL;
    int sys = 0;

    sqlite3_file_control(d->sql, NULL, SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (log && log->pMethods)
        log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &sys);
    if (!sys)
        sqlite3_file_control(d->sql, NULL, SQLITE_FCNTL_LAST_ERRNO, &sys);
    return sys ? sys : sqlite3_system_errno(d->sql);
}

static int fail(const struct db *d, const char *doing, struct err *e)
{
    int rc = sqlite3_errcode(d->sql) & 0xff;
    int sys = rc == SQLITE_IOERR || rc == SQLITE_CANTOPEN ? last_errno(d) : 0;

    if (rc == SQLITE_FULL || is_full(sys))
        return err_set(e, ERR_STORAGE_FULL, "%s %s: database or disk is full", doing,
                       base_name(d->path));
    if (rc == SQLITE_BUSY)
        return err_set(e, ERR_CONFLICT, "%s is in use by another process", d->path);
    if (sys) {
        errno = sys;
        return err_sys(e, "%s %s: %s", doing, base_name(d->path), sqlite3_errmsg(d->sql));
    }
    return err_set(e, ERR_IO, "%s %s: %s", doing, base_name(d->path), sqlite3_errmsg(d->sql));
}

static int exec(const struct db *d, const char *sql, const char *doing, struct err *e)
{
    return sqlite3_exec(d->sql, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(d, doing, e);
}

static int on_int(void *to, int n, char **cells, char **names)
{
    (void)names;
    if (n && cells[0])
        *(int64_t *)to = strtoll(cells[0], NULL, 10);
    return 0;
}

static int ask(const struct db *d, const char *sql, int64_t *out, struct err *e)
{
    int rc = sqlite3_exec(d->sql, sql, on_int, out, NULL);

    return rc == SQLITE_OK ? 0 : fail(d, "read", e);
}

static int on_wal(void *to, sqlite3 *sql, const char *name, int pages)
{
    (void)sql;
    (void)name;
    ((struct db *)to)->wal_pages = pages;
    return SQLITE_OK;
}

/* Whose file is this? Looks at page 1 itself; no connection to it may be open in this process. */
static bool looks_ours(const char *path)
{
    char page[DB_PAGE_BYTES] = { 0 };
    FILE *f = fopen(path, "rbe");
    size_t n = f ? fread(page, 1, sizeof(page), f) : 0;

    if (f)
        fclose(f);
    return memmem(page, n, DB_SCHEMA_MARK, sizeof(DB_SCHEMA_MARK) - 1) ||
           (n >= 72 && memcmp(page + 68, "\x4d\x73\x74\x72", 4) == 0 &&
            memcmp(page + 60, "\0\0\0\1", 4) == 0);
}

static int create(struct db *d, struct err *e)
{
    char pragmas[96];

    snprintf(pragmas, sizeof(pragmas), "PRAGMA application_id = %d; PRAGMA user_version = %d",
             DB_APPLICATION, DB_FORMAT);
    if (exec(d, "BEGIN IMMEDIATE", "create", e) < 0 || exec(d, schema, "create", e) < 0 ||
        exec(d, pragmas, "create", e) < 0 || exec(d, "COMMIT", "create", e) < 0)
        return -1;
    return 0;
}

/* The file's own word on what it is. *suspect: ours all the same, if page 1 looks like it. */
static int identify(struct db *d, bool *suspect, struct err *e)
{
    char compare[sizeof(schema) + 128];
    int64_t application = 0;
    int64_t format = 0;
    int64_t tables = 0;
    int64_t as_made = 0;

    snprintf(compare, sizeof(compare),
             "SELECT group_concat(sql, ';') || ';' = '%s' FROM sqlite_schema", schema);
    if (ask(d, "PRAGMA application_id", &application, e) < 0 ||
        ask(d, "PRAGMA user_version", &format, e) < 0 ||
        ask(d, "SELECT count(*) FROM sqlite_schema", &tables, e) < 0 ||
        ask(d, compare, &as_made, e) < 0)
        return -1;
    if (!application && !format && !tables)
        return create(d, e);
    *suspect = true;
    if (application != DB_APPLICATION)
        return err_set(e, ERR_INVALID, "%s is not a Muster store", d->path);
    if (format != DB_FORMAT)
        return err_set(e, ERR_INVALID,
                       "%s was written by a newer Muster (format %" PRId64 ", this one knows %d)",
                       d->path, format, DB_FORMAT);
    if (!as_made)
        return err_set(e, ERR_IO, "the schema of %s is damaged", d->path);
    *suspect = false;
    return 0;
}

/* SQLite passes over what follows a broken place in its log without a word. It has the lock by now,
 * so nobody is writing there. */
static int check_log(struct db *d, bool *suspect, struct err *e)
{
    unsigned cut_off = wal_commits_cut_off(d->path);

    *suspect = cut_off > 1;
    if (cut_off > 1)
        return err_set(e, ERR_IO, "the log of %s is damaged", d->path);
    if (cut_off)
        log_warn("the last write was cut off; it may not have been acknowledged",
                 KVZ("path", d->path));
    return 0;
}

static int prepare(struct db *d, struct err *e)
{
    for (int i = 0; i < DB_STMTS; i++)
        if (sqlite3_prepare_v3(d->sql, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &d->stmts[i],
                               NULL) != SQLITE_OK)
            return fail(d, "open", e);
    return 0;
}

_Static_assert(DB_PAGE_BYTES == 8192, "as the pragma below says");

static int open_sql(struct db *d, bool *suspect, struct err *e)
{
    bool in_memory = strcmp(d->path, ":memory:") == 0;

    /* never opened and closed by hand while somebody in this process may hold its lock */
    int fd = in_memory ? -1 : open(d->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    else if (!in_memory && errno != EEXIST)
        return err_sys(e, "open %s", d->path);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(d->path, &d->sql, flags, NULL) != SQLITE_OK)
        return fail(d, "open", e);
    sqlite3_extended_result_codes(d->sql, 1);
    sqlite3_db_config(d->sql, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL); /* see db_tidy */
    if (exec(d,
             "PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = 8192; PRAGMA cache_size = -1024;"
             "PRAGMA mmap_size = 0; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;"
             "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;",
             "open", e) < 0)
        return -1;
    if (identify(d, suspect, e) < 0 || check_log(d, suspect, e) < 0)
        return -1;
    if (exec(d,
             "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
             "PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 8388608",
             "open", e) < 0)
        return -1;
    sqlite3_wal_hook(d->sql, on_wal, d); /* after wal_autocheckpoint, which is a hook itself */
    return prepare(d, e);
}

int db_open(struct db *d, const char *path, bool *damaged, struct err *e)
{
    struct err why = { 0 };
    bool suspect = false;

    *d = (struct db){ .path = path };
    *damaged = false;
    if (open_sql(d, &suspect, &why) == 0)
        return 0;
    int rc = sqlite3_errcode(d->sql) & 0xff;
    db_close(d);
    bool unreadable = rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB;
    if (unreadable)
        err_set(&why, ERR_INVALID, "%s is not a Muster store", path);
    *damaged = (suspect || unreadable) && looks_ours(path);
    if (e)
        *e = why;
    return -1;
}

bool db_empty_log(struct db *d)
{
    return sqlite3_wal_checkpoint_v2(d->sql, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) ==
           SQLITE_OK;
}

int db_tidy(struct db *d, struct err *e)
{
    if (!db_empty_log(d))
        return fail(d, "write to", e);
    sqlite3_db_config(d->sql, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL); /* the log may go */
    return 0;
}

void db_close(struct db *d)
{
    for (int i = 0; i < DB_STMTS; i++)
        sqlite3_finalize(d->stmts[i]);
    sqlite3_close(d->sql);
    *d = (struct db){ 0 };
}

static int run(struct db *d, enum db_stmt which, struct err *e)
{
    sqlite3_stmt *st = d->stmts[which];

    if (sqlite3_step(st) == SQLITE_DONE) {
        sqlite3_reset(st);
        return 0;
    }
    fail(d, "write to", e); /* before the reset: it may take the errno with it */
    sqlite3_reset(st);
    return -1;
}

static void bind_str(sqlite3_stmt *st, int at, str s)
{
    sqlite3_bind_text(st, at, s.p ? s.p : "", (int)s.n, SQLITE_STATIC);
}

int db_begin(struct db *d, struct err *e)
{
    return run(d, DB_BEGIN, e);
}

int db_put(struct db *d, const struct db_row *r, bool is_new, struct err *e)
{
    sqlite3_stmt *st = d->stmts[DB_PUT];

    sqlite3_bind_int64(st, 1, r->id);
    bind_str(st, 2, r->coll);
    bind_str(st, 3, r->key);
    sqlite3_bind_int64(st, 4, r->rev);
    sqlite3_bind_int64(st, 5, r->create_rev);
    sqlite3_bind_int64(st, 6, r->crc);
    sqlite3_bind_blob(st, 7, r->value.p ? r->value.p : "", (int)r->value.n, SQLITE_STATIC);
    if (run(d, DB_PUT, e) < 0)
        return -1;
    if (!is_new)
        return 0;
    st = d->stmts[DB_NAME];
    sqlite3_bind_int64(st, 1, r->id);
    bind_str(st, 2, r->coll);
    bind_str(st, 3, r->key);
    return run(d, DB_NAME, e);
}

int db_delete(struct db *d, int64_t id, struct err *e)
{
    sqlite3_bind_int64(d->stmts[DB_DELETE], 1, id);
    sqlite3_bind_int64(d->stmts[DB_UNNAME], 1, id);
    return run(d, DB_DELETE, e) < 0 || run(d, DB_UNNAME, e) < 0 ? -1 : 0;
}

int db_keep_damaged(struct db *d, const struct db_row *r, const char *what, struct err *e)
{
    sqlite3_stmt *st = d->stmts[DB_KEEP];

    bind_str(st, 1, r->coll);
    bind_str(st, 2, r->key);
    sqlite3_bind_int64(st, 3, r->rev);
    sqlite3_bind_int64(st, 4, r->create_rev);
    sqlite3_bind_int64(st, 5, r->crc);
    sqlite3_bind_blob(st, 6, r->value.p, (int)r->value.n, SQLITE_STATIC);
    sqlite3_bind_text(st, 7, what, -1, SQLITE_STATIC);
    return run(d, DB_KEEP, e);
}

int db_commit(struct db *d, int64_t rev, struct err *e)
{
    sqlite3_bind_int64(d->stmts[DB_META], 1, rev);
    sqlite3_bind_int64(d->stmts[DB_META], 2, db_rev_crc(rev));
    return run(d, DB_META, e) < 0 || run(d, DB_COMMIT, e) < 0 ? -1 : 0;
}

void db_rollback(struct db *d)
{
    if (!sqlite3_get_autocommit(d->sql)) /* else SQLite has done so by itself */
        sqlite3_exec(d->sql, "ROLLBACK", NULL, NULL, NULL);
}

bool db_checkpoint(struct db *d)
{
    int pages = 0;
    int moved = 0;

    return sqlite3_wal_checkpoint_v2(d->sql, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, &moved) ==
               SQLITE_OK &&
           pages > 0 && pages == moved;
}
