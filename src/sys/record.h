/* Records: how the node and the wardens talk, and what they keep on disk. A record is a list of
 * pairs of texts, key and value, each ended by a NUL byte. A key that comes more than once is a
 * list. A key with a dot belongs to the last pair that has the part before the dot as its key. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum { RECORD_BYTES = 4 * 1024 * 1024 }; /* most that a record may have */

/* The key of a value that held a NUL byte and was left out; the value is the key it had. */
#define RECORD_NUL "!nul"

void record_add(struct buf *b, const char *key, str value);
void record_int(struct buf *b, const char *key, int64_t value);

struct record_pair {
    const char *key;
    const char *text; /* NULL: the number */
    int64_t number;
    bool none; /* it is left out */
};
void record_put_n(struct buf *b, const struct record_pair *pairs, size_t n);
#define record_put(b, ...)                                         \
    record_put_n((b), (const struct record_pair[]){ __VA_ARGS__ }, \
                 COUNT(((const struct record_pair[]){ __VA_ARGS__ })))

struct record_iter {
    str rest;
    const char *key;
    const char *value;
};
bool record_next(struct record_iter *it); /* false: no whole pair is left */
/* Each pair: it.key, it.value, borrowed from r. */
#define RECORD_EACH(it, r) for (struct record_iter it = { .rest = (r) }; record_next(&it);)

bool record_is_whole(str r); /* nothing but pairs */
/* The value of the first pair with that key, "" or the fallback if there is none. */
const char *record_get(str r, const char *key);
int64_t record_get_int(str r, const char *key, int64_t fallback);

/* A file that holds one record; STR_NONE, and e says why, when it does not. Lives in a. */
str record_read(struct arena *a, int dirfd, const char *path, struct err *e);
