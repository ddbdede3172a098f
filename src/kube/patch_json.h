/* JSON Patch (RFC 6902), with the habits of the library that kube-apiserver uses. */
#pragma once

#include "base/json.h"
#include "kube/schema.h"

/* doc after all operations, or absent: ERR_BAD_REQUEST for what is no patch, ERR_TOO_LARGE for more
 * than LIMIT_JSON_PATCH_OPS, ERR_INVALID (one text for all) for operations that do not apply. What
 * copying adds is bounded, and so is the depth of the result. */
jv patch_json(struct arena *a, jv doc, jv patch, struct err *e);

/* Tells the members of operations that are none of op, path, from, value, as "[0].extra". */
void patch_json_unknown(struct arena *a, jv patch, const struct schema_report *report);
