/* hostPath volumes. */
#pragma once

#include "base/json.h"

/* Whether pods may have the path: -1: e says why not. hidden: as in node_opts. */
int host_path_check(struct arena *a, jv hidden, const char *path, struct err *e);
/* Checks the path, then its type, and makes what the type allows to be made. */
int host_path_make(struct arena *a, jv hidden, jv source, str *path, struct err *e);
