/* Strategic patches are decoded by another part of kube-apiserver than bodies are, which has other
 * words for values of a wrong type. */
#pragma once

#include "kube/schema.h"

/* Those words for the first such value ("unrecognized type: int32"); empty: none is found. */
str restore_problem(struct arena *a, const struct schema *s, jv v);
