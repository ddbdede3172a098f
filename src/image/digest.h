/* SHA-256, the one digest that images use in practice. */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum { DIGEST_HEX = 64 };

struct digest {
    char hex[DIGEST_HEX + 1]; /* empty: none */
};

/* "sha256:HEX". Anything else is refused; what: whose digest it is. */
int digest_parse(str text, const char *what, struct digest *out, struct err *e);
bool digest_is_hex(str text); /* 64 lower-case digits */
static inline bool digest_eq(const struct digest *x, const struct digest *y)
{
    return strcmp(x->hex, y->hex) == 0;
}
void digest_of(str bytes, struct digest *out);

struct digest_sum; /* being computed */
struct digest_sum *digest_sum_new(void);
void digest_sum_add(struct digest_sum *s, const void *p, size_t n);
void digest_sum_end(struct digest_sum *s, struct digest *out);
void digest_sum_free(struct digest_sum *s);
