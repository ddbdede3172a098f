/* The bytes of an object as the store keeps them. Those written last are plain; older ones are
 * packed, as what sets them apart from another object of their collection. Loop thread only. */
#pragma once

#include "base/arena.h"
#include "base/blob.h"

struct value;

struct value *value_ref(struct value *v); /* NULL is fine, here and below */
void value_unref(struct value *v);
size_t value_size(const struct value *v);               /* of the bytes, packed or not */
struct blob *value_blob(const struct value *v);         /* the bytes: yours */
str value_text(struct arena *a, const struct value *v); /* the bytes: they live as long as a */
