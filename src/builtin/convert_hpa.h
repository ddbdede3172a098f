/* One metric of an autoscaler, of its spec or status, between v2 and the old words of v1. */
#pragma once

#include "base/json.h"

jv hpa_metric_to_v1(struct arena *a, jv metric, bool is_status);
jv hpa_metric_to_v2(struct arena *a, jv metric, bool is_status);
