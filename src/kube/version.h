/* API versions: "v1", "v2beta1". */
#pragma once

#include "base/str.h"

/* "v1" before "v1beta2" before "v1alpha1" before anything else; for sorting. */
int version_compare(str x, str y);
