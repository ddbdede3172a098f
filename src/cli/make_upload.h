/* The scripts of a directory as a ConfigMap, for a cluster that does not see this machine. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

#define UPLOAD_DIR "/scripts" /* where pods see them */
enum { UPLOAD_MOST_BYTES = 900 * 1000 };

/* Regular files directly in dir, by their endings. None, too much, or a name that a ConfigMap
 * cannot hold is an error. ns may be NULL. */
int make_upload(struct arena *a, const char *dir, str name, const char *ns, jv *out, struct err *e);
