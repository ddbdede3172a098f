/* One text as what sets it apart from another, its base: pieces of its own and pieces of the base,
 * in turns. Objects of a kind are mostly alike, so little is left; reading is a few memcpy. */
#pragma once

#include "base/blob.h"

struct pack_base;

enum { PACK_BASE_MAX = 60 * 1024 };

/* text: taken, at most PACK_BASE_MAX bytes. With an index of 16 KB until pack_base_settle. */
struct pack_base *pack_base_new(struct blob *text);
struct pack_base *pack_base_ref(struct pack_base *b);
void pack_base_unref(struct pack_base *b);
void pack_base_settle(struct pack_base *b); /* nothing more will be packed with it */

/* Writes text to out and returns its bytes; 0: they are more than cap. */
size_t pack_write(const struct pack_base *b, str text, unsigned char *out, size_t cap);
/* Fills all n bytes of out; false: these are not n bytes packed with b. */
bool pack_read(const struct pack_base *b, str packed, char *out, size_t n);
