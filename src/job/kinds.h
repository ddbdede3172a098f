/* The table of kinds. */
#pragma once

#include "job/kind.h"

extern const struct job_kind *const job_kinds[]; /* ends with NULL */

/* In the order of the table; NULL past its end. */
const struct job_kind *job_kind_at(size_t i);
const struct planner *job_planner(size_t i);
/* By "TFJob" in any case; NULL: no such kind. */
const struct job_kind *job_kind_find(str kind);
/* Of an object, by apiVersion's group and kind, both exact. */
const struct job_kind *job_kind_of(jv obj);
