/* Immutable bytes shared by reference count, from any thread. */
#pragma once

#include "base/str.h"

struct blob;

struct blob *blob_new(str bytes);                  /* copies */
struct blob *blob_new_room(size_t n, char **room); /* to be filled before it is shared */
struct blob *blob_ref(struct blob *b);
void blob_unref(struct blob *b);
static inline void blob_auto(struct blob **b)
{
    blob_unref(*b);
}
str blob_str(const struct blob *b); /* NULL: empty */
