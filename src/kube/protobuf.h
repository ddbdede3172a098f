/* Kubernetes' protobuf form of objects, read and written by the schemas that also read JSON. */
#pragma once

#include "kube/schema.h"

/* Field numbers of a type, where they are not simply the order of its rows (without the kind and
 * apiVersion that open an object): names in the order of their numbers, from 1; "7:" goes on with
 * 7; "*Other" is a message of the same package whose fields lie among ours in JSON, as Go's
 * embedded structs do. */
struct wire_type {
    const char *name; /* as struct schema has it */
    const char *fields;
};

struct wire {
    const struct wire_type *types; /* by name, ascending */
    size_t n;
    bool only_utf8; /* refuse text that is not UTF-8; otherwise replace bad bytes by U+FFFD, as Go
                       does */
};

/* The envelope of a body: what it says that it is, and the object itself. */
struct protobuf_body {
    str api_version;
    str kind;
    str raw;
};
int protobuf_open(str body, struct protobuf_body *out, struct err *e);

/* A message of type s as the JSON value that Go would have decoded the same from; schema_decode
 * then leaves out the zero values that the wire always has. Unknown fields are skipped. Absent and
 * ERR_BAD_REQUEST on failure. Borrows bytes. */
jv protobuf_decode(struct arena *a, const struct schema *s, str bytes, const struct wire *w,
                   struct err *e);

/* The object v, of type s, in its envelope, added to out. -1: it has something that is not surely
 * the same when read from JSON, as e says: fields that s does not have, values of other types,
 * empty lists, times. out is then as before. */
int protobuf_encode(struct arena *a, const struct schema *s, jv v, const struct wire *w,
                    struct buf *out, struct err *e);
