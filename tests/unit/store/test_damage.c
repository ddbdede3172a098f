/* Bytes changed behind the store's back: what it serves is right or named as damaged, whatever and
 * wherever they are. */

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "help.h"
#include "store/db.h"

#include <dirent.h>
#include <sys/wait.h>

enum { KEYS = 150, WRITES = 700 };

/* What is in the file: for each key the last write, and whether it is gone. */
struct past {
    int64_t rev[KEYS];
    bool gone[KEYS];
    int64_t last;
};

static char path[128];

static void key_name(char *to, size_t n, int k)
{
    snprintf(to, n, "ns-%d/object-%d", k % 3, k);
}

/* The value of key k at revision rev: anybody can say what it must be. */
static str make_value(struct buf *b, int k, int64_t rev)
{
    static const int sizes[] = { 40, 300, 1500, 2000, 9000 };

    buf_clear(b);
    while (b->n < (size_t)sizes[k % 5] + (size_t)(rev % 7) * 20)
        buf_printf(b, "%d at %" PRId64 ", ", k, rev);
    return buf_str(b);
}

static struct store_coll *coll_of(struct store *s, int k)
{
    return store_coll(s, k % 2 ? S("pods") : S("apps/deployments"));
}

static void write_one(struct loop *l, struct store *s, struct past *p, int k, bool gone)
{
    AUTO(buf) struct buf b = { 0 };
    char key[32];
    int64_t rev = store_take_rev(s);

    key_name(key, sizeof(key), k);
    struct store_op op = { .coll = coll_of(s, k),
                           .key = str_of(key),
                           .rev = rev,
                           .value = blob_new(make_value(&b, k, rev)),
                           .is_delete = gone };
    commit(l, s, &op, 1);
    p->rev[k] = p->last = rev;
    p->gone[k] = gone;
}

static void write_many(struct loop *l, struct store *s, struct past *p, uint64_t *seed, int n)
{
    for (int i = 0; i < n; i++) {
        int k = (int)roll(seed, KEYS);
        bool there = p->rev[k] && !p->gone[k];
        write_one(l, s, p, k, there && roll(seed, 3) == 0);
    }
}

static void read_file(const char *name, struct buf *to)
{
    FILE *f = fopen(name, "rbe");

    buf_clear(to);
    for (size_t n = 1; f && n;) {
        n = fread(buf_room(to, 65536), 1, 65536, f);
        to->n += n;
    }
    if (f)
        fclose(f);
}

static void write_file(const char *name, str bytes)
{
    FILE *f = fopen(name, "wbe");

    if (!f || fwrite(bytes.p, 1, bytes.n, f) != bytes.n)
        printf("# could not write %s\n", name);
    if (f)
        fclose(f);
}

/* Is it told that key k was damaged? */
static bool is_named(const struct store *s, int k)
{
    const struct store_damage *d = NULL;
    size_t n = store_damaged(s, &d);
    char key[32];

    key_name(key, sizeof(key), k);
    for (size_t i = 0; i < n; i++)
        if (str_eqz(d[i].key, key))
            return true;
    return false;
}

struct tally {
    int wrong;
    int unnamed; /* missing without a word */
    int missing;
    int refused; /* the last change is lost */
};

static void count(struct store *s, const struct past *p, struct tally *t)
{
    AUTO(buf) struct buf b = { 0 };
    char key[32];

    for (int k = 0; k < KEYS; k++) {
        key_name(key, sizeof(key), k);
        struct store_obj *o = store_get(coll_of(s, k), str_of(key));
        bool expected = p->rev[k] && !p->gone[k];
        if (o) {
            bool right = expected && o->rev == p->rev[k] &&
                         str_eq(text_of(o->value), make_value(&b, k, o->rev));
            t->wrong += !right;
        } else if (expected) {
            t->missing++;
            t->unnamed += !is_named(s, k);
        }
    }
}

/* Opens what is there now, twice, and writes in between. */
static void examine(struct loop *l, const struct past *before, struct tally *t, const char *what)
{
    struct past p = *before;
    struct store *s = NULL;
    struct err e = { 0 };

    if (store_open(&s, l, path, NULL, &e) < 0) {
        t->refused++;
        if (!strstr(e.msg, "was acknowledged"))
            ok(false, "%s: %s", what, e.msg);
        return;
    }
    if (store_rev(s) < p.last)
        ok(false, "%s: revision went back", what);
    count(s, &p, t);
    int missing = t->missing;
    write_one(l, s, &p, 1, false);
    store_close(s);
    if (store_open(&s, l, path, NULL, &e) < 0) {
        ok(false, "%s, again: %s", what, e.msg);
        return;
    }
    struct tally again = { 0 };
    count(s, &p, &again);
    if (again.wrong || again.unnamed || again.missing > missing)
        ok(false, "%s: not as it was when opened again", what);
    store_close(s);
}

static void clean(const char *dir)
{
    DIR *d = opendir(dir);
    char name[512];

    for (struct dirent *at = NULL; d && (at = readdir(d));) {
        snprintf(name, sizeof(name), "%s/%s", dir, at->d_name);
        remove(name);
    }
    if (d)
        closedir(d);
}

static bool has_file_like(const char *dir, const char *part)
{
    DIR *d = opendir(dir);
    bool found = false;

    for (struct dirent *at = NULL; d && (at = readdir(d));)
        found = found || strstr(at->d_name, part);
    if (d)
        closedir(d);
    return found;
}

static void any_byte_of_the_file_may_change(struct loop *l, const char *dir)
{
    AUTO(buf) struct buf sound = { 0 };
    struct past p = { 0 };
    uint64_t seed = 7;
    struct store *s = open_store(l, path, NULL);

    write_many(l, s, &p, &seed, WRITES);
    store_close(s);
    read_file(path, &sound);
    struct tally all = { 0 };
    int most = 0;
    int trials = 180;
    for (int i = 0; i < trials; i++) {
        struct tally t = { 0 };
        char what[64];
        /* a third in page 1, where everything begins */
        uint32_t at = roll(&seed, i % 3 ? (uint32_t)sound.n : DB_PAGE_BYTES);
        char flip = (char)(i % 2 ? 1U << roll(&seed, 8) : 1 + roll(&seed, 255));
        clean(dir);
        sound.p[at] ^= flip;
        write_file(path, buf_str(&sound));
        sound.p[at] ^= flip;
        snprintf(what, sizeof(what), "byte %u of page %u", at % DB_PAGE_BYTES,
                 at / DB_PAGE_BYTES + 1);
        examine(l, &p, &t, what);
        most = t.missing > most ? t.missing : most;
        all.wrong += t.wrong;
        all.unnamed += t.unnamed;
        all.missing += t.missing;
    }
    is_int(all.wrong, 0, "one byte: nothing wrong is served");
    is_int(all.unnamed, 0, "what is missing is named");
    ok(all.missing > 5 && most <= 40, "most is there (%d missing in %d trials, %d at most)",
       all.missing, trials, most);
}

static void whole_pages_may_go(struct loop *l, const char *dir)
{
    AUTO(buf) struct buf sound = { 0 };
    AUTO(buf) struct buf hurt = { 0 };
    struct past p = { 0 };
    uint64_t seed = 11;
    struct store *s = NULL;
    struct tally t = { 0 };

    clean(dir);
    s = open_store(l, path, NULL);
    write_many(l, s, &p, &seed, WRITES);
    store_close(s);
    read_file(path, &sound);
    for (int i = 0; i < 40; i++) {
        char what[64];
        uint32_t page =
            1 + roll(&seed, (uint32_t)sound.n / DB_PAGE_BYTES - 1); /* page 1 is what it is */
        clean(dir);
        buf_clear(&hurt);
        buf_add(&hurt, buf_str(&sound));
        for (int b = 0; b < DB_PAGE_BYTES; b++)
            hurt.p[page * DB_PAGE_BYTES + b] = i % 2 ? (char)roll(&seed, 256) : 0;
        write_file(path, buf_str(&hurt));
        snprintf(what, sizeof(what), "page %u", page + 1);
        examine(l, &p, &t, what);
    }
    is_int(t.wrong, 0, "a page: nothing wrong is served");
    is_int(t.unnamed, 0, "what is missing is named");
    ok(has_file_like(dir, "muster.db.damaged-"), "the damaged file is kept");
    ok(!has_file_like(dir, ".new") && !has_file_like(dir, ".rescued"), "nothing else is left");
}

/* As after kill -9: a log that was never moved into the file. */
static void write_and_vanish(struct past *p, uint64_t seed, int n)
{
    fflush(stdout);
    pid_t child = fork();

    if (child == 0) {
        struct loop *l = loop_new();
        struct past mine = *p;
        write_many(l, open_store(l, path, NULL), &mine, &seed, n);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    for (int i = 0; i < n; i++) { /* the same writes, as the seed says */
        int k = (int)roll(&seed, KEYS);
        bool there = p->rev[k] && !p->gone[k];
        p->gone[k] = there && roll(&seed, 3) == 0;
        p->rev[k] = ++p->last;
    }
}

static void the_log_may_be_damaged(struct loop *l, const char *dir)
{
    AUTO(buf) struct buf file = { 0 };
    AUTO(buf) struct buf log = { 0 };
    AUTO(buf) struct buf changes = { 0 };
    char log_path[160];
    char changes_path[160];
    struct past old = { .last = 1 };
    uint64_t seed = 3;
    struct tally t = { 0 };

    clean(dir);
    snprintf(log_path, sizeof(log_path), "%s-wal", path);
    snprintf(changes_path, sizeof(changes_path), "%s/changes", dir);
    struct store *s = open_store(l, path, NULL);
    write_many(l, s, &old, &seed, 300);
    store_close(s);
    struct past p = old;
    write_and_vanish(&p, 99, 60);
    read_file(path, &file);
    read_file(log_path, &log);
    read_file(changes_path, &changes);
    ok(log.n > 100000, "there is a log (%zu bytes)", log.n);
    int told = 0;
    int trials = 60;
    for (int i = 0; i < trials; i++) {
        char what[64];
        uint32_t at = roll(&seed, i % 4 ? (uint32_t)log.n : 32); /* its end too */
        char flip = (char)(1 << roll(&seed, 8));
        clean(dir);
        write_file(path, buf_str(&file));
        write_file(changes_path, buf_str(&changes));
        log.p[at] ^= flip;
        write_file(log_path, buf_str(&log));
        log.p[at] ^= flip;
        snprintf(what, sizeof(what), "byte %u of the log", at);
        examine(l, &p, &t, what);
        told += has_file_like(dir, "muster.db.damaged-");
    }
    is_int(told + t.refused, trials, "it is always noticed");
    is_int(t.wrong, 0, "log: nothing wrong is served");
    is_int(t.unnamed, 0, "what is missing is named");
}

int main(void)
{
    struct loop *l = loop_new();
    const char *dir = temp_dir();

    log_setup(LOG_ERROR + 1, LOG_LOGFMT);
    snprintf(path, sizeof(path), "%s/muster.db", dir);
    any_byte_of_the_file_may_change(l, dir);
    whole_pages_may_go(l, dir);
    the_log_may_be_damaged(l, dir);
    remove_dir(dir);
    turn(l);
    loop_free(l);
    return tap_done();
}
