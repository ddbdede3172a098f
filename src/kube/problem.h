/* What is wrong with an object: all of it at once, by field, in Kubernetes' words. */
#pragma once

#include "base/json.h"

/* Where in an object: a chain of steps on the stack. Rendered as spec.containers[0].ports[1] or
 * metadata.labels[key]. */
struct path {
    const struct path *up;
    str name;      /* a field, or the key in brackets */
    int64_t index; /* of a list element; -1: a field; -2: a key */
};

static inline struct path path_field(const struct path *up, str name)
{
    return (struct path){ up, name, -1 };
}
static inline struct path path_index(const struct path *up, size_t i)
{
    return (struct path){ up, STR_NONE, (int64_t)i };
}
static inline struct path path_key(const struct path *up, str key)
{
    return (struct path){ up, key, -2 };
}
/* The same as pointers, to paths that last until the end of the enclosing block. */
#define AT(up, lit)   (&(const struct path){ (up), { (lit), sizeof(lit) - 1 }, -1 })
#define ATZ(up, z)    (&(const struct path){ (up), str_of(z), -1 })
#define ATS(up, s)    (&(const struct path){ (up), (s), -1 })
#define ATI(up, i)    (&(const struct path){ (up), { NULL, 0 }, (int64_t)(i) })
#define ATK(up, key_) (&(const struct path){ (up), (key_), -2 })
#define ROOT(lit)     AT(NULL, lit)
/* The path of the element that JV_EACH (it, …) is at. */
#define EACH_AT(p, it) ATI((p), (it).i - 1)

str path_str(struct arena *a, const struct path *p); /* NULL: "" */

/* type, first words of the message, reason of the cause */
#define PROBLEM_TABLE(X)                                            \
    X(NOT_FOUND, "Not found", "FieldValueNotFound")                 \
    X(REQUIRED, "Required value", "FieldValueRequired")             \
    X(DUPLICATE, "Duplicate value", "FieldValueDuplicate")          \
    X(INVALID, "Invalid value", "FieldValueInvalid")                \
    X(NOT_SUPPORTED, "Unsupported value", "FieldValueNotSupported") \
    X(FORBIDDEN, "Forbidden", "FieldValueForbidden")                \
    X(TOO_LONG, "Too long", "FieldValueTooLong")                    \
    X(TOO_MANY, "Too many", "FieldValueTooMany")                    \
    X(INTERNAL, "Internal error", "InternalError")                  \
    X(TYPE_INVALID, "Invalid value", "FieldValueTypeInvalid")

enum problem_type {
#define X(type, words, reason) PROBLEM_##type,
    PROBLEM_TABLE(X)
#undef X
};

struct problem {
    enum problem_type type;
    str field;   /* "spec.containers[0].name" */
    str message; /* without the field: "Required value: must be set" */
    str detail;  /* its last part: "must be set" */
    bool plain;  /* the message says all by itself */
};

struct problems {
    struct arena *a; /* holds all texts */
    struct problem *at;
    size_t n; /* at most LIMIT_PROBLEMS; the rest is dropped */
    size_t cap;
    size_t bytes;   /* of all texts; past LIMIT_PROBLEM_BYTES the rest is dropped too */
    bool is_update; /* the object replaces another: some rules hold for new ones only */
    /* Where to tell what was so before and is let pass; NULL: nowhere. */
    struct problems *waived;
    /* Checks take a few milliseconds at most. Those that would need more give up and set cut: then
     * nothing found counts, and who has the time checks again. */
    bool brief;
    bool cut;
};

/* bad: the value as it stands in the object, for INVALID, DUPLICATE, NOT_FOUND, TYPE_INVALID and
 * NOT_SUPPORTED (absent: Go's nil, printed null), and TOO_MANY (absent: not printed). fmt: the
 * detail, may be "". */
void problem_add(struct problems *ps, enum problem_type type, const struct path *p, jv bad,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void problems_clear(struct problems *ps); /* as if nothing had been found */
#define problem_required(ps, p, ...) \
    problem_add((ps), PROBLEM_REQUIRED, (p), JV_ABSENT, __VA_ARGS__)
#define problem_forbidden(ps, p, ...) \
    problem_add((ps), PROBLEM_FORBIDDEN, (p), JV_ABSENT, __VA_ARGS__)
#define problem_invalid(ps, p, bad, ...) problem_add((ps), PROBLEM_INVALID, (p), (bad), __VA_ARGS__)
#define problem_duplicate(ps, p, bad)    problem_add((ps), PROBLEM_DUPLICATE, (p), (bad), "%s", "")
/* As problem_add, but the value is left out: too large, or secret. */
void problem_add_bare(struct problems *ps, enum problem_type type, const struct path *p,
                      const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* In words of its own, told without the field. */
void problem_say(struct problems *ps, const struct path *p, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* supported: the allowed texts, ending with NULL, in the order they are shown. */
void problem_not_supported(struct problems *ps, const struct path *p, jv bad,
                           const char *const *supported);

/* A problem found elsewhere (same arena), told below prefix. */
void problem_move(struct problems *ps, const struct path *prefix, const struct problem *from);

/* Adds what others say of the same object (same arena), but for fields that one of ps's problems
 * from `from` on is about: a[b] and a.b are the same field; and but for what one of these says in
 * the same words of a field above or below. What others say of the whole object ("<nil>") goes if
 * there are any such. */
void problems_join(struct problems *ps, size_t from, const struct problems *others);

/* "field: message", or "[a: x, b: y]" of several: what follows `Pod "x" is invalid: `. */
str problems_text(struct arena *a, const struct problems *ps);
const char *problem_reason(enum problem_type type); /* "FieldValueRequired" */
