/* What LimitRanges do to pods and claims of their namespace. Pure. */
#pragma once

#include "base/json.h"

/* The pod with the defaults of the ranges (a list of LimitRange objects), and an annotation that
 * tells of them. */
jv limits_apply(struct arena *a, jv ranges, jv pod);

/* What the first range that obj (a pod or a claim) does not keep to says of it; STR_NONE: fine. */
str limits_check_pod(struct arena *a, jv ranges, jv pod);
str limits_check_claim(struct arena *a, jv ranges, jv claim);
