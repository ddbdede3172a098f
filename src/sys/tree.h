/* Whole trees of files, as pods leave them: of any depth, with anything in them, while others may
 * still write there. Links are not followed, mounts not crossed; few descriptors, any thread. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

/* What name, below the directory, is, and everything in it; directories without rights for us are
 * given them. What cannot be removed stays, and the rest goes all the same. None there: 0. */
int tree_remove(int dir, const char *name, struct err *e);
/* The same, as long as is_over(ctx) is false: then the rest stays, and that is no error. */
int tree_remove_until(int dir, const char *name, bool (*is_over)(void *ctx), void *ctx,
                      struct err *e);
/* What it takes on the disk, as far as it can be seen; 0: there is none. */
int64_t tree_bytes(const char *path);

/* With those above it; mode: of the last, if it was not there. */
int tree_make(struct arena *a, const char *path, mode_t mode, struct err *e);
