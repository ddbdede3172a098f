/* Puts an unpacked layer on top of those below it. */
#pragma once

#include "base/err.h"

/* layer: its directory; root: the image's, as it is so far. Files become hard links to the layer's,
 * or copies where the file system has none (or no more of them). */
int image_merge(int layer, int root, struct err *e);
