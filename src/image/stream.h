/* A tar file that may be compressed (gzip, zstd): its bytes go through two digests, as they lie on
 * the disk and as they are when unpacked. */
#pragma once

#include "base/err.h"
#include "image/digest.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdint.h>

struct image_stream;

/* Borrows fd, a pipe is fine. most_bytes: of what is unpacked. */
struct image_stream *image_stream_open(int fd, int64_t most_bytes, struct err *e);
/* The next entry: 1; none left: 0; -1: as e says. */
int image_stream_next(struct image_stream *s, struct archive_entry **out, struct err *e);
/* A piece of the entry's data and where it goes: 1; all was read: 0. */
int image_stream_data(struct image_stream *s, const void **p, size_t *n, int64_t *at,
                      struct err *e);
/* Reads what is left. blob: of the file; diff: of the tar file in it. */
int image_stream_end(struct image_stream *s, struct digest *blob, struct digest *diff,
                     struct err *e);
void image_stream_free(struct image_stream *s);
static inline void image_stream_auto(struct image_stream **s)
{
    image_stream_free(*s);
}
