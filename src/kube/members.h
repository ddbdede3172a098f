/* Looking members up in objects that may be large: linear while small, by hash above. For pairing
 * two objects of outside origin, where linear search alone would be quadratic. */
#pragma once

#include "base/json.h"
#include "base/map.h"

struct members {
    jv obj;
    struct map *index; /* NULL while small */
};

struct members members_of(struct arena *a, jv obj);
jv members_get(const struct members *m, str key);
