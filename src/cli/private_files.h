/* Files that pods have changed and nobody keeps: in overlays of their own, below a directory for
 * each container, PLACE/CONTAINER/N with a file N.of that has the path it stands for. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

enum { PRIVATE_DIRS = 3 };

struct private_files {
    struct arena *a;
    const char *home; /* whose files count, wherever it is; NULL: unknown */
    int copy_to;      /* a directory, open before pods ran; -1: they are only counted */
    /* filled */
    int64_t failed; /* of n: not copied */
    struct err why; /* the first of these */
    int64_t n;
    const char *dirs[PRIVATE_DIRS]; /* where they were, the first of them */
    size_t n_dirs;
    bool more_dirs;
};

/* Whether a path is of no interest: caches, temporary files, and the like. */
bool private_is_cache(str path, str home);
/* Counts what is in the place of one pod, and copies it to copy_to/POD. No link is followed there:
 * pods may have been able to write to it. */
void private_files_add(struct private_files *p, const char *place, const char *pod);
