/* Texts and numbers as Go's fmt prints them. Whole values: kube/goprint.h. */
#pragma once

#include "base/json.h"

str go_quote(struct arena *a, str s);    /* %q of a string */
str go_float(struct arena *a, double d); /* %v of a float64 */
