/* The parts of URLs that a server reads, as Go's net/url does. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* Percent-encodes all but letters, digits and "-._~", so it fits any part of a URL. */
void url_encode(struct buf *b, str s);
/* Percent-decodes a piece of a path. Shares s when there is nothing to decode. */
int url_decode(struct arena *a, str s, str *out, struct err *e);

/* Whether s is UTF-8 once it is decoded; else *at is the place in s of the first byte that is not.
 */
bool url_is_utf8(struct arena *a, str s, size_t *at);

/* for (struct url_query q = url_query(text); url_query_next(&q, a);) ... q.key, q.value
 * Pairs that are malformed (bad escape, semicolon) are skipped, as Go's URL.Query() does. */
struct url_query {
    str rest;
    str key;
    str value;
};
static inline struct url_query url_query(str text)
{
    return (struct url_query){ .rest = text };
}
bool url_query_next(struct url_query *q, struct arena *a);

/* What Kubernetes takes as true in a query: anything but nothing, "0" and "false" in any case. */
bool url_flag(str value);
/* strconv.ParseBool: 1 t T TRUE true True, 0 f F FALSE false False, and nothing else. */
bool str_to_bool(str s, bool *out);
