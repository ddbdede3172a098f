/* Reading the whole file at the start, believing none of it: each row has its checksum, each row
 * its name in `names`, and SQLite's own structure is checked first. */

#include "store/db.h"

#include <string.h>

static bool is_damage(int rc)
{
    rc &= 0xff;
    return rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB || rc == SQLITE_FORMAT;
}

static str column_str(sqlite3_stmt *st, int i)
{
    const void *p = sqlite3_column_blob(st, i);

    return (str){ p, (size_t)sqlite3_column_bytes(st, i) };
}

static struct db_row read_row(sqlite3_stmt *st, int at)
{
    return (struct db_row){
        .coll = column_str(st, at),
        .key = column_str(st, at + 1),
        .rev = sqlite3_column_int64(st, at + 2),
        .create_rev = sqlite3_column_int64(st, at + 3),
        .crc = (uint32_t)sqlite3_column_int64(st, at + 4),
        .value = column_str(st, at + 5),
    };
}

/* Steps through objects and names side by side: 0 all is well, 1 damage, -1 failure. */
static int read_rows(sqlite3_stmt *rows, sqlite3_stmt *names, const struct db_reader *to,
                     int64_t *max_rev)
{
    int64_t last = INT64_MIN;
    int rc = 0;

    while ((rc = sqlite3_step(rows)) == SQLITE_ROW) {
        struct db_row r = read_row(rows, 1);
        r.id = sqlite3_column_int64(rows, 0);
        if (r.id <= last || r.crc != db_row_crc(&r))
            return 1;
        last = r.id;
        int named = sqlite3_step(names);
        if (named != SQLITE_ROW)
            return named == SQLITE_DONE || is_damage(named) ? 1 : -1;
        if (sqlite3_column_int64(names, 0) != r.id || !str_eq(column_str(names, 1), r.coll) ||
            !str_eq(column_str(names, 2), r.key))
            return 1;
        if (r.rev > *max_rev)
            *max_rev = r.rev;
        if (!to->row(to->ctx, &r))
            return 1;
    }
    if (rc != SQLITE_DONE)
        return is_damage(rc) ? 1 : -1;
    rc = sqlite3_step(names);
    if (rc == SQLITE_DONE)
        return 0;
    return rc == SQLITE_ROW || is_damage(rc) ? 1 : -1;
}

/* What earlier starts put aside is still told. */
static int read_damaged(sqlite3_stmt *st, const struct db_reader *to)
{
    int rc = 0;

    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        struct db_row r = read_row(st, 0);
        const unsigned char *what = sqlite3_column_text(st, 6);
        to->damage(to->ctx, &r, what ? (const char *)what : "");
    }
    if (rc == SQLITE_DONE)
        return 0;
    return is_damage(rc) ? 1 : -1;
}

/* The last revision: the meta row's word, if it is whole and no row knows better. */
static int read_rev(sqlite3_stmt *st, int64_t max_rev, int64_t *rev)
{
    int rc = sqlite3_step(st);

    if (rc == SQLITE_DONE && max_rev == 0) { /* a new file */
        *rev = 1;
        return 0;
    }
    if (rc != SQLITE_ROW)
        return rc == SQLITE_DONE || is_damage(rc) ? 1 : -1;
    *rev = sqlite3_column_int64(st, 0);
    return sqlite3_column_int64(st, 1) == db_rev_crc(*rev) && *rev >= max_rev ? 0 : 1;
}

static int check_structure(sqlite3_stmt *st)
{
    int rc = sqlite3_step(st);

    if (rc != SQLITE_ROW)
        return is_damage(rc) ? 1 : -1;
    const unsigned char *said = sqlite3_column_text(st, 0);
    return said && strcmp((const char *)said, "ok") == 0 ? 0 : 1;
}

int db_load(struct db *d, const struct db_reader *to, int64_t *rev, bool *damaged, struct err *e)
{
    static const char *const texts[] = {
        "PRAGMA quick_check(1)",
        "SELECT id, coll, key, rev, create_rev, crc, value FROM objects ORDER BY id",
        "SELECT id, coll, key FROM names ORDER BY id",
        "SELECT coll, key, rev, create_rev, crc, value, what FROM damaged ORDER BY id",
        "SELECT rev, crc FROM meta WHERE id = 1",
    };
    sqlite3_stmt *st[COUNT(texts)] = { 0 };
    int64_t max_rev = 0;
    int rc = 0;

    for (size_t i = 0; i < COUNT(texts) && rc == 0; i++) {
        int got = sqlite3_prepare_v2(d->sql, texts[i], -1, &st[i], NULL);
        rc = got == SQLITE_OK ? 0 : is_damage(got) || got == SQLITE_ERROR ? 1 : -1;
    }
    rc = rc ? rc : check_structure(st[0]);
    rc = rc ? rc : read_rows(st[1], st[2], to, &max_rev);
    rc = rc ? rc : read_damaged(st[3], to);
    rc = rc ? rc : read_rev(st[4], max_rev, rev);
    if (rc < 0)
        err_set(e, ERR_IO, "read %s: %s", d->path, sqlite3_errmsg(d->sql));
    for (size_t i = 0; i < COUNT(texts); i++)
        sqlite3_finalize(st[i]);
    sqlite3_db_release_memory(d->sql);
    *damaged = rc > 0;
    return rc < 0 ? -1 : 0;
}
