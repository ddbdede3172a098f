/* A damaged file is read page by page, past SQLite: every row whose checksum holds goes into a new
 * file, what does not is kept in its table `damaged` under its name, and the old file is put aside
 * under another name. Freed pages are zeroed (see db.c), so nothing deleted comes back. */

#include "base/map.h"
#include "base/vec.h"
#include "loop/log.h"
#include "store/cells.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

struct rows {
    VEC(struct db_row);
};

struct salvage {
    struct arena *a;
    struct rows good;
    struct rows bad;   /* the checksum does not hold */
    struct rows names; /* id, coll and key of every row there was */
    struct rows kept;  /* put aside by an earlier salvage; what is in `whats` */
    struct {
        VEC(const char *);
    } whats;
    int64_t rev;        /* 0: not found */
    bool doubt_unnamed; /* a row without a name may have been deleted */
};

static bool has_shape(const struct cell *c, const char *types)
{
    if (c->n != (int)strlen(types))
        return false;
    for (int i = 0; i < c->n; i++)
        if (c->at[i].type != types[i])
            return false;
    return true;
}

static struct db_row copy_row(struct salvage *s, const struct cell *c)
{
    return (struct db_row){
        .id = c->id,
        .coll = arena_str(s->a, c->at[1].bytes),
        .key = arena_str(s->a, c->at[2].bytes),
        .rev = c->at[3].number,
        .create_rev = c->at[4].number,
        .crc = (uint32_t)c->at[5].number,
        .value = c->at[6].bytes.p ? arena_str(s->a, c->at[6].bytes) : STR_NONE,
    };
}

static void on_cell(void *ctx, const struct cell *c)
{
    struct salvage *s = ctx;

    if (has_shape(c, "nttiiib") || has_shape(c, "nttiiit")) { /* one bit makes a blob a text */
        struct db_row r = copy_row(s, c);
        if (r.crc == db_row_crc(&r))
            vec_push(&s->good, r);
        else
            vec_push(&s->bad, r);
    } else if (has_shape(c, "ntt")) {
        vec_push(&s->names, copy_row(s, c));
    } else if (has_shape(c, "nttiiibt") || has_shape(c, "nttiiint")) {
        vec_push(&s->kept, copy_row(s, c));
        vec_push(&s->whats, arena_z(s->a, c->at[7].bytes));
    } else if (has_shape(c, "nii") && c->at[2].number == db_rev_crc(c->at[1].number)) {
        s->rev = c->at[1].number > s->rev ? c->at[1].number : s->rev;
    }
}

static int by_id(const void *a, const void *b)
{
    const struct db_row *x = a;
    const struct db_row *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->rev < y->rev ? -1 : x->rev > y->rev;
}

static void sort(struct rows *r)
{
    if (r->n)
        qsort(r->at, r->n, sizeof(*r->at), by_id);
}

static const struct db_row *find(const struct rows *r, int64_t id)
{
    size_t low = 0;
    size_t high = r->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (r->at[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return low < r->n && r->at[low].id == id ? &r->at[low] : NULL;
}

/* One row a name, the newest; returns the highest revision. */
static int64_t keep_newest(struct salvage *s, struct map *by_name)
{
    int64_t max = 0;

    for (size_t i = 0; i < s->good.n; i++) {
        struct db_row *r = &s->good.at[i];
        str name =
            arena_printf(s->a, "%" PRI_STR "%c%" PRI_STR, STR_ARG(r->coll), 0, STR_ARG(r->key));
        struct db_row *other = map_get(by_name, name);
        if (!other || other->rev < r->rev)
            map_put(by_name, name, r);
        max = r->rev > max ? r->rev : max;
    }
    return max;
}

static int put_good(const struct salvage *s, const struct map *by_name, struct db *to,
                    struct err *e)
{
    int64_t id = 1;

    for (size_t i = 0; i < s->good.n; i++) {
        struct db_row r = s->good.at[i];
        AUTO(arena) struct arena *a = arena_new();
        str name = arena_printf(a, "%" PRI_STR "%c%" PRI_STR, STR_ARG(r.coll), 0, STR_ARG(r.key));
        if (map_get(by_name, name) != &s->good.at[i])
            continue;
        r.id = id++;
        if (db_put(to, &r, true, e) < 0)
            return -1;
    }
    return 0;
}

/* Everything that was there and is not good, by the best name there is for it. */
static int put_damaged(const struct salvage *s, struct db *to, struct err *e)
{
    for (size_t i = 0; i < s->kept.n; i++)
        if (db_keep_damaged(to, &s->kept.at[i], s->whats.at[i], e) < 0)
            return -1;
    for (size_t i = 0; i < s->names.n; i++) {
        const struct db_row *bad = find(&s->bad, s->names.at[i].id);
        struct db_row r = bad ? *bad : s->names.at[i];
        if (find(&s->good, r.id))
            continue;
        r.coll = s->names.at[i].coll;
        r.key = s->names.at[i].key;
        if (db_keep_damaged(to, &r, bad ? "checksum does not match" : "row cannot be read", e) < 0)
            return -1;
    }
    for (size_t i = 0; i < s->bad.n; i++)
        if (!find(&s->names, s->bad.at[i].id) && !find(&s->good, s->bad.at[i].id) &&
            db_keep_damaged(to, &s->bad.at[i], "checksum does not match", e) < 0)
            return -1;
    return 0;
}

static void set_unnamed_aside(struct salvage *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->good.n; i++) {
        if (find(&s->names, s->good.at[i].id)) {
            s->good.at[n++] = s->good.at[i];
            continue;
        }
        vec_push(&s->kept, s->good.at[i]);
        vec_push(&s->whats, "found without its name, so it may have been deleted");
    }
    s->good.n = n;
}

static int write_new(struct salvage *s, const char *path, struct err *e)
{
    struct map by_name = { 0 };
    struct db db = { 0 };
    bool damaged = false;

    sort(&s->good);
    sort(&s->bad);
    sort(&s->names);
    if (s->doubt_unnamed)
        set_unnamed_aside(s);
    int64_t max = keep_newest(s, &by_name);
    if (db_open(&db, path, &damaged, e) < 0) {
        map_done(&by_name);
        return -1;
    }
    int rc = db_begin(&db, e) < 0 || put_good(s, &by_name, &db, e) < 0 || put_damaged(s, &db, e) < 0
                 ? -1
                 : 0;
    if (rc == 0 && s->rev < max + !max) {
        struct db_row r = { .rev = max };
        rc = db_keep_damaged(&db, &r, "last revision cannot be read; advanced by a million", e);
        s->rev = max + DB_SAFE_JUMP;
    }
    rc = rc < 0 || db_commit(&db, s->rev, e) < 0 || db_tidy(&db, e) < 0 ? -1 : 0;
    db_close(&db);
    map_done(&by_name);
    return rc;
}

static void salvage_done(struct salvage *s)
{
    vec_done(&s->good);
    vec_done(&s->bad);
    vec_done(&s->names);
    vec_done(&s->kept);
    vec_done(&s->whats);
    arena_free(s->a);
}

/* The new file's own log and journal must not be there, nor those of an earlier try. */
static void remove_new(struct arena *a, const char *path)
{
    static const char *const ends[] = { ".new", ".new-wal", ".new-journal" };

    for (size_t i = 0; i < COUNT(ends); i++)
        remove(arena_printf(a, "%s%s", path, ends[i]).p);
}

int db_salvage(const char *path, struct err *e)
{
    struct salvage s = { .a = arena_new() };
    struct pages p = { 0 };
    int rc = pages_open(&p, path, e);

    log_warn("store damaged, reading what can be read", KVZ("path", path));
    if (rc == 0) {
        s.doubt_unnamed = p.wal_is_broken;
        for (uint32_t no = 1; no <= p.n; no++)
            cells_read(&p, no, on_cell, &s);
        pages_done(&p);
        remove_new(s.a, path);
        rc = write_new(&s, arena_printf(s.a, "%s.new", path).p, e);
        if (rc == 0 && rename(arena_printf(s.a, "%s.new", path).p,
                              arena_printf(s.a, "%s.rescued", path).p) < 0)
            rc = err_sys(e, "rename %s.new", path);
        if (rc < 0)
            remove_new(s.a, path);
    }
    salvage_done(&s);
    if (rc < 0)
        return err_wrap(e, "rescue the damaged %s", path);
    return db_salvage_finish(path, e);
}

static void sync_dir(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dir = slash ? arena_z(a, (str){ path, (size_t)(slash - path) + 1 }) : ".";
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

/* Once the rescued file is there under its name it is the truth; each step here may be done twice.
 * The old log goes before the new file comes, or it would be applied to it. */
int db_salvage_finish(const char *path, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *rescued = arena_printf(a, "%s.rescued", path).p;
    char when[32] = "";
    struct tm tm = { 0 };
    time_t now = time(NULL);

    if (access(rescued, F_OK) < 0)
        return 0;
    gmtime_r(&now, &tm);
    strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
    const char *aside = arena_printf(a, "%s.damaged-%s", path, when).p;
    for (int i = 2; link(path, aside) < 0 && errno == EEXIST; i++)
        aside = arena_printf(a, "%s.damaged-%s-%d", path, when, i).p;
    if (access(aside, F_OK) < 0)
        return err_sys(e, "keep the damaged %s aside", path);
    if (rename(arena_printf(a, "%s-wal", path).p, arena_printf(a, "%s-wal", aside).p) < 0 &&
        errno != ENOENT)
        return err_sys(e, "move %s-wal", path);
    sync_dir(a, path);
    if (rename(rescued, path) < 0)
        return err_sys(e, "rename %s", rescued);
    sync_dir(a, path);
    log_warn("store rebuilt, the damaged file is kept", KVZ("path", aside));
    return 0;
}
