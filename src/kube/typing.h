/* Walking an object beside its schema. */
#pragma once

#include "kube/schema.h"

/* The schema of a member, or NULL: unknown. *hint (start with 0) makes looking up members in about
 * the order of the fields cheap, which is how decoded objects come. */
const struct schema *typing_member(const struct schema *s, str name, size_t *hint);
