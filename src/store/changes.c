/* A line a change: checksum, revision, + or -, the lengths of collection and key, and both. Lines
 * ascend by revision and start over at the front of the file, so the first one that does not ascend
 * is an old one, and the end. The file is synced when it starts over, not with each change: it is
 * only behind after a power cut, never ahead, so it raises no false alarm. */

#include "store/changes.h"

#include "loop/log.h"
#include "store/crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILE_BYTES = 1024 * 1024
}; /* of names: more than the log of the database holds, as a rule */

/* NULL: of a database in memory nothing is left to miss. */
static const char *path_of(struct arena *a, const char *db_path)
{
    if (strcmp(db_path, ":memory:") == 0)
        return NULL;
    const char *slash = strrchr(db_path, '/');
    str dir = { db_path, slash ? (size_t)(slash - db_path) + 1 : 0 };

    return arena_printf(a, "%" PRI_STR "changes", STR_ARG(dir)).p;
}

/* ---- reading */

static str read_all(struct arena *a, const char *path)
{
    struct stat st = { 0 };
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    str out = STR_NONE;

    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size <= 2 * FILE_BYTES) {
        char *room = arena_alloc(a, (size_t)st.st_size + 1);
        ssize_t n = pread(fd, room, (size_t)st.st_size, 0);
        room[n > 0 ? n : 0] = 0;
        out = (str){ room, n > 0 ? (size_t)n : 0 };
    }
    if (fd >= 0)
        close(fd);
    return out;
}

/* The line at the front of text: how long it is, or 0 if it is none. */
static size_t read_line(str text, struct changed *out)
{
    enum { SUM = 9 }; /* "0123abcd " */
    char *at = NULL;

    if (text.n < SUM)
        return 0;
    uint32_t sum = (uint32_t)strtoul(text.p, &at, 16);
    const char *body = text.p + SUM;
    if (at != body - 1)
        return 0;
    out->rev = strtoll(body, &at, 10);
    if (at[0] != ' ' || (at[1] != '+' && at[1] != '-') || at[2] != ' ')
        return 0;
    out->is_delete = at[1] == '-';
    size_t coll_n = strtoul(at + 2, &at, 10);
    size_t key_n = strtoul(at, &at, 10);
    size_t left = text.n - (size_t)(at - text.p);
    if (coll_n > left || key_n > left || coll_n + key_n + 3 > left) /* two spaces, a newline */
        return 0;
    out->coll = (str){ at + 1, coll_n };
    out->key = (str){ at + 2 + coll_n, key_n };
    const char *end = out->key.p + key_n;
    if (*end != '\n' || crc32c(0, (str){ body, (size_t)(end - body) }) != sum)
        return 0;
    return (size_t)(end + 1 - text.p);
}

struct changes_past changes_read(struct arena *a, const char *db_path)
{
    str text = read_all(a, path_of(a, db_path));
    struct changes_past past = { 0 };
    struct changed one;
    size_t n;
    size_t lines = 0;

    for (size_t i = 0; i < text.n; i++)
        lines += text.p[i] == '\n';
    past.at = ARENA_ARRAY(a, struct changed, lines + 1);
    while ((n = read_line(text, &one)) && one.rev > past.rev) {
        past.rev = one.rev;
        past.at[past.n++] = one;
        past.end += (int64_t)n;
        text = str_sub(text, n, text.n);
    }
    return past;
}

/* ---- writing */

void changes_open(struct changes *c, const char *db_path, int64_t at)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *path = path_of(a, db_path);

    *c = (struct changes){ .fd = -1, .at = at };
    if (!path)
        return;
    c->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (c->fd < 0)
        log_warn("cannot note which changes were acknowledged", KVZ("path", path),
                 KVZ("error", strerror(errno)));
    else if (fallocate(c->fd, 0, 0, FILE_BYTES) < 0) /* so that a full disk does not stop us */
        log_debug("no space is reserved for the names of changes", KVZ("error", strerror(errno)));
}

void changes_close(struct changes *c)
{
    if (c->fd >= 0) {
        fdatasync(c->fd);
        close(c->fd);
    }
    buf_done(&c->new);
}

void changes_add(struct changes *c, const struct changed *one)
{
    char sum[16];

    if (c->fd < 0)
        return;
    size_t start = c->new.n;
    buf_printf(&c->new, "%08x %" PRId64 " %c %zu %zu ", 0U, one->rev, one->is_delete ? '-' : '+',
               one->coll.n, one->key.n);
    buf_add(&c->new, one->coll);
    buf_addc(&c->new, ' ');
    buf_add(&c->new, one->key);
    buf_addc(&c->new, '\n');
    str body = { c->new.p + start + 9, c->new.n - start - 10 };
    snprintf(sum, sizeof(sum), "%08" PRIx32, crc32c(0, body));
    memcpy(c->new.p + start, sum, 8);
}

/* From the front when there is no room behind. What is cut off there is the oldest. */
void changes_write(struct changes *c)
{
    str text = buf_str(&c->new);

    if (c->fd < 0 || !text.n)
        return;
    if (c->at + (int64_t)text.n > FILE_BYTES)
        c->at = 0;
    ssize_t n = pwrite(c->fd, text.p, text.n, c->at);
    if (n != (ssize_t)text.n && c->at) {
        c->at = 0;
        n = pwrite(c->fd, text.p, text.n, 0);
    }
    bool failed = n != (ssize_t)text.n;
    if (failed && !c->is_failing)
        log_warn("cannot note which changes were acknowledged",
                 KVZ("error", n < 0 ? strerror(errno) : "no room"));
    c->is_failing = failed;
    c->at = failed ? 0 : c->at + n;
    buf_clear(&c->new);
}

void changes_restart(struct changes *c)
{
    if (c->fd >= 0)
        fdatasync(c->fd);
    c->at = 0;
}
