/* The protobuf wire format: a message is a row of numbered fields. Nothing here knows types. */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum pb_type { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

struct pb_field {
    uint64_t number; /* at least 1 */
    enum pb_type type;
    uint64_t num; /* all but PB_BYTES */
    str bytes;    /* PB_BYTES; borrowed */
};

/* Takes the next field off *rest: 1, 0 at the end, -1 and e in gogo's words. */
int pb_next(str *rest, struct pb_field *f, struct err *e);
/* Takes a number as it stands in packed lists. 0 or -1 */
int pb_number(str *rest, enum pb_type type, uint64_t *out, struct err *e);
