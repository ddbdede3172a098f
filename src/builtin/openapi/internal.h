/* Between the files of openapi: the JSON writer, one resource of either sort, and the parts. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "builtin/kind.h"
#include "builtin/openapi/openapi.h"

/* Writes JSON; commas come by themselves. */
struct writer {
    struct buf *b;
    bool more; /* a comma is due before the next value or key */
    bool v2;   /* the document is OpenAPI v2 */
};

void w_open(struct writer *w, char bracket);
void w_close(struct writer *w, char bracket);
void w_key(struct writer *w, str key);
void w_str(struct writer *w, str s);
void w_value(struct writer *w, jv v);
void w_bool(struct writer *w, bool b);
void w_member(struct writer *w, const char *key, str s); /* "key": "s" */
void w_open_member(struct writer *w, const char *key, char bracket);
/* "$ref": to the component */
void w_ref(struct writer *w, str name);

/* A resource, built-in or custom. */
struct resource {
    str group;
    str version;
    str kind;
    str list_kind;
    str plural;
    bool namespaced;
    const char *verbs;
    const struct kind_sub *subs; /* NULL: none */
    str type;                    /* the component's name */
    const struct schema *schema; /* built-in; NULL: custom */
    jv custom;                   /* its schema */
};

/* The types a document needs: each once, in the order they were first met. */
struct types_needed {
    struct map seen; /* by name */
    VEC(const struct schema *);
};
void types_need(struct types_needed *t, const struct schema *s); /* and all it refers to */
void types_needed_done(struct types_needed *t);

/* Members of components.schemas (v3) or definitions (v2): "name": {...} */
void print_type(struct writer *w, const struct schema *s);
void print_list_type(struct writer *w, const struct resource *r);
void print_custom_type(struct writer *w, const struct resource *r);
/* Members of paths. */
void print_paths(struct writer *w, const struct resource *r);
