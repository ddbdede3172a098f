/* Shared by the files of base/yaml; nobody else needs it. */
#pragma once

#include "base/yaml.h"

/* ---- scalars: what plain text means */

enum yaml_kind {
    YAML_STR,
    YAML_NULL,
    YAML_BOOL,
    YAML_INT,
    YAML_UINT, /* past int64 */
    YAML_FLOAT,
    YAML_TIME, /* text for us, but tagged and quoted as a time */
};

struct yaml_scalar {
    enum yaml_kind kind;
    int64_t i; /* YAML_INT, YAML_BOOL */
    uint64_t u;
    double d;
};

struct yaml_scalar yaml_resolve(str text);
const char *yaml_kind_name(enum yaml_kind kind); /* "!!int" */

/* ---- nodes on their way to becoming values */

struct yaml_node {
    struct jnode v;
    struct yaml_place at;
    size_t size;    /* nodes in it when aliases are expanded */
    unsigned depth; /* levels below it */
    bool alias;
    bool merge; /* the plain key << */
    bool is_float;
    double d;
};

struct jnode yaml_text_node(str s);
/* Fills out->v from a scalar; tag may be NULL, plain: neither quoted nor tagged. */
int yaml_node_scalar(struct arena *a, str text, const char *tag, bool plain, struct yaml_node *out,
                     str *why);
/* Keys are text in JSON: numbers and booleans become theirs, all else gives -1. */
int yaml_node_key(struct arena *a, const struct yaml_node *key, str *out);

/* ---- places */

struct yaml_mark {
    const struct jnode *node;
    struct yaml_place at;
};

struct yaml_where {
    jv root;                /* the tree the marks are of */
    struct yaml_mark *mark; /* sorted by node */
    size_t n;
};

void yaml_where_sort(struct yaml_where *w);

/* ---- reading one stream */

/* Fills out from libyaml's events. As yaml_parse. */
int yaml_read(struct arena *a, str file, str text, const struct yaml_opts *opts,
              struct yaml_docs *out, struct err *e);
