/* What the files of muster image share. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

struct mapping {
    struct arena *a;
    const char *dir;
    const char *path;
    str heading; /* comments at the beginning */
    jv root;     /* {images: [...]} */
};

int image_table_write(struct mapping *t, jv list, struct err *e);
/* The list with the image's entry replaced, or in front of all others, or gone (entry absent). */
jv image_table_changed(struct mapping *t, const char *image, jv entry, bool *was_there);

/* The commands. They return the exit status. name may be NULL. */
int image_import_command(struct mapping *t, const char *from, const char *name);
int image_pull_command(struct mapping *t, const char *ref, const char *name);
int image_rm_command(struct mapping *t, const char *name);
