/* Level shared: mount paths as symbolic links on the machine itself, where their names are free.
 * What is made is written to DIR/links first, so that it can be removed whoever dies. */
#pragma once

#include "base/buf.h"
#include "sandbox/root.h"

/* moves: for MUSTER_PATHS, what is read-only and cannot be a link (preload/paths.c). Why, in a
 * user's words, a path cannot be had at this level: "VolumeMountUnsupported: ...". */
int warden_links_make(const struct warden_view *v, struct buf *moves, struct err *e);
void warden_links_remove(const char *dir);
