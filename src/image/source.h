/* Where the documents and layers of an image lie: a directory, or an archive whose files are first
 * written to a directory of their own, as they come in any order and may be compressed. */
#pragma once

#include "base/map.h"
#include "image/document.h"
#include "image/image.h"

struct image_source {
    struct arena *a;
    int dir;          /* the layout, or what the archive was written to */
    bool is_archive;  /* files there are named by numbers: */
    struct map files; /* name in the archive to name there, or to "=name" of another */
    const struct image_limits *limits;
};

/* from: "-" is standard input. room: an empty directory for the files of an archive. */
int image_source_open(struct image_source *s, struct arena *a, const char *from, int room,
                      const struct image_limits *limits, struct err *e);
void image_source_done(struct image_source *s);
bool image_source_has(const struct image_source *s, const char *name);
/* A descriptor, or -1: the error names the file. */
int image_source_blob(const struct image_source *s, const struct image_blob *b, struct err *e);
/* A document, checked against its digest where that is known. */
jv image_source_json(const struct image_source *s, const struct image_blob *b, struct err *e);
