/* What claims to devices and the slices that offer them have in common. */
#pragma once

#include "builtin/check.h"

enum { MAX_DEVICES = 128, MAX_ATTRIBUTES = 32, MAX_ATTRIBUTE_BYTES = 64 };

/* At most max elements. */
void device_list_size_check(struct problems *ps, const struct path *p, jv list, size_t max);
/* No two elements with the same `field`; of "" their texts are compared. The lists that are given
 * here are short, or else already refused. */
void device_unique_check(struct problems *ps, const struct path *p, jv list, const char *field);
void device_pool_name_check(struct problems *ps, const struct path *p, str name);
/* "name" or "domain/name". */
void device_qualified_name_check(struct problems *ps, const struct path *p, str name);
