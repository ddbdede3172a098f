/* A type as CustomResourceDefinitions write types: a structural schema in OpenAPI v3. */
#pragma once

#include "kube/schema.h"

/* docs: with descriptions, down to where the types of Kubernetes itself begin. */
jv shape_of(struct arena *a, const struct schema *s, bool docs);
jv shape_documented(struct arena *a, jv shape, const char *doc);
