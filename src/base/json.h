/* JSON values that never change. A value is borrowed from the arena (and the text) it was made in;
 * to change one is to make a new one that shares the rest. Numbers stay exact: int64 as integers,
 * every other number as its source text. Objects keep their order. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum jv_type { JV_NONE, JV_NULL, JV_BOOL, JV_INT, JV_NUM, JV_STR, JV_ARR, JV_OBJ };

struct jnode {
    uint32_t type;
    uint32_t n; /* bytes of text, elements, or members */
    union {
        int64_t i;                 /* JV_INT, JV_BOOL */
        const char *text;          /* JV_STR, JV_NUM */
        const struct jnode *items; /* JV_ARR: n nodes; JV_OBJ: n times key node, value node */
    } u;
};

typedef struct jv {
    const struct jnode *node; /* NULL: absent */
} jv;

extern const jv JV_ABSENT;
extern const jv JV_NULL_V;
extern const jv JV_TRUE;
extern const jv JV_FALSE;
extern const jv JV_EMPTY_OBJ;
extern const jv JV_EMPTY_ARR;

/* ---- reading: any wrong type or missing step gives absent or the fallback */

static inline enum jv_type jv_type(jv v)
{
    return v.node ? (enum jv_type)v.node->type : JV_NONE;
}
static inline bool jv_is(jv v, enum jv_type t)
{
    return jv_type(v) == t;
}
static inline bool jv_exists(jv v)
{
    return v.node != NULL;
}
static inline bool jv_is_null(jv v) /* absent or null: what Go decodes to nil */
{
    return !v.node || v.node->type == JV_NULL;
}

jv jv_get(jv obj, str key);
jv jv_path(jv v, const char *const *steps); /* ends with NULL */
#define jv_at(v, ...) jv_path((v), (const char *const[]){ __VA_ARGS__, NULL })
jv jv_index(jv arr, size_t i);
size_t jv_len(jv v); /* elements or members; 0 for all else */

int64_t jv_int(jv v, int64_t fallback);
bool jv_bool(jv v, bool fallback);
str jv_str(jv v, str fallback);
double jv_double(jv v, double fallback);
str jv_num_text(struct arena *a, jv v); /* JV_INT and JV_NUM as written */

struct jv_iter {
    jv of;
    size_t i; /* of the next one */
    str key;  /* objects only */
    jv value;
};
static inline struct jv_iter jv_iter(jv v)
{
    return (struct jv_iter){ .of = v };
}
bool jv_next(struct jv_iter *it); /* over arrays and objects; nothing for all else */
/* Each element of an array or member of an object: it.value, it.key, it.i. */
#define JV_EACH(it, v) for (struct jv_iter it = jv_iter(v); jv_next(&it);)

bool jv_equal(jv a, jv b); /* objects in any order, numbers by value; absent equals only absent */
/* As jv_equal, but absent, null, {} , [] and "" within objects are the same (Go's omitempty). */
bool jv_equal_semantic(jv a, jv b);

/* ---- making */

jv jstr(struct arena *a, str s); /* borrows s */
#define jstrz(a, lit) jstr((a), S(lit))
jv jint(struct arena *a, int64_t i);
jv jbool(bool b);
jv jnum(struct arena *a, str text); /* text must be a JSON number */

struct jpair {
    const char *key;
    jv value; /* absent: left out */
};
jv jobj_n(struct arena *a, const struct jpair *pairs, size_t n);
jv jarr_n(struct arena *a, const jv *items, size_t n); /* absent ones left out */
#define jobj(a, ...)                                   \
    jobj_n((a), (const struct jpair[]){ __VA_ARGS__ }, \
           sizeof((const struct jpair[]){ __VA_ARGS__ }) / sizeof(struct jpair))
#define jarr(a, ...) \
    jarr_n((a), (const jv[]){ __VA_ARGS__ }, sizeof((const jv[]){ __VA_ARGS__ }) / sizeof(jv))

/* Building step by step. jb_set replaces a key that is there; value absent: removes it. */
struct jbuild {
    struct arena *a;
    struct jnode *nodes;
    uint32_t n; /* nodes: two a member, one an element */
    uint32_t cap;
    bool is_obj;
};
struct jbuild jb_obj(struct arena *a);
struct jbuild jb_arr(struct arena *a);
struct jbuild jb_from(struct arena *a,
                      jv v); /* starts as a copy; absent or other types: empty object */
void jb_set(struct jbuild *b, str key, jv value); /* borrows key */
void jb_add(struct jbuild *b, str key, jv value); /* the caller knows that key is new */
void jb_push(struct jbuild *b, jv value);
/* Rewriting a container child by child: told what becomes of each in turn (absent: it goes). b
 * starts as { 0 } and stays so (b->a is NULL) until the first that differs, so what is unchanged is
 * shared; the copy then costs its length once, however many change. */
void jb_child(struct jbuild *b, struct arena *a, const struct jv_iter *it, jv now);
jv jb_get(const struct jbuild *b, str key); /* valid until the next change */
jv jb_done(struct jbuild *b);               /* the builder may go on being used */

/* v with the value at the path replaced; missing objects on the way are made. Absent: removed. */
jv jv_with_path(struct arena *a, jv v, jv value, const char *const *steps);
#define jv_with(a, v, value, ...) \
    jv_with_path((a), (v), (value), (const char *const[]){ __VA_ARGS__, NULL })
#define jv_without(a, v, ...) \
    jv_with_path((a), (v), JV_ABSENT, (const char *const[]){ __VA_ARGS__, NULL })
jv jv_with_key(struct arena *a, jv obj, str key, jv value); /* one step, any key */
/* i == length: appended; value absent: removed. */
jv jv_with_index(struct arena *a, jv arr, size_t i, jv value);

jv jv_copy(struct arena *a, jv v); /* deep: nothing borrowed any more */

/* ---- text */

struct json_opts {
    size_t max_depth; /* 0: LIMIT_JSON_DEPTH */
    /* Called for each duplicate key (the first LIMIT_STRICT) with its path
     * ("spec.containers[0].name") and where in the text it stands; inner ones come first. May be
     * NULL. The last value wins in any case. */
    void (*on_duplicate)(void *ctx, str path, size_t at);
    void *ctx;
};

/* One value and nothing after it but white space. Strings borrow text where they can, so text must
 * live as long as a. The error says line and column. Returns absent on failure. */
jv json_parse(struct arena *a, str text, const struct json_opts *opts, struct err *e);

/* The text of the value at the path, STR_NONE if there is none. For text of our own making: what is
 * passed over is not checked, keys are compared as they are written, of equal ones the first
 * counts. */
str json_skim_path(str text, const char *const *steps);
#define json_skim(text, ...) json_skim_path((text), (const char *const[]){ __VA_ARGS__, NULL })

void json_print(struct buf *b, jv v); /* compact */
void json_print_indent(struct buf *b, jv v, unsigned spaces);
void json_print_str(struct buf *b, str s); /* with quotes; invalid UTF-8 becomes U+FFFD */
str json_text(struct arena *a, jv v);
/* Whether its text has at most about that many bytes (escapes and commas are not counted). Values
 * share parts, so one that took little memory to make may have gigabytes of text; this looks no
 * further than the limit. */
bool json_fits(jv v, size_t limit_bytes);
bool json_takes(jv v, size_t *left); /* the same, for many: takes what it needs from *left */

/* ---- a document that owns its memory: shared, immutable, any thread */

struct jdoc;
struct jdoc *jdoc_parse(str text, const struct json_opts *opts, struct err *e); /* copies text */
struct jdoc *jdoc_of(struct arena *a, jv root); /* takes the arena */
struct jdoc *jdoc_copy(jv v); /* deep, and in no more room than it takes: for what is kept long */
struct jdoc *jdoc_ref(struct jdoc *d);
void jdoc_unref(struct jdoc *d);
static inline void jdoc_auto(struct jdoc **d)
{
    jdoc_unref(*d);
}
jv jdoc_root(const struct jdoc *d);
