/* JSON Merge Patch (RFC 7386). */
#pragma once

#include "base/json.h"

/* doc with the members of patch laid over it, null removing; ERR_BAD_REQUEST unless patch is an
 * object. Order is kept, new members come last. Linear in the sizes of the two. */
jv patch_merge(struct arena *a, jv doc, jv patch, struct err *e);

/* What a patch leaves where nothing was: itself without its nulls. Those within lists stay, but not
 * those within objects in lists: the library behind kube-apiserver goes into lists as well. */
jv patch_without_nulls(struct arena *a, jv v);
