/* Memory for many small things that stay: apart from what comes and goes, so that after a burst of
 * work nothing is left between them. On the loop thread. */
#pragma once

#include <stddef.h>

struct slab_page;

enum { SLAB_CLASSES = 112 };

struct slab {                              /* embedded; starts as { 0 } */
    struct slab_page *pages[SLAB_CLASSES]; /* that have room */
    size_t bytes;                          /* taken from the system */
};

void *slab_alloc(struct slab *s, size_t size);        /* 16-byte aligned, not cleared; never NULL */
void slab_free(struct slab *s, void *p, size_t size); /* size: as it was asked for; p may be NULL */
