/* See logfile.h. Files are known by their inode, as rotation renames them at any time: the next of
 * one that is path.3 now is path.2. */

#include "loop/logfile.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/time.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BLOCK = 32 * 1024,
    BUDGET = 1024 * 1024, /* looked at in one call */
    FILES_MOST = 100,
};

struct logfile {
    char *path;
    struct logfile_opts o;
    char since[TIME_BYTES]; /* as it compares with a record's time */
    int fd;                 /* -1: none is there yet */
    ino_t ino;
    int64_t at;    /* in the file: of what is not in `in` yet */
    struct buf in; /* records, from in_at on */
    size_t in_at;
    bool skips; /* a record that is too long, up to its end */
    struct buf out;
    size_t out_at;
    bool mid_line;
    int64_t given;
    bool seeks; /* goes back from the end to the last lines */
    bool any;   /* a record was met on the way back */
    int64_t lines;
    int64_t start; /* of the record after the one that is looked at, in that file */
    ino_t start_ino;
};

/* ---- files */

static void name_of(const struct logfile *f, int k, char out[PATH_MAX])
{
    if (k == 0)
        snprintf(out, PATH_MAX, "%s", f->path);
    else
        snprintf(out, PATH_MAX, "%s.%d", f->path, k);
}

static bool ino_at(const struct logfile *f, int k, ino_t *out)
{
    char path[PATH_MAX];
    struct stat st;

    name_of(f, k, path);
    if (stat(path, &st) < 0)
        return false;
    *out = st.st_ino;
    return true;
}

/* Where the file with that inode is now; -1: it is gone. */
static int place_of(const struct logfile *f, ino_t ino)
{
    ino_t now;

    for (int k = 0; k < FILES_MOST; k++) {
        if (ino_at(f, k, &now) && now == ino)
            return k;
        if (k > 0 && !ino_at(f, k, &now))
            break;
    }
    return -1;
}

static int oldest(const struct logfile *f)
{
    ino_t ino;
    int k = 0;

    while (k + 1 < FILES_MOST && ino_at(f, k + 1, &ino))
        k++;
    return k;
}

static bool open_at(struct logfile *f, int k)
{
    char path[PATH_MAX];
    struct stat st;

    name_of(f, k, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    if (f->fd >= 0)
        close(f->fd);
    f->fd = fd;
    f->ino = st.st_ino;
    f->at = 0;
    return true;
}

/* The file written after this one (step -1) or before it (step 1). False: there is none. */
static bool open_beside(struct logfile *f, int step)
{
    enum { TRIES = 8 };
    ino_t own = f->ino;

    for (int i = 0; i < TRIES; i++) { /* it may be rotated while we look */
        int k = place_of(f, own);
        if (k < 0) /* it is gone: of what is left, the oldest */
            return step < 0 && open_at(f, oldest(f));
        if (k + step < 0 || k + step >= FILES_MOST)
            return false;
        if (open_at(f, k + step) && place_of(f, own) == k)
            return true;
        ino_t left;
        if (step > 0 && !ino_at(f, k + step, &left))
            return false;
    }
    return false;
}

static int64_t file_size(const struct logfile *f)
{
    struct stat st;

    return fstat(f->fd, &st) < 0 ? 0 : st.st_size;
}

/* ---- where to begin */

static bool begins_before(struct logfile *f, int k)
{
    char head[CRILOG_TEXT];

    if (!open_at(f, k))
        return false;
    ssize_t n = pread(f->fd, head, sizeof(head), 0);
    return n == (ssize_t)sizeof(head) && memcmp(head, f->since, strlen(f->since)) < 0;
}

static bool begin(struct logfile *f)
{
    int k = 0, last = oldest(f);

    if (f->o.tail >= 0) {
        if (!open_at(f, 0))
            return false;
        f->seeks = true;
        f->at = f->start = file_size(f);
        f->start_ino = f->ino;
        return true;
    }
    if (f->since[0])
        while (k < last && !begins_before(f, k))
            k++;
    else
        k = last;
    return open_at(f, k) || open_at(f, 0);
}

static bool found_start(struct logfile *f)
{
    f->seeks = false;
    if (f->ino != f->start_ino) {
        int k = place_of(f, f->start_ino);
        if (!open_at(f, k < 0 ? oldest(f) : k))
            return false;
        if (k < 0)
            return true;
    }
    f->at = f->start;
    return true;
}

/* A record begins there; true: enough lines are behind it. */
static bool met(struct logfile *f, int64_t at, char tag)
{
    if (f->any && tag == 'F' && ++f->lines == f->o.tail)
        return true;
    f->any = true;
    f->start = at;
    f->start_ino = f->ino;
    return false;
}

/* One block back. */
static void seek(struct logfile *f)
{
    char text[BLOCK + CRILOG_TEXT];
    int64_t from = f->at > BLOCK ? f->at - BLOCK : 0;
    ssize_t n = pread(f->fd, text, (size_t)(f->at - from) + CRILOG_TEXT, from);
    ssize_t top = n < f->at - from ? n : (ssize_t)(f->at - from);

    if (f->o.tail == 0) {
        found_start(f);
        return;
    }
    for (ssize_t i = top - 1; i >= 0; i--) {
        if (text[i] != '\n' || i + 1 + CRILOG_TAG >= n)
            continue;
        if (met(f, from + i + 1, text[i + 1 + CRILOG_TAG])) {
            found_start(f);
            return;
        }
    }
    f->at = from;
    if (from > 0)
        return;
    if ((n > CRILOG_TAG && met(f, 0, text[CRILOG_TAG])) || !open_beside(f, 1)) {
        found_start(f);
        return;
    }
    f->at = file_size(f);
}

/* ---- records */

static bool is_over(const struct logfile *f)
{
    return f->o.limit_bytes >= 0 && f->given >= f->o.limit_bytes;
}

static void give(struct logfile *f, str s)
{
    if (f->o.limit_bytes >= 0 && (int64_t)s.n > f->o.limit_bytes - f->given)
        s.n = (size_t)(f->o.limit_bytes - f->given);
    f->given += (int64_t)s.n;
    buf_add(&f->out, s);
}

static void take(struct logfile *f, str record)
{
    struct crilog r;

    if (!crilog_read(record, &r) ||
        (f->since[0] && memcmp(r.time.p, f->since, strlen(f->since)) < 0))
        return;
    if (f->o.on_piece) {
        f->o.on_piece(f->o.ctx, r.stream, r.text);
        if (r.ends)
            f->o.on_piece(f->o.ctx, r.stream, S("\n"));
        return;
    }
    if (f->o.timestamps && !f->mid_line) {
        give(f, r.time);
        give(f, S(" "));
    }
    give(f, r.text);
    if (r.ends)
        give(f, S("\n"));
    f->mid_line = !r.ends;
}

static bool next_record(struct logfile *f)
{
    str rest = str_sub(buf_str(&f->in), f->in_at, f->in.n);
    ptrdiff_t end = str_find(rest, '\n');

    if (end < 0) {
        if (rest.n > CRILOG_RECORD_MAX) {
            f->skips = true;
            f->in_at = f->in.n;
        }
        return false;
    }
    f->in_at += (size_t)end + 1;
    if (!f->skips)
        take(f, str_sub(rest, 0, (size_t)end));
    f->skips = false;
    return true;
}

static bool read_more(struct logfile *f)
{
    ssize_t n = pread(f->fd, buf_room(&f->in, BLOCK), BLOCK, f->at);

    if (n <= 0)
        return false;
    f->in.n += (size_t)n;
    f->at += n;
    return true;
}

/* False: there is no more now. */
static bool fill(struct logfile *f)
{
    if (f->in_at) {
        memmove(f->in.p, f->in.p + f->in_at, f->in.n - f->in_at);
        f->in.n -= f->in_at;
        f->in_at = 0;
    }
    if (read_more(f))
        return true;
    int64_t size = file_size(f);
    if (size < f->at) { /* a record that did not fit on the disk was taken back */
        f->at = size;
        f->in.n = 0;
    }
    if (place_of(f, f->ino) == 0)
        return false;
    if (read_more(f)) /* written before it was put aside */
        return true;
    if (!open_beside(f, -1))
        return false;
    f->in.n = 0;
    f->skips = false;
    return true;
}

/* ---- */

struct logfile *logfile_open(const char *path, const struct logfile_opts *o)
{
    struct logfile *f = mem_new(sizeof(*f));

    f->path = mem_or_abort(strdup(path));
    f->o = *o;
    f->fd = -1;
    if (o->since_us > 0) {
        size_t n = time_print_micro(f->since, o->since_us);
        f->since[n ? n - 1 : 0] = 0; /* without Z */
    }
    return f;
}

void logfile_free(struct logfile *f)
{
    if (!f)
        return;
    if (f->fd >= 0)
        close(f->fd);
    buf_done(&f->in);
    buf_done(&f->out);
    free(f->path);
    free(f);
}

static size_t hand_out(struct logfile *f, char *to, size_t n)
{
    size_t have = f->out.n - f->out_at;

    if (have > n)
        have = n;
    if (have)
        memcpy(to, f->out.p + f->out_at, have);
    f->out_at += have;
    if (f->out_at == f->out.n) {
        buf_clear(&f->out);
        f->out_at = 0;
    }
    return have;
}

/* LOGFILE_BUSY: it moved on. */
static int step(struct logfile *f, int64_t *looked)
{
    if (is_over(f))
        return LOGFILE_FULL;
    if (f->fd < 0 && !begin(f))
        return LOGFILE_DRY;
    if (f->seeks) {
        seek(f);
    } else if (next_record(f)) {
        return LOGFILE_BUSY;
    } else if (!fill(f)) {
        if (!f->in.n)
            buf_done(&f->in); /* one that waits holds little */
        return LOGFILE_DRY;
    }
    *looked += BLOCK;
    return LOGFILE_BUSY;
}

ssize_t logfile_read(struct logfile *f, char *to, size_t n)
{
    int64_t looked = 0;
    size_t put = hand_out(f, to, n);
    int rc = LOGFILE_BUSY;

    while (put < n && rc == LOGFILE_BUSY && looked < BUDGET) {
        rc = step(f, &looked);
        put += hand_out(f, to + put, n - put);
    }
    return put ? (ssize_t)put : rc;
}
