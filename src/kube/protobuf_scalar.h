/* The leaves of protobuf_decode: texts, numbers, and the little messages that JSON has as one
 * text. All give absent, and say why in d->e, when they cannot. */
#pragma once

#include "kube/protobuf.h"
#include "kube/protobuf_wire.h"

struct pb_reading {
    struct arena *a;
    const struct wire *wire;
    struct err *e;
    str all;      /* the message */
    size_t depth; /* of the JSON made, which must be one that can be read again */
};

/* A message of up to three fields, each a number or bytes. */
struct pb_little {
    uint64_t num[4];
    str bytes[4];
    bool has[4];
};

jv pb_refuse(struct pb_reading *d, const char *why); /* absent */
jv pb_text(struct pb_reading *d, str s);
jv pb_from_number(struct pb_reading *d, const struct schema *s, uint64_t num);
bool pb_little_read(struct pb_reading *d, str bytes, struct pb_little *out);
/* Times, durations, quantities, IntOrString, free JSON. */
jv pb_from_little(struct pb_reading *d, const struct schema *s, str bytes);
