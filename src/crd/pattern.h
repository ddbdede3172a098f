/* Regular expressions as Go reads them (RE2's syntax), matched by PCRE2 within limits. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct crd_pattern;

/* Lives as long as a. NULL: not an expression, and e holds Go's words: "error parsing regexp:
 * missing closing ]: `[a`". */
const struct crd_pattern *pattern_new(struct arena *a, str text, struct err *e);
/* Whether any part of s matches. s must be UTF-8. Thread-safe. */
bool pattern_match(const struct crd_pattern *p, str s);

/* Checks Go's syntax and writes the same expression for PCRE2 to out. A NUL must follow text. */
int pattern_translate(str text, struct buf *out, struct err *e);
