/* The store seen from outside: what is written is read, in order, all or nothing, and again after
 * opening it anew. */

#include "help.h"

#include <sqlite3.h>

static void a_new_store_is_empty_and_starts_at_one(void)
{
    struct loop *l = loop_new();
    struct store *s = open_store(l, ":memory:", NULL);
    struct store_coll *c = store_coll(s, S("pods"));

    is_int(store_rev(s), 1, "revision");
    is_int((int64_t)store_coll_count(c), 0, "no objects");
    ok(!store_get(c, S("a")) && !store_seek(c, STR_NONE), "nothing to find");
    store_close(s);
    loop_free(l);
}

static void what_is_written_is_read_in_key_order(void)
{
    struct loop *l = loop_new();
    struct store *s = open_store(l, ":memory:", NULL);
    struct store_coll *c = store_coll(s, S("pods"));

    put(l, s, c, "b/2", "two");
    put(l, s, c, "a/1", "one");
    put(l, s, c, "b/10", "ten");
    struct store_obj *o = store_seek(c, STR_NONE);
    is_str(o->key, S("a/1"), "first");
    o = store_next(c, o);
    is_str(o->key, S("b/10"), "second");
    o = store_next(c, o);
    is_str(o->key, S("b/2"), "third, in byte order");
    ok(!store_next(c, o), "and no more");
    is_str(store_seek(c, S("b/"))->key, S("b/10"), "seek finds the first at or after");
    ok(!store_seek(c, S("c")), "or nothing");
    is_str(value_of(c, "b/2"), S("two"), "value");
    is_int(store_get(c, S("b/10"))->rev, 4, "revision of the third write");
    is_int(store_rev(s), 4, "the store's revision is the last");
    store_close(s);
    loop_free(l);
}

static void an_update_keeps_the_creation_revision(void)
{
    struct loop *l = loop_new();
    struct store *s = open_store(l, ":memory:", NULL);
    struct store_coll *c = store_coll(s, S("pods"));

    put(l, s, c, "a", "1");
    put(l, s, c, "a", "2");
    struct store_obj *o = store_get(c, S("a"));
    is_int(o->create_rev, 2, "created at");
    is_int(o->rev, 3, "changed at");
    del(l, s, c, "a");
    ok(!store_get(c, S("a")), "deleted");
    put(l, s, c, "a", "3");
    o = store_get(c, S("a"));
    is_int(o->create_rev, 5, "made again: a new creation revision");
    store_close(s);
    loop_free(l);
}

static void nothing_is_seen_before_it_is_on_disk(void)
{
    struct loop *l = loop_new();
    struct store *s = open_store(l, ":memory:", NULL);
    struct store_coll *c = store_coll(s, S("pods"));
    struct answer a = { 0 };
    struct store_op ops[] = { op_put(s, c, "a", "1"), op_put(s, c, "b", "1") };

    store_commit(s, ops, 2, on_answer, &a);
    ok(!store_get(c, S("a")) && store_rev(s) == 1, "not visible while under way");
    ok(store_is_busy(c, S("a")) && store_is_busy(c, S("b")), "but busy");
    turn_until(l, &a.done);
    ok(store_get(c, S("a")) && store_get(c, S("b")), "visible when answered");
    ok(!store_is_busy(c, S("a")), "and free");
    is_int(store_rev(s), 3, "at the revision of the last");
    store_close(s);
    loop_free(l);
}

static void one_commit_may_touch_a_key_more_than_once(void)
{
    struct loop *l = loop_new();
    struct store *s = open_store(l, ":memory:", NULL);
    struct store_coll *c = store_coll(s, S("pods"));

    put(l, s, c, "a", "old");
    struct store_op ops[] = { op_put(s, c, "a", "newer"), op_delete(s, c, "a", "newer"),
                              op_put(s, c, "a", "again"), op_put(s, c, "b", "b"),
                              op_delete(s, c, "b", "b") };
    is_int(commit(l, s, ops, COUNT(ops)), ERR_OK, "committed");
    is_str(value_of(c, "a"), S("again"), "the last put counts");
    is_int(store_get(c, S("a"))->create_rev, 5, "created within the commit");
    ok(!store_get(c, S("b")), "made and deleted");
    is_int(commit(l, s, NULL, 0), ERR_OK, "an empty commit is answered too");
    store_close(s);
    loop_free(l);
}

static void closing_answers_what_is_under_way(void)
{
    struct loop *l = loop_new();
    struct store *s = open_store(l, ":memory:", NULL);
    struct store_coll *c = store_coll(s, S("pods"));
    struct answer a[20] = { 0 };
    char key[16];

    for (size_t i = 0; i < COUNT(a); i++) {
        snprintf(key, sizeof(key), "k%zu", i);
        struct store_op op = op_put(s, c, key, "v");
        store_commit(s, &op, 1, on_answer, &a[i]);
    }
    store_close(s);
    int n = 0;
    for (size_t i = 0; i < COUNT(a); i++)
        n += a[i].done && a[i].e.code == ERR_OK;
    is_int(n, COUNT(a), "all answered");
    turn(l);
    loop_free(l);
}

static void a_file_remembers(void)
{
    struct loop *l = loop_new();
    const char *dir = temp_dir();
    char path[256];
    char key[32];

    snprintf(path, sizeof(path), "%s/muster.db", dir);
    struct store *s = open_store(l, path, NULL);
    struct store_coll *c = store_coll(s, S("pods"));
    for (int i = 0; i < 300; i++) {
        snprintf(key, sizeof(key), "ns/p%03d", (i * 7) % 300);
        put(l, s, c, key, key);
    }
    put(l, s, store_coll(s, S("apps/deployments")), "ns/d", "");
    put(l, s, c, "ns/p007", "changed");
    del(l, s, c, "ns/p008");
    int64_t rev = store_rev(s);
    store_close(s);

    s = open_store(l, path, NULL);
    c = store_coll(s, S("pods"));
    is_int(store_rev(s), rev, "the revision, though the last write was a deletion");
    is_int((int64_t)store_coll_count(c), 299, "the count");
    is_str(value_of(c, "ns/p007"), S("changed"), "the last value");
    ok(store_get(c, S("ns/p007"))->create_rev < store_get(c, S("ns/p007"))->rev, "its creation");
    ok(!store_get(c, S("ns/p008")), "and the deletion");
    is_int((int64_t)store_coll_count(store_coll(s, S("apps/deployments"))), 1, "empty values too");
    put(l, s, c, "ns/new", "x");
    is_int(store_get(c, S("ns/new"))->rev, rev + 1, "revisions go on");
    struct err e = { 0 };
    struct store *second = NULL;
    is_int(store_open(&second, l, path, NULL, &e), -1, "a second opener is refused");
    is_int(e.code, ERR_CONFLICT, "with a conflict");
    ok(strstr(e.msg, "in use") != NULL, "that says so: %s", e.msg);
    const struct store_damage *d = NULL;
    is_int((int64_t)store_damaged(s, &d), 0, "no damage");
    store_close(s);
    remove_dir(dir);
    turn(l);
    loop_free(l);
}

static void make_foreign(const char *path, const char *sql)
{
    remove(path);
    if (!sql) {
        FILE *f = fopen(path, "we");
        for (int i = 0; i < 100; i++)
            fputs("dear diary, this is long enough to be read as a page\n", f);
        fclose(f);
        return;
    }
    sqlite3 *db = NULL;
    if (sqlite3_open(path, &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, NULL))
        printf("# could not make %s\n", path);
    sqlite3_close(db);
}

static void a_foreign_or_newer_file_is_refused(void)
{
    struct loop *l = loop_new();
    static const struct {
        const char *sql;
        const char *says;
    } rows[] = {
        { NULL, "not a Muster store" },
        { "create table t(x); insert into t values(1)", "not a Muster store" },
        { "pragma application_id = 0x4d737472; pragma user_version = 2; create table t(x)",
          "newer Muster (format 2, this one knows 1)" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e = { 0 };
        struct store *s = NULL;
        make_foreign("store-test.foreign", rows[i].sql);
        is_int(store_open(&s, l, "store-test.foreign", NULL, &e), -1, "refused");
        is_int(e.code, ERR_INVALID, "as invalid");
        ok(strstr(e.msg, rows[i].says) != NULL, "which says: %s", e.msg);
    }
    remove("store-test.foreign");
    struct err e = { 0 };
    struct store *s = NULL;
    is_int(store_open(&s, l, "no/such/dir/muster.db", NULL, &e), -1, "no directory: refused");
    ok(strstr(e.msg, "No such file") != NULL, "which says: %s", e.msg);
    loop_free(l);
}

int main(void)
{
    a_new_store_is_empty_and_starts_at_one();
    what_is_written_is_read_in_key_order();
    an_update_keeps_the_creation_revision();
    nothing_is_seen_before_it_is_on_disk();
    one_commit_may_touch_a_key_more_than_once();
    closing_answers_what_is_under_way();
    a_file_remembers();
    a_foreign_or_newer_file_is_refused();
    return tap_done();
}
