/* No room: writes say so, reads go on, and once there is room all is well. Room is taken away by
 * the limit on file size, which needs no rights. */

#include "help.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void limit_files(rlim_t bytes)
{
    struct rlimit r = { 0 };

    getrlimit(RLIMIT_FSIZE, &r);
    r.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &r);
}

static char *long_text(size_t n)
{
    char *p = malloc(n + 1);

    memset(p, 'x', n);
    p[n] = 0;
    return p;
}

static void a_full_disk_is_told_and_passes(void)
{
    const char *dir = temp_dir();
    char path[128];
    struct loop *l = loop_new();
    char *big = long_text(60000);

    snprintf(path, sizeof(path), "%s/muster.db", dir);
    struct store *s = open_store(l, path, NULL);
    struct store_coll *c = store_coll(s, S("pods"));
    put(l, s, c, "before", "here");
    int64_t rev = store_rev(s);

    limit_files(400000);
    struct answer a = { 0 };
    char key[16];
    int n = 0;
    for (; n < 50 && a.e.code == ERR_OK; n++) {
        a.done = false;
        snprintf(key, sizeof(key), "big-%d", n);
        struct store_op op = op_put(s, c, key, big);
        store_commit(s, &op, 1, on_answer, &a);
        turn_until(l, &a.done);
        rev = a.e.code == ERR_OK ? store_rev(s) : rev;
    }
    is_int(a.e.code, ERR_STORAGE_FULL, "refused for want of room");
    is_str(str_of(a.e.msg), S("write to muster.db: database or disk is full"), "saying so");
    ok(!store_get(c, str_of(key)), "not there");
    ok(!store_is_busy(c, str_of(key)), "nor in the way");
    is_int(store_rev(s), rev, "the revision is that of the last good write");
    is_str(value_of(c, "before"), S("here"), "reads go on");

    struct answer many[10] = { 0 };
    struct store_op ops[10];
    for (int i = 0; i < 10; i++) {
        snprintf(key, sizeof(key), "more-%d", i);
        ops[i] = op_put(s, c, key, big);
        store_commit(s, &ops[i], 1, on_answer, &many[i]);
    }
    turn_until(l, &many[9].done);
    int failed = 0;
    for (int i = 0; i < 10; i++) {
        snprintf(key, sizeof(key), "more-%d", i);
        failed += many[i].done && many[i].e.code == ERR_STORAGE_FULL && !store_get(c, str_of(key));
    }
    is_int(failed, 10, "all of a group fail together");

    limit_files(RLIM_INFINITY);
    is_int(put(l, s, c, "after", "here too"), ERR_OK, "room again: it writes by itself");
    ok(store_get(c, S("after"))->rev > rev + 10, "no revision is used twice");
    ok(store_stats(s).failures == 11, "failures are counted");
    size_t objects = store_coll_count(c);
    store_close(s);
    s = open_store(l, path, NULL);
    is_int((int64_t)store_coll_count(store_coll(s, S("pods"))), (int64_t)objects,
           "and what was answered is what is there");
    store_close(s);
    turn(l);
    loop_free(l);
    free(big);
    remove_dir(dir);
}

static void the_log_stays_small(void)
{
    const char *dir = temp_dir();
    char path[128];
    struct loop *l = loop_new();
    char *big = long_text(200000);
    struct stat st = { 0 };

    snprintf(path, sizeof(path), "%s/muster.db", dir);
    struct store *s = open_store(l, path, NULL);
    for (int i = 0; i < 200; i++)
        put(l, s, store_coll(s, S("pods")), "same", big);
    strcat(path, "-wal");
    int there = stat(path, &st);
    ok(there == 0 && st.st_size < 12 << 20, "40 MB written, %ld KB of log",
       (long)st.st_size / 1024);
    store_close(s);
    ok(stat(path, &st) < 0 || st.st_size == 0, "none after closing");
    turn(l);
    loop_free(l);
    free(big);
    remove_dir(dir);
}

int main(void)
{
    signal(SIGXFSZ, SIG_IGN);
    log_setup(LOG_ERROR + 1, LOG_LOGFMT);
    a_full_disk_is_told_and_passes();
    the_log_stays_small();
    return tap_done();
}
