/* The leaves of schema_decode: numbers, quantities, times and bytes as Go reads and prints them. */
#pragma once

#include "kube/schema.h"

extern const jv SCALAR_EMPTY_STR;    /* "" */
extern const jv SCALAR_ZERO;         /* 0 */
extern const jv SCALAR_ZERO_STR;     /* "0" */
extern const jv SCALAR_ZERO_SECONDS; /* "0s" */

enum scalar_result {
    SCALAR_FINE,
    SCALAR_WRONG_TYPE,
    SCALAR_WRONG_NUMBER, /* a number, but not such a one */
    SCALAR_WRONG_BYTE,   /* of a list of bytes; *out is the element */
    SCALAR_BAD_TEXT,     /* e says what Go's type would */
};

/* v is not null; *out is v itself if nothing changes, null for the zero time. */
enum scalar_result scalar_decode(struct arena *a, enum schema_type type, jv v, jv *out,
                                 struct err *e);
/* Has its own reader in Go: an error in it ends all decoding. */
bool scalar_reads_itself(enum schema_type type);
/* What an error about s names: types that read themselves complain of what they read first. */
const struct schema *scalar_reads_as(const struct schema *s);
extern const struct schema scalar_byte;
