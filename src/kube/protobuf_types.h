/* What reading and writing know of types alike: forms on the wire, and field numbers. */
#pragma once

#include "kube/protobuf.h"
#include "kube/protobuf_wire.h"

enum pb_type pb_type_of(const struct schema *s); /* of a value in a field of its own */

const struct wire_type *pb_type_find(const struct wire *w, str name); /* NULL: plain rows */
str pb_word_at(const struct wire_type *t, uint64_t number);           /* empty: none */
/* Takes the next word off *rest, and its number; false: there is none. n starts as 1. */
bool pb_next_word(str *rest, int64_t *n, str *word, uint64_t *number);
/* Of types that are plain rows. NULL and 0: none */
const struct schema_field *pb_row_at(const struct schema *s, uint64_t number);
uint64_t pb_row_number(const struct schema *s, const struct schema_field *row);
/* The name of the type whose fields lie among those of type, as word "*Other" says. */
str pb_embedded(struct arena *a, str type, str word);
