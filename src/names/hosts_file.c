/* The file is its head, then slots of a multiple of UNIT bytes, each a line: shown, or a comment. A
 * reader may hold the first half of a slot and read the second later, so one that was freed is
 * neither used again nor cut off for a while. */

#include "names/hosts_file.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { UNIT = 64, CLASSES = 17, REST_MS = 2000, FILE_MAX_BYTES = 256 << 20 };

static const str mark = S_INIT("# names in the cluster\n");

struct entry {
    str line; /* in text */
    size_t slot;
    bool placed;
    bool old;   /* taken over, and not asked for since */
    bool going; /* to be hidden */
    bool queued;
    char text[];
};

struct slot {
    size_t at;
    size_t size;
    int64_t freed_ms;
    struct entry *shows; /* NULL: free */
};

struct queue {
    VEC(size_t);
    size_t from;
};

struct names_file {
    char *path;
    struct map lines; /* to entries */
    struct {
        VEC(struct slot); /* in the order they stand in */
    } slots;
    struct queue free[CLASSES]; /* numbers of slots, by size; some may be in use again */
    struct {
        VEC(struct entry *);
    } coming, going;
    size_t end;     /* of the last slot */
    size_t on_disk; /* bytes that the file has */
    bool fresh;     /* nobody has been given it yet */
};

static struct entry *entry_new(struct names_file *f, str line)
{
    struct entry *x = mem_new(sizeof(*x) + line.n + 1);

    memcpy(x->text, line.p, line.n);
    x->line = (str){ x->text, line.n };
    map_put(&f->lines, x->line, x);
    return x;
}

static void entry_drop(struct names_file *f, struct entry *x)
{
    map_remove(&f->lines, x->line);
    free(x);
}

/* Sizes that are not ours, from a file that somebody edited, are never used again. */
static size_t class_of(size_t size)
{
    return size % UNIT == 0 && size / UNIT < CLASSES ? size / UNIT : 0;
}

static void set_free(struct names_file *f, size_t i, int64_t now_ms)
{
    struct queue *q = &f->free[class_of(f->slots.at[i].size)];

    f->slots.at[i].shows = NULL;
    f->slots.at[i].freed_ms = now_ms;
    if (q == &f->free[0])
        return;
    if (q->from && q->from >= q->n / 2) {
        memmove(q->at, q->at + q->from, (q->n - q->from) * sizeof(*q->at));
        q->n -= q->from;
        q->from = 0;
    }
    vec_push(q, i);
}

/* ---- what is there */

/* false: not a file of ours any more. */
static bool adopt(struct names_file *f, str text)
{
    for (ptrdiff_t nl; (nl = str_find(text, '\n')) >= 0;) {
        str line = str_sub(text, 0, (size_t)nl);
        size_t i = f->slots.n;
        struct slot s = { .at = f->end, .size = line.n + 1 };
        f->end += s.size;
        vec_push(&f->slots, s);
        text = str_sub(text, (size_t)nl + 1, text.n);
        if (line.n && line.p[0] == '#') {
            set_free(f, i, 0);
            continue;
        }
        if (!line.n || map_get(&f->lines, str_trim(line)))
            return false;
        struct entry *x = entry_new(f, str_trim(line));
        x->slot = i;
        x->placed = x->old = true;
        f->slots.at[i].shows = x;
    }
    return true; /* a last line that a crash cut short is written over */
}

static void forget(struct names_file *f)
{
    MAP_EACH (s, &f->lines)
        free(s->value);
    map_done(&f->lines);
    f->lines = (struct map){ 0 };
    f->slots.n = 0;
    for (size_t i = 0; i < CLASSES; i++)
        f->free[i].n = f->free[i].from = 0;
}

static int read_all(int fd, struct buf *b)
{
    ssize_t n;

    while (b->n < FILE_MAX_BYTES && (n = read(fd, buf_room(b, 1 << 16), 1 << 16)) != 0) {
        if (n < 0)
            return -1;
        b->n += (size_t)n;
    }
    return 0;
}

static int start_file(struct names_file *f, int fd, str head, struct err *e)
{
    AUTO(buf) struct buf have = { 0 };
    AUTO(buf) struct buf want = { 0 };

    buf_add(&want, head);
    buf_add(&want, mark);
    f->end = want.n;
    if (read_all(fd, &have) < 0)
        return err_sys(e, "read %s", f->path);
    f->on_disk = have.n;
    if (str_starts(buf_str(&have), buf_str(&want)) &&
        adopt(f, str_sub(buf_str(&have), want.n, have.n)))
        return 0;
    forget(f);
    f->end = want.n;
    f->fresh = have.n == 0;
    if (pwrite(fd, want.p, want.n, 0) != (ssize_t)want.n || ftruncate(fd, (off_t)want.n) < 0)
        return err_sys(e, "write %s", f->path);
    f->on_disk = want.n;
    return 0;
}

struct names_file *names_file_open(const char *path, str head, struct err *e)
{
    struct names_file *f = mem_new(sizeof(*f));
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);

    f->path = mem_or_abort(strdup(path));
    if (fd < 0)
        err_sys(e, "open %s", path);
    if (fd < 0 || start_file(f, fd, head, e) < 0) {
        names_file_close(f);
        f = NULL;
    } else if (fchmod(fd, 0644) < 0) { /* whatever the umask */
        (void)errno;
    }
    if (fd >= 0)
        close(fd);
    return f;
}

void names_file_close(struct names_file *f)
{
    if (!f)
        return;
    forget(f);
    for (size_t i = 0; i < CLASSES; i++)
        vec_done(&f->free[i]);
    vec_done(&f->slots);
    vec_done(&f->coming);
    vec_done(&f->going);
    free(f->path);
    free(f);
}

const char *names_file_path(const struct names_file *f)
{
    return f->path;
}

/* ---- changes */

bool names_file_has(const struct names_file *f, str line)
{
    return map_get(&f->lines, line) != NULL;
}

void names_file_add(struct names_file *f, str line)
{
    struct entry *x = map_get(&f->lines, line);

    if (!line.n || line.p[0] == '#' || memchr(line.p, '\n', line.n))
        return;
    if (!x) {
        x = entry_new(f, line);
        vec_push(&f->coming, x);
    }
    x->old = x->going = false;
}

static void hide(struct names_file *f, struct entry *x)
{
    x->going = true;
    if (x->queued || !x->placed)
        return;
    vec_push(&f->going, x);
    x->queued = true;
}

void names_file_drop(struct names_file *f, str line)
{
    struct entry *x = map_get(&f->lines, line);

    if (x)
        hide(f, x);
}

void names_file_drop_old(struct names_file *f)
{
    for (size_t i = 0; i < f->slots.n; i++)
        if (f->slots.at[i].shows && f->slots.at[i].shows->old)
            hide(f, f->slots.at[i].shows);
}

/* ---- writing */

static int put(const struct names_file *f, int fd, str bytes, size_t at, struct err *e)
{
    ssize_t n = pwrite(fd, bytes.p, bytes.n, (off_t)at);

    if (n == (ssize_t)bytes.n)
        return 0;
    if (n >= 0)
        errno = ENOSPC;
    return err_sys(e, "write %s", f->path);
}

static bool is_rested(const struct slot *s, int64_t now_ms)
{
    return !s->shows && now_ms - s->freed_ms >= REST_MS;
}

static size_t slot_size(str line)
{
    return (line.n + 1 + UNIT - 1) / UNIT * UNIT;
}

/* A free slot of that size, or SIZE_MAX. */
static size_t pick(struct names_file *f, size_t size, int64_t now_ms)
{
    struct queue *q = &f->free[class_of(size)];

    for (; q->from < q->n; q->from++) {
        size_t i = q->at[q->from];
        if (i >= f->slots.n || f->slots.at[i].shows || f->slots.at[i].size != size)
            continue;
        return is_rested(&f->slots.at[i], now_ms) ? q->at[q->from++] : SIZE_MAX;
    }
    return SIZE_MAX;
}

static void slot_bytes(struct buf *b, str line, size_t size, bool shown)
{
    size_t from = b->n;

    if (shown) {
        buf_add(b, line);
    } else {
        buf_addc(b, '#');
        buf_add(b, str_sub(line, 1, line.n));
    }
    while (b->n - from < size - 1)
        buf_addc(b, ' ');
    buf_addc(b, '\n');
}

/* What was to stand at the end does not. */
static void unplace(struct names_file *f, size_t first, size_t end)
{
    for (size_t k = 0; k < f->coming.n; k++)
        if (f->coming.at[k]->placed && f->coming.at[k]->slot >= first)
            f->coming.at[k]->placed = false;
    f->slots.n = first;
    f->end = end;
}

/* Finds each line its place; those at the end are written in one go. */
static int place(struct names_file *f, int fd, int64_t now_ms, struct err *e)
{
    AUTO(buf) struct buf block = { 0 };
    AUTO(buf) struct buf one = { 0 };
    size_t from = f->end, first = f->slots.n;

    for (size_t k = 0; k < f->coming.n; k++) {
        struct entry *x = f->coming.at[k];
        size_t size = slot_size(x->line);
        if (x->going || x->placed)
            continue;
        size_t i = pick(f, size, now_ms);
        if (i == SIZE_MAX) {
            i = f->slots.n;
            vec_push(&f->slots, (struct slot){ .at = f->end, .size = size });
            f->end += size;
            slot_bytes(&block, x->line, size, f->fresh);
        } else {
            buf_clear(&one);
            slot_bytes(&one, x->line, size, false);
            if (put(f, fd, buf_str(&one), f->slots.at[i].at, e) < 0) {
                unplace(f, first, from);
                return -1;
            }
        }
        x->slot = i;
        x->placed = true;
        f->slots.at[i].shows = x;
    }
    if (block.n && put(f, fd, buf_str(&block), from, e) < 0) {
        unplace(f, first, from);
        return -1;
    }
    return 0;
}

static int show(struct names_file *f, int fd, struct err *e)
{
    for (size_t k = 0; !f->fresh && k < f->coming.n; k++) {
        struct entry *x = f->coming.at[k];
        if (!x->going && put(f, fd, str_sub(x->line, 0, 1), f->slots.at[x->slot].at, e) < 0)
            return -1;
    }
    for (size_t k = 0; k < f->coming.n; k++)
        if (f->coming.at[k]->going && !f->coming.at[k]->placed)
            entry_drop(f, f->coming.at[k]);
    f->coming.n = 0;
    return 0;
}

static int hide_all(struct names_file *f, int fd, int64_t now_ms, struct err *e)
{
    for (; f->going.n; f->going.n--) {
        struct entry *x = f->going.at[f->going.n - 1];
        x->queued = false;
        if (!x->going)
            continue; /* came back */
        if (put(f, fd, S("#"), f->slots.at[x->slot].at, e) < 0)
            return -1;
        set_free(f, x->slot, now_ms);
        entry_drop(f, x);
    }
    return 0;
}

static void cut(struct names_file *f, int fd, int64_t now_ms)
{
    while (f->slots.n && is_rested(&f->slots.at[f->slots.n - 1], now_ms))
        f->end = f->slots.at[--f->slots.n].at;
    if (f->end < f->on_disk && ftruncate(fd, (off_t)f->end) < 0)
        return; /* the next time */
    f->on_disk = f->end;
}

int names_file_write(struct names_file *f, int64_t now_ms, struct err *e)
{
    if (!f->coming.n && !f->going.n && !f->fresh)
        return 0;
    int fd = open(f->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return err_sys(e, "open %s", f->path);
    int r = place(f, fd, now_ms, e);
    if (r == 0)
        r = show(f, fd, e);
    if (r == 0)
        r = hide_all(f, fd, now_ms, e);
    if (r == 0)
        cut(f, fd, now_ms);
    f->fresh = false;
    close(fd);
    return r;
}
