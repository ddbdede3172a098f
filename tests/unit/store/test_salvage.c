/* Damage that is known in advance: what becomes of a row, of the last revision, of a rescue that
 * was cut short. */

#include "help.h"

#include <sqlite3.h>

static char path[128];

static void sql(const char *file, const char *text)
{
    sqlite3 *db = NULL;
    char *said = NULL;

    if (sqlite3_open(file, &db) != SQLITE_OK || sqlite3_exec(db, text, NULL, NULL, &said))
        printf("# %s: %s\n", text, said ? said : "cannot open");
    sqlite3_free(said);
    sqlite3_close(db);
}

static void make(struct loop *l)
{
    struct store *s = open_store(l, path, NULL);
    struct store_coll *c = store_coll(s, S("pods"));

    put(l, s, c, "ns/a", "value of a");
    put(l, s, c, "ns/b", "value of b");
    put(l, s, c, "ns/c", "value of c");
    store_close(s);
}

static void a_damaged_row_is_named_and_kept(struct loop *l)
{
    const struct store_damage *d = NULL;

    make(l);
    sql(path, "UPDATE objects SET value = 'valuE of b' WHERE key = 'ns/b'");
    struct store *s = open_store(l, path, NULL);
    struct store_coll *c = store_coll(s, S("pods"));
    ok(!store_get(c, S("ns/b")), "not served");
    is_str(value_of(c, "ns/a"), S("value of a"), "the others are");
    is_int((int64_t)store_damaged(s, &d), 1, "one is damaged");
    is_str(d[0].key, S("ns/b"), "by name");
    is_str(d[0].coll, S("pods"), "of its collection");
    is_int(d[0].rev, 3, "with its revision");
    is_str(str_of(d[0].what), S("checksum does not match"), "and why");
    is_int(store_rev(s), 4, "the last revision stays");
    put(l, s, c, "ns/b", "made again");
    store_close(s);

    s = open_store(l, path, NULL);
    is_int((int64_t)store_damaged(s, &d), 1, "still told at the next start");
    is_str(value_of(store_coll(s, S("pods")), "ns/b"), S("made again"), "whatever came since");
    store_close(s);
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    sqlite3_open(path, &db);
    sqlite3_prepare_v2(db, "SELECT value FROM damaged WHERE key = 'ns/b'", -1, &st, NULL);
    ok(sqlite3_step(st) == SQLITE_ROW && memcmp(sqlite3_column_blob(st, 0), "valuE of b", 10) == 0,
       "its bytes are kept");
    sqlite3_finalize(st);
    sqlite3_close(db);
}

static void a_row_that_vanished_is_named(struct loop *l)
{
    const struct store_damage *d = NULL;

    make(l);
    sql(path, "DELETE FROM objects WHERE key = 'ns/c'");
    struct store *s = open_store(l, path, NULL);
    is_int((int64_t)store_damaged(s, &d), 1, "one is missing");
    is_str(d[0].key, S("ns/c"), "by name");
    is_str(str_of(d[0].what), S("row cannot be read"), "and why");
    store_close(s);
}

static void a_lost_revision_is_jumped_over(struct loop *l)
{
    const struct store_damage *d = NULL;

    make(l);
    sql(path, "UPDATE meta SET rev = 2");
    struct store *s = open_store(l, path, NULL);
    is_int(store_rev(s), 4 + 1000000, "a safe distance");
    is_int((int64_t)store_damaged(s, &d), 1, "and told");
    store_close(s);
    s = open_store(l, path, NULL);
    is_int(store_rev(s), 4 + 1000000, "once only");
    store_close(s);
}

static void names_are_not_needed_to_serve(struct loop *l)
{
    const struct store_damage *d = NULL;

    make(l);
    sql(path, "DELETE FROM names; INSERT INTO names VALUES(77, 'pods', 'ghost')");
    struct store *s = open_store(l, path, NULL);
    is_int((int64_t)store_coll_count(store_coll(s, S("pods"))), 3, "all are served");
    is_int((int64_t)store_damaged(s, &d), 1, "what is only a name is told");
    store_close(s);
}

static void copy(const char *from, const char *to)
{
    char bytes[65536];
    FILE *f = fopen(from, "rbe");
    size_t n = f ? fread(bytes, 1, sizeof(bytes), f) : 0;
    FILE *t = fopen(to, "wbe");

    if (f)
        fclose(f);
    if (t) {
        fwrite(bytes, 1, n, t);
        fclose(t);
    }
}

static void a_rescue_cut_short_is_finished(struct loop *l)
{
    char other[160];

    make(l);
    snprintf(other, sizeof(other), "%s.rescued", path);
    copy(path, other);
    snprintf(other, sizeof(other), "%s-wal", path);
    copy(path, other); /* a log that is none: it must not meet the rescued file */
    sql(path, "DELETE FROM objects");
    struct store *s = open_store(l, path, NULL);
    is_int((int64_t)store_coll_count(store_coll(s, S("pods"))), 3, "the rescued file is used");
    store_close(s);
    snprintf(other, sizeof(other), "%s.rescued", path);
    ok(access(other, F_OK) < 0, "and is no more beside it");
}

int main(void)
{
    static void (*const tests[])(struct loop *) = {
        a_damaged_row_is_named_and_kept, a_row_that_vanished_is_named,
        a_lost_revision_is_jumped_over,  names_are_not_needed_to_serve,
        a_rescue_cut_short_is_finished,
    };
    struct loop *l = loop_new();

    log_setup(LOG_ERROR + 1, LOG_LOGFMT);
    for (size_t i = 0; i < COUNT(tests); i++) {
        const char *dir = temp_dir();
        snprintf(path, sizeof(path), "%s/muster.db", dir);
        tests[i](l);
        remove_dir(dir);
    }
    turn(l);
    loop_free(l);
    return tap_done();
}
