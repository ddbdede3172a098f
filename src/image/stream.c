/* Two readers in a row: libarchive gives nobody the bytes between its filters and its formats, and
 * a diff_id is the digest of these. The first only takes compression off, the second reads tar. */

#include "image/stream.h"

#include "base/mem.h"
#include "image/archive_lazy.h"
#include "image/image.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    READ_BYTES = 256 * 1024,
    PADDING = 1536, /* of the last file, and two empty blocks */
};

struct image_stream {
    int fd;
    struct archive *raw;
    struct archive *tar;
    struct digest_sum *blob;
    struct digest_sum *diff;
    int64_t bytes; /* unpacked so far */
    int64_t most;
    struct err failed; /* in a callback; code OK: nothing did */
    bool raw_is_over;
    bool padded;
    char *room; /* READ_BYTES */
};

static void note(struct image_stream *s, struct archive *r, const char *what)
{
    const char *why = archive_error_string(r);

    if (s->failed.code == ERR_OK)
        err_set(&s->failed, ERR_INVALID, "%s: %.150s", what, why ? why : "damaged");
}

static la_ssize_t read_file(struct archive *r, void *ctx, const void **out)
{
    struct image_stream *s = ctx;
    ssize_t n;

    (void)r;
    do
        n = image_stopped ? 0 : read(s->fd, s->room, READ_BYTES);
    while (n < 0 && errno == EINTR);
    if (image_stopped) {
        err_set(&s->failed, ERR_UNAVAILABLE, "interrupted");
        return ARCHIVE_FATAL;
    }
    if (n < 0) {
        err_sys(&s->failed, "read");
        return ARCHIVE_FATAL;
    }
    digest_sum_add(s->blob, s->room, (size_t)n);
    *out = s->room;
    return n;
}

/* Some tools leave out the padding at the end, and Go's reader, which all engines use, does not
 * mind. It does not count for the digest, by which what is really cut short is found. */
static la_ssize_t pad(struct image_stream *s, const void **out)
{
    static const char zeros[PADDING];

    *out = zeros;
    la_ssize_t n = s->padded || !s->bytes ? 0 : PADDING;
    s->padded = true;
    return n;
}

static la_ssize_t read_unpacked(struct archive *r, void *ctx, const void **out)
{
    struct image_stream *s = ctx;
    size_t n = 0;
    la_int64_t at;

    (void)r;
    if (s->raw_is_over)
        return pad(s, out);
    int rc = archive_read_data_block(s->raw, out, &n, &at);
    if (rc == ARCHIVE_EOF) {
        s->raw_is_over = true;
        return pad(s, out);
    }
    if (rc != ARCHIVE_OK) {
        note(s, s->raw, "cannot decompress");
        return ARCHIVE_FATAL;
    }
    s->bytes += (int64_t)n;
    if (s->bytes > s->most) {
        err_set(&s->failed, ERR_TOO_LARGE, "is larger than the limit when it is unpacked");
        return ARCHIVE_FATAL;
    }
    digest_sum_add(s->diff, *out, n);
    return (la_ssize_t)n;
}

static int fail(struct image_stream *s, struct archive *r, struct err *e)
{
    note(s, r, "not a tar file");
    if (e)
        *e = s->failed;
    return -1;
}

static int open_raw(struct image_stream *s)
{
    struct archive_entry *only;

    archive_read_support_filter_gzip(s->raw);
    archive_read_support_filter_zstd(s->raw);
    archive_read_support_format_raw(s->raw);
    archive_read_support_format_empty(s->raw);
    if (archive_read_open(s->raw, s, NULL, read_file, NULL) != ARCHIVE_OK)
        return -1;
    int rc = archive_read_next_header(s->raw, &only);
    s->raw_is_over = rc == ARCHIVE_EOF; /* an empty file */
    return rc == ARCHIVE_OK || rc == ARCHIVE_EOF ? 0 : -1;
}

struct image_stream *image_stream_open(int fd, int64_t most_bytes, struct err *e)
{
    if (archive_lazy_load(e) < 0)
        return NULL;
    struct image_stream *s = mem_new(sizeof(*s));

    s->fd = fd;
    s->most = most_bytes;
    s->room = mem_new(READ_BYTES);
    s->blob = digest_sum_new();
    s->diff = digest_sum_new();
    s->raw = mem_or_abort(archive_read_new());
    s->tar = mem_or_abort(archive_read_new());
    archive_read_support_format_tar(s->tar);
    archive_read_support_format_empty(s->tar);
    archive_read_set_options(s->tar, "hdrcharset=BINARY"); /* names are bytes in any locale */
    if (open_raw(s) < 0)
        fail(s, s->raw, e);
    else if (archive_read_open(s->tar, s, NULL, read_unpacked, NULL) != ARCHIVE_OK)
        fail(s, s->tar, e);
    else
        return s;
    image_stream_free(s);
    return NULL;
}

int image_stream_next(struct image_stream *s, struct archive_entry **out, struct err *e)
{
    int rc = archive_read_next_header(s->tar, out);

    if (rc == ARCHIVE_EOF)
        return 0;
    return rc == ARCHIVE_OK || rc == ARCHIVE_WARN ? 1 : fail(s, s->tar, e);
}

int image_stream_data(struct image_stream *s, const void **p, size_t *n, int64_t *at, struct err *e)
{
    int rc = archive_read_data_block(s->tar, p, n, at);

    if (rc == ARCHIVE_EOF)
        return 0;
    return rc == ARCHIVE_OK ? 1 : fail(s, s->tar, e);
}

/* A tar file ends before its file does: padding belongs to the digests, too. */
int image_stream_end(struct image_stream *s, struct digest *blob, struct digest *diff,
                     struct err *e)
{
    const void *p;
    la_ssize_t n = 1;

    while (n > 0)
        n = read_unpacked(s->tar, s, &p);
    if (n < 0)
        return fail(s, s->raw, e);
    for (n = 1; n > 0;)
        n = read_file(s->raw, s, &p);
    if (n < 0)
        return fail(s, s->raw, e);
    digest_sum_end(s->blob, blob);
    digest_sum_end(s->diff, diff);
    return 0;
}

void image_stream_free(struct image_stream *s)
{
    if (!s)
        return;
    archive_read_free(s->tar);
    archive_read_free(s->raw);
    digest_sum_free(s->blob);
    digest_sum_free(s->diff);
    free(s->room);
    free(s);
}
