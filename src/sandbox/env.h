/* The environment of a container's programs. */
#pragma once

#include "sandbox/spec.h"

/* The container's own, and what is missing in it; dir: the pod's. */
struct warden_list warden_env(struct arena *a, const struct warden_sandbox *s,
                              const struct warden_start *start, const char *dir);
