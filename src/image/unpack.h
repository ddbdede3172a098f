/* Writes the entries of one layer below a directory, and nothing anywhere else. */
#pragma once

#include "image/image.h"
#include "image/stream.h"

#define IMAGE_WHITEOUT ".wh."
#define IMAGE_OPAQUE   ".wh..wh..opq" /* in a directory: nothing of the layers below is seen */
/* In a directory that the layer has no entry for, only files in it: what it is below stays. */
#define IMAGE_IMPLICIT ".wh..wh..implicit"

struct image_unpack {
    int root; /* the directory */
    const struct image_limits *limits;
    bool as_root; /* files belong to whom the archive says; else they are ours */
    int64_t bytes;
    int64_t files;
    struct image_dropped dropped;
    char parent[IMAGE_PATH_BYTES + 1]; /* the last entry's, whose descriptor is ... */
    int parent_fd;                     /* ... this; -1: none */
};

void image_unpack_init(struct image_unpack *u, int root, const struct image_limits *limits);
void image_unpack_done(struct image_unpack *u);
/* All entries. The error names the entry. */
int image_unpack(struct image_unpack *u, struct image_stream *s, struct err *e);

/* A path of an archive as a relative one without ".", doubled and trailing slashes; out: room for
 * IMAGE_PATH_BYTES + 1. -1: it has "..", or is too long or too deep. "" is the root. */
int image_path_clean(const char *path, char *out, struct err *e);
