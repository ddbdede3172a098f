/* File and write-ahead log, page by page (https://www.sqlite.org/fileformat2.html#walformat). Each
 * frame's checksum goes on from that of the frame before it, so SQLite ends at the first bad one.
 * We go on from what the bad one says: rows have checksums of their own to tell what is good. */

#include "store/pages.h"

#include "base/mem.h"
#include "base/vec.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 32, FRAME_HEADER = 24, FRAME = FRAME_HEADER + DB_PAGE_BYTES };

struct sums {
    uint32_t a;
    uint32_t b;
};

static uint32_t be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t le32(const unsigned char *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static struct sums sum(struct sums s, bool big_endian, const unsigned char *p, size_t n)
{
    for (size_t i = 0; i + 8 <= n; i += 8) {
        s.a += (big_endian ? be32(p + i) : le32(p + i)) + s.b;
        s.b += (big_endian ? be32(p + i + 4) : le32(p + i + 4)) + s.a;
    }
    return s;
}

static struct sums stored_sums(const unsigned char *p)
{
    return (struct sums){ be32(p), be32(p + 4) };
}

static bool same_sums(struct sums x, struct sums y)
{
    return x.a == y.a && x.b == y.b;
}

struct place {
    uint32_t page;
    int64_t at;
};

struct wal {
    int fd;
    bool big_endian;
    unsigned char salts[8];
    struct sums last;       /* what the next frame goes on from */
    bool is_broken;         /* a frame was bad */
    unsigned commits_after; /* good ones since */
    struct {
        VEC(struct place);
    } open, sound, beyond; /* since the last commit; as SQLite sees it; after the break */
};

static void take_open(struct wal *w)
{
    for (size_t i = 0; i < w->open.n; i++) {
        if (w->is_broken)
            vec_push(&w->beyond, w->open.at[i]);
        else
            vec_push(&w->sound, w->open.at[i]);
    }
    w->open.n = 0;
}

static void read_frame(struct wal *w, const unsigned char *frame, int64_t at)
{
    struct sums said = stored_sums(frame + 16);
    struct sums real = sum(w->last, w->big_endian, frame, 8);
    bool ours = memcmp(frame + 8, w->salts, 8) == 0;
    uint32_t page = be32(frame);

    real = sum(real, w->big_endian, frame + FRAME_HEADER, DB_PAGE_BYTES);
    bool good = ours && same_sums(real, said);
    w->is_broken = w->is_broken || !good;
    w->last = said;
    /* what is left over from before the log last started over is pushed too, but no good commit
     * comes after it to take it */
    vec_push(&w->open, (struct place){ page, at + FRAME_HEADER });
    if (!good || !be32(frame + 4))
        return;
    take_open(w);
    w->commits_after += w->is_broken;
}

/* Reads the whole log; what cannot be read ends it. */
static void read_wal(struct wal *w)
{
    static const size_t header_summed = 24;
    unsigned char head[HEADER];
    unsigned char frame[FRAME];
    int64_t at = HEADER;

    if (pread(w->fd, head, HEADER, 0) != HEADER ||
        pread(w->fd, frame, FRAME_HEADER, HEADER) != FRAME_HEADER)
        return;
    w->big_endian = be32(head) & 1;
    struct sums real = sum((struct sums){ 0 }, w->big_endian, head, header_summed);
    w->is_broken = !same_sums(real, stored_sums(head + header_summed));
    memcpy(w->salts, w->is_broken ? frame + 8 : head + 16, 8);
    w->last = stored_sums(head + header_summed);
    for (; pread(w->fd, frame, FRAME, at) == FRAME; at += FRAME)
        read_frame(w, frame, at);
}

static void wal_done(struct wal *w)
{
    vec_done(&w->open);
    vec_done(&w->sound);
    vec_done(&w->beyond);
}

static int open_wal(const char *path)
{
    char name[4096];

    if (snprintf(name, sizeof(name), "%s-wal", path) >= (int)sizeof(name))
        return -1;
    return open(name, O_RDONLY | O_CLOEXEC);
}

unsigned wal_commits_cut_off(const char *path)
{
    struct wal w = { .fd = open_wal(path) };

    if (w.fd < 0)
        return 0;
    read_wal(&w);
    close(w.fd);
    wal_done(&w);
    return w.commits_after;
}

static void overlay(struct pages *p, const struct place *places, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t no = places[i].page;
        if (!no || no > p->in_wal_n) /* a damaged number: more pages than file and log have */
            continue;
        p->in_wal[no] = places[i].at;
        p->n = no > p->n ? no : p->n;
    }
}

int pages_open(struct pages *p, const char *path, struct err *e)
{
    struct stat st = { 0 };

    *p = (struct pages){ .fd = open(path, O_RDONLY | O_CLOEXEC), .wal = -1 };
    if (p->fd < 0 || fstat(p->fd, &st) < 0) {
        err_sys(e, "open %s", path);
        pages_done(p);
        return -1;
    }
    p->n = (uint32_t)((st.st_size + DB_PAGE_BYTES - 1) / DB_PAGE_BYTES);
    struct wal w = { .fd = open_wal(path) };
    p->wal = w.fd;
    if (w.fd >= 0)
        read_wal(&w);
    p->in_wal_n = p->n + (uint32_t)(w.sound.n + w.beyond.n);
    p->in_wal = mem_array(p->in_wal_n + 1, sizeof(*p->in_wal));
    overlay(p, w.sound.at, w.sound.n);
    p->wal_is_broken = w.commits_after > 1;
    if (p->wal_is_broken)
        overlay(p, w.beyond.at, w.beyond.n);
    wal_done(&w);
    return 0;
}

void pages_done(struct pages *p)
{
    if (p->fd >= 0)
        close(p->fd);
    if (p->wal >= 0)
        close(p->wal);
    free(p->in_wal);
    p->in_wal = NULL;
}

bool pages_read(const struct pages *p, uint32_t no, unsigned char to[DB_PAGE_BYTES])
{
    if (!no || no > p->n)
        return false;
    ssize_t n = p->in_wal[no] ? pread(p->wal, to, DB_PAGE_BYTES, p->in_wal[no])
                              : pread(p->fd, to, DB_PAGE_BYTES, (int64_t)(no - 1) * DB_PAGE_BYTES);
    if (n <= 0)
        return false;
    memset(to + n, 0, (size_t)(DB_PAGE_BYTES - n));
    return true;
}
