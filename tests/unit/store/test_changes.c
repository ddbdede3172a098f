/* What was acknowledged and is gone is missed: a log or a database that is cut off, emptied,
 * removed or replaced by an older one. A1: a revision is never used twice. */

#include "help.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char path[64];
static char log_path[80];
static char changes_path[64];

static void copy(const char *from, const char *to)
{
    char command[256];

    snprintf(command, sizeof(command), "cp '%s' '%s'", from, to);
    if (system(command) != 0) /* NOLINT(cert-env33-c): a fixed command on our own directory */
        printf("# could not copy %s\n", from);
}

/* As kill -9 would leave it: four objects in the file; in the log one is new, one changed, one
 * deleted, and one changed and deleted. The last revision is 10. */
static void write_and_vanish(void)
{
    fflush(stdout);
    pid_t child = fork();

    if (child == 0) {
        struct loop *l = loop_new();
        struct store *s = open_store(l, path, NULL);
        struct store_coll *c = store_coll(s, S("pods"));
        put(l, s, c, "ns/kept", "1");
        put(l, s, c, "ns/changed", "1");
        put(l, s, c, "ns/deleted", "1");
        put(l, s, c, "ns/both", "1");
        store_close(s);
        copy(path, "older.db");
        s = open_store(l, path, NULL);
        c = store_coll(s, S("pods"));
        put(l, s, c, "ns/changed", "2");
        del(l, s, c, "ns/deleted");
        put(l, s, c, "ns/both", "2");
        del(l, s, c, "ns/both");
        put(l, s, c, "ns/new", "1");
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void refuses(struct loop *l, const char *words, const char *why)
{
    struct store *s = NULL;
    struct err e = { 0 };

    ok(store_open(&s, l, path, NULL, &e) < 0 && e.code == ERR_IO, "%s: refused", why);
    ok(strstr(e.msg, words), "%s: saying so: %s", why, e.msg);
    ok(strstr(e.msg, "10 was acknowledged") && strstr(e.msg, "--accept-data-loss"),
       "%s: with the last revision and what to do", why);
    if (s)
        store_close(s);
}

static void accepts(struct loop *l, size_t missing, const char *why)
{
    const struct store_damage *d = NULL;
    struct store *s = open_store(l, path, &(struct store_opts){ .accept_loss = true });

    ok(store_damaged(s, &d) == missing, "%s, accepted: the missing are named", why);
    ok(store_rev(s) == 10, "%s, accepted: revisions go on", why);
    store_close(s);
    s = open_store(l, path, NULL);
    ok(store_rev(s) == 10, "%s: it is asked for once only", why);
    put(l, s, store_coll(s, S("pods")), "ns/next", "1");
    ok(store_rev(s) == 11, "%s: no revision is used twice", why);
    store_close(s);
}

static void a_removed_log_is_missed(struct loop *l)
{
    copy(log_path, "log");
    remove(log_path);
    refuses(l, "ends at revision 5", "log removed");
    copy("log", log_path);
    struct store *s = open_store(l, path, NULL);
    is_int(store_rev(s), 10, "put back, all is there");
    is_str(value_of(store_coll(s, S("pods")), "ns/new"), S("1"), "the last one too");
    store_close(s);
}

static void what_is_missing_is_named(struct loop *l)
{
    static const char *const want[][2] = {
        { "ns/new", "acknowledged, but missing" },
        { "ns/both", "its deletion is lost, so it exists again" },
        { "ns/deleted", "its deletion is lost, so it exists again" },
        { "ns/changed", "its last change is lost, so an older state is back" },
    };
    const struct store_damage *d = NULL;

    remove(log_path);
    struct store *s = open_store(l, path, &(struct store_opts){ .accept_loss = true });
    is_int((int64_t)store_damaged(s, &d), COUNT(want), "four are named");
    for (size_t i = 0; i < COUNT(want) && i < store_damaged(s, &d); i++) {
        is_str(d[i].key, str_of(want[i][0]), "by name");
        is_str(str_of(d[i].what), str_of(want[i][1]), "and how");
    }
    store_close(s);
}

static void a_shorter_log_is_missed(struct loop *l)
{
    struct stat st = { 0 };

    if (stat(log_path, &st) < 0 || truncate(log_path, st.st_size - 5) < 0)
        printf("# could not cut %s\n", log_path);
    refuses(l, "ends at revision 9", "log cut off in the last write");
    if (truncate(log_path, 0) < 0)
        printf("# could not cut %s\n", log_path);
    refuses(l, "ends at revision 5", "log emptied");
    accepts(l, 4, "log emptied");
}

static void an_older_file_is_missed(struct loop *l)
{
    remove(log_path);
    copy("older.db", path);
    refuses(l, "ends at revision 5", "older file");
    accepts(l, 4, "older file");
}

static void an_empty_file_is_missed(struct loop *l)
{
    struct stat st = { 0 };

    if (truncate(path, 0) < 0)
        printf("# could not cut %s\n", path);
    refuses(l, "the database is empty", "empty file");
    ok(stat(path, &st) == 0 && st.st_size == 0 && stat(log_path, &st) == 0 && st.st_size > 0,
       "it and its log are left as they are");
    accepts(l, 3, "empty file"); /* but for the deleted */
}

static void a_removed_file_is_missed(struct loop *l)
{
    remove(path);
    remove(log_path);
    refuses(l, "the database is gone", "file removed");
    accepts(l, 3, "file removed");
}

static void no_changes_no_alarm(struct loop *l)
{
    remove(changes_path);
    struct store *s = open_store(l, path, NULL);
    is_int(store_rev(s), 10, "without the list of changes all opens as before");
    store_close(s);
}

/* Whatever is in it: a database that is whole is opened. */
static void a_damaged_list_raises_no_alarm(struct loop *l)
{
    struct store *s = open_store(l, path, NULL);
    char key[256];
    uint64_t seed = 3;
    int refused = 0;
    int fd = open(changes_path, O_RDWR | O_CLOEXEC);

    memset(key, 'k', sizeof(key));
    for (int i = 0; i < 300; i++) { /* past the end of the list, which starts over */
        struct store_op ops[20];
        char keys[20][256];
        for (int k = 0; k < 20; k++) {
            snprintf(keys[k], sizeof(keys[k]), "%d-%d-%.200s", i, k, key);
            ops[k] = op_put(s, store_coll(s, S("pods")), keys[k], "1");
        }
        commit(l, s, ops, 20);
    }
    int64_t rev = store_rev(s);
    store_close(s);
    struct stat st = { 0 };
    ok(fstat(fd, &st) == 0 && st.st_size <= 1 << 20, "the list stays small: %ld KB",
       (long)st.st_size / 1024);
    for (int i = 0; i < 40; i++) {
        char was = 0;
        off_t at = roll(&seed, i % 2 ? 1 << 20 : 1 << 10);
        struct err e = { 0 };
        if (pread(fd, &was, 1, at) != 1)
            printf("# could not read %s\n", changes_path);
        char is = (char)(was ^ (1 << roll(&seed, 8)));
        if (pwrite(fd, &is, 1, at) != 1)
            printf("# could not write %s\n", changes_path);
        refused += store_open(&s, l, path, NULL, &e) < 0 || store_rev(s) != rev;
        store_close(s);
    }
    is_int(refused, 0, "no flipped bit of it is taken for a loss");
    close(fd);
}

int main(void)
{
    static void (*const tests[])(struct loop *) = {
        a_removed_log_is_missed, what_is_missing_is_named,       a_shorter_log_is_missed,
        an_older_file_is_missed, an_empty_file_is_missed,        a_removed_file_is_missed,
        no_changes_no_alarm,     a_damaged_list_raises_no_alarm,
    };
    struct loop *l = loop_new();

    log_setup(LOG_ERROR + 1, LOG_LOGFMT);
    const char *dir = temp_dir();
    if (chdir(dir) < 0)
        return 1;
    for (size_t i = 0; i < COUNT(tests); i++) {
        char own[16];
        snprintf(own, sizeof(own), "%zu", i);
        mkdir(own, 0700);
        snprintf(path, sizeof(path), "%s/muster.db", own);
        snprintf(log_path, sizeof(log_path), "%s-wal", path);
        snprintf(changes_path, sizeof(changes_path), "%s/changes", own);
        write_and_vanish();
        tests[i](l);
    }
    turn(l);
    loop_free(l);
    if (chdir("..") < 0)
        return 1;
    remove_dir(dir);
    return tap_done();
}
