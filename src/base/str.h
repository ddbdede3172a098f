/* Borrowed text with a length: valid while its owner is. May hold NUL bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct str {
    const char *p;
    size_t n;
} str;

/* Of string literals only: the empty ones beside it make anything else an error. */
#define S(lit) ((str){ "" lit "", sizeof(lit) - 1 })
#define S_INIT(lit)            \
    {                          \
        (lit), sizeof(lit) - 1 \
    } /* for static tables */
#define STR_NONE   ((str){ NULL, 0 })
#define PRI_STR    ".*s"
#define STR_ARG(s) (int)(s).n, (s).p ? (s).p : ""

/* Cleanup on leaving scope: AUTO(arena) struct arena *a = arena_new(); needs arena_auto(). */
#define AUTO(t) __attribute__((cleanup(t##_auto)))
/* Moves ownership out of a local: f(TAKE(p)) leaves p NULL. */
#define TAKE(p)                    \
    ({                             \
        __typeof__(p) take_ = (p); \
        (p) = NULL;                \
        take_;                     \
    })
#define COUNT(arr) (sizeof(arr) / sizeof((arr)[0]))

static inline str str_of(const char *z)
{
    return (str){ z, z ? strlen(z) : 0 };
}

static inline bool str_eq(str a, str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_eqz(str a, const char *z)
{
    return str_eq(a, str_of(z));
}

int str_cmp(str a, str b);        /* byte order, as Go and etcd sort */
bool str_eq_nocase(str a, str b); /* ASCII only */
bool str_starts(str s, str prefix);
bool str_ends(str s, str suffix);
bool str_contains(str s, str part);
/* Index of the first/last c, or -1. */
ptrdiff_t str_find(str s, char c);
ptrdiff_t str_rfind(str s, char c);
str str_sub(str s, size_t from, size_t to); /* clamped */
str str_trim(str s);                        /* ASCII white space on both ends */
/* Cuts *rest at the first sep: returns what is before, leaves what is after. At the end *rest is
 * STR_NONE (p NULL), so `while (rest.p)` loops over all parts, the empty ones too. */
str str_cut(str *rest, char sep);
/* A decimal integer and nothing else. */
bool str_to_int(str s, int64_t *out);
bool str_is_utf8(str s);
size_t str_utf8_prefix(str s); /* bytes of its longest start that is; all of them when it is */
/* At most max bytes of s, ending with a whole character. Whatever shortens text uses these two. */
str str_clip(str s, size_t max);
/* The same into a C string: size counts its NUL. */
void str_clip_z(char *to, size_t size, str s);
uint64_t str_hash(str s);
