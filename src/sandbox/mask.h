/* /proc and /sys of a container, and the flags of its other mounts. */
#pragma once

#include "sandbox/mount.h"
#include "sandbox/root.h"

/* No device opens on any mount of the root so far, unless the container is privileged; and nothing
 * is written there if its root is to be read-only. */
int warden_mask_root(const struct warden_root *r, const struct warden_start *s, struct err *e);
/* Mounts /proc and /sys: read-only or hidden where a write or a read would reach beyond the
 * container, unless it is privileged. */
int warden_mask_kernel(const struct warden_root *r, const struct warden_view *v, struct err *e);
