/* Values as Go's fmt prints them with %v: several of kube-apiserver's messages hold some. */
#pragma once

#include "base/json.h"

/* map[a:1 b:[x y]] with sorted keys, <nil>, floats in their shortest form. */
void goprint_value(struct buf *b, jv v);
str goprint_text(struct arena *a, jv v);
/* The name of v's Go type once decoded: "map[string]interface {}", "int64" ... */
const char *goprint_type(jv v);
/* What Go's decoder calls it: "object", "number" ... */
const char *goprint_json_kind(jv v);
