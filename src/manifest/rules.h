/* What a job must be beyond its shape, as far as an API server can tell: bounds, known values and
 * rules in CEL. */
#pragma once

#include "manifest/crd.h"

/* schema: of the whole object. */
jv rules_added(struct arena *a, const struct job_kind *k, jv schema);
