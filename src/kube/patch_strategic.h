/* Strategic merge patch: a merge patch that knows which lists to merge, and by which key. */
#pragma once

#include "kube/schema.h"

/* doc (an object of type s) with patch laid over it. Errors as kube-apiserver has them, code and
 * text: many are plain 500s without a reason (ERR_UNKNOWN). Not for custom resources. */
jv patch_strategic(struct arena *a, const struct schema *s, jv doc, jv patch, struct err *e);
