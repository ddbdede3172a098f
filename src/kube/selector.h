/* Label and field selectors: parsed once, matched often without allocating. Errors are whole texts
 * in Kubernetes' words (longer than struct err holds), set in *why. Everything borrows from the
 * text or object it was made of. */
#pragma once

#include "base/json.h"

enum selector_op {
    SELECT_EQUALS,
    SELECT_DOUBLE_EQUALS, /* the same, but printed as it was written */
    SELECT_NOT_EQUALS,
    SELECT_IN,
    SELECT_NOT_IN,
    SELECT_EXISTS,
    SELECT_NOT_EXISTS,
    SELECT_GREATER,
    SELECT_LESS,
};

struct requirement {
    str key;
    enum selector_op op;
    const str *values; /* sorted */
    size_t n;
    int64_t bound; /* SELECT_GREATER, SELECT_LESS */
};

struct selector {                 /* all zero: everything */
    const struct requirement *at; /* sorted by key */
    size_t n;
    bool nothing;
};

/* "a=b,c!=d,e in (x,y),f notin (z),g,!h,i>1". Empty text selects everything. */
int selector_parse(struct arena *a, str text, struct selector *out, str *why);
/* metav1.LabelSelector; null selects nothing, {} everything. */
int selector_from_object(struct arena *a, jv label_selector, struct selector *out, str *why);
/* A plain map, as in Services; null or empty selects everything. Nothing is validated. */
struct selector selector_from_labels(struct arena *a, jv labels);

bool selector_matches(const struct selector *s, jv labels);
str selector_text(struct arena *a, const struct selector *s);

struct field_term {
    str field;
    str value;
    bool equal;
};

struct field_selector {
    struct field_term *at;
    size_t n;
};

/* "metadata.name=x,status.phase!=Running"; \\ \, \= in values. Which fields there are is the
 * caller's business. */
int field_selector_parse(struct arena *a, str text, struct field_selector *out, str *why);
/* lookup gives the text of a field, "" when it is not there. */
typedef str field_lookup(const void *ctx, str field);
bool field_selector_matches(const struct field_selector *s, field_lookup *lookup, const void *ctx);
str field_selector_text(struct arena *a, const struct field_selector *s);
