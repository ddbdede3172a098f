/* Settings of the kernel that belong to a namespace. */
#pragma once

#include "sandbox/spec.h"

/* Writes each "a/b=value" to the file a/b of /proc/sys, of the namespaces that we are in. */
int warden_sysctl_set(const struct warden_list *settings, struct err *e);
