/* The file view of one container at level namespaces: a fresh root, and what is mounted on it. */
#pragma once

#include "sandbox/spec.h"

struct warden_view {
    const struct warden_sandbox *sandbox;
    const struct warden_start *start;
    const char *dir; /* of the pod */
};

/* In the pod's own mount namespace: what all containers share (its /proc, /dev/shm, tmpfs). */
int warden_view_pod(const struct warden_sandbox *s, const char *dir, struct err *e);
/* In the container's own mount and pid namespace; the calling process ends up in the new root. */
int warden_view_enter(const struct warden_view *v, struct err *e);
