/* Differences as kube-apiserver shows them when something may not change: its internal types
 * printed as JSON, with Go's field names and every field, then a unified diff of the lines. */
#pragma once

#include "base/json.h"

struct go_type {
    const char *name;
    const char *fields; /* see go_types.c */
};
extern const struct go_type go_types[];
extern const size_t go_types_n;

/* type: a row of go_types.c. "" when the objects are too large to be worth comparing. */
str go_diff(struct arena *a, const char *type, jv before, jv after);
str go_print(struct arena *a, const char *type, jv v);         /* indented by one space a level */
str go_print_compact(struct arena *a, const char *type, jv v); /* on one line */
str unified_diff(struct arena *a, str before, str after);
