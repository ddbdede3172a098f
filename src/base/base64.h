/* Standard base64 (RFC 4648 with padding), as Go reads and writes []byte in JSON. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

/* Line ends within the text are skipped, all else must be exact. The error is in Go's words:
 * "illegal base64 data at input byte 4". */
int base64_decode(struct arena *a, str text, str *out, struct err *e);
str base64_encode(struct arena *a, str bytes);
