/* Loads libarchive. */
#pragma once

#include "base/err.h"

#include <stdbool.h>

/* To be called before any of its functions. */
int archive_lazy_load(struct err *e);
/* When nothing of it is in use: copies of this program with all its libraries (exec --install) are
 * for pods, which need no libarchive. */
void archive_lazy_unload(void);
