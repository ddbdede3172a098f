/* Values as Go prints them: error texts of Kubernetes are made by fmt and strconv. */
#pragma once

#include "base/json.h"

str go_quote(struct arena *a, str s);    /* %q of a string */
str go_float(struct arena *a, double d); /* %v of a float64 */
str go_value(struct arena *a, jv v);     /* %v of a decoded value: map[a:1], [1 2], <nil> */
const char *go_type(jv v);               /* %T of a decoded value: "string", "int64" ... */
