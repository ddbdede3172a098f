/* Overlays: files that a container sees and may change without changing them. */
#pragma once

#include "node/warden_mount.h"

/* r, so far a tmpfs at the path `at`, becomes an overlay over the directory, whose changes stay in
 * that tmpfs. -1: this kernel, or this user, has none; nothing has changed. */
int warden_over_root(struct warden_root *r, const char *lower, const char *at);
/* Over /: what an overlay does not show, which is all that is mounted somewhere; and directories
 * that are people's rather than the system's (/home, /root, /srv, /mnt ...) as they are. Not those
 * in skip (ends with NULL), nor what is mounted below dir, the pod's. */
int warden_over_rest(struct warden_root *r, const char *at, const char *dir,
                     const char *const *skip, struct err *e);
