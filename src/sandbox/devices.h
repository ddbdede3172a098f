/* /dev of a container. */
#pragma once

#include "sandbox/mount.h"
#include "sandbox/root.h"

/* Mounts a /dev of its own: the usual devices and those of the pod; every device of this machine if
 * the container is privileged. */
int warden_devices(struct warden_root *r, const struct warden_view *v, struct err *e);
