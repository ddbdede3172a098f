/* Makes logs shorter for people: a line that a container writes again and again is shown once and
 * counted, and the commands that start MPI's daemons are cut. What is kept on disk stays whole. */
#pragma once

#include "base/arena.h"
#include "base/map.h"

struct folds {
    struct map last; /* by key: the last line of a container and how often it came again */
};

void folds_done(struct folds *f);
/* True: the line of this container is the one before it again, and is not to be shown. Else *again
 * is how often the one before came again without being shown. */
bool folds_is_again(struct folds *f, str key, str line, int64_t *again);
/* For each container with lines that were not shown; forgets them. */
void folds_flush(struct folds *f, void (*tell)(void *ctx, str key, int64_t again), void *ctx);

/* "(the line above was repeated 4 times)" */
str fold_again_text(struct arena *a, int64_t again);

/* The line, or what is worth showing of it. */
str fold_long(struct arena *a, str line);
