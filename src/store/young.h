/* Values that were written last, in plain form as watchers and writers want them. Those that get
 * too old are packed. */
#pragma once

#include "store/value.h"

struct store_coll;

struct value *value_new(struct blob *plain); /* taken */

/* What values of a collection are packed with: some that were not like the others so far. */
enum { PACKER_BASES = 4 };
struct packer {
    struct pack_base *bases[PACKER_BASES]; /* the one that served last first */
    uint32_t misses;                       /* in a row */
};
void packer_done(struct packer *p);
void value_pack(struct value *v, struct packer *p); /* if it gets much smaller */

struct young {
    struct young_one *ring;
    size_t cap; /* a power of two */
    size_t n;
    size_t first;
    size_t bytes;
};
void young_add(struct young *y, struct packer *p,
               struct value *v); /* p must stay until forgotten */
void young_forget(struct young *y, const struct packer *p);
void young_done(struct young *y);
