/* What a custom resource's schema demands of a value beyond its shape. Every schema made by
 * crd_compile has one of these in ->rules. */
#pragma once

#include "crd/crd.h"
#include "crd/format.h"
#include "crd/pattern.h"

enum { /* types that JSON values have, as bits */
       TYPE_NULL = 1,
       TYPE_BOOLEAN = 2,
       TYPE_INTEGER = 4,
       TYPE_NUMBER = 8,
       TYPE_STRING = 16,
       TYPE_ARRAY = 32,
       TYPE_OBJECT = 64,
};

enum { /* what is at a schema or somewhere below it, so that walks can stop early */
       BELOW_DEFAULT = 1,
       BELOW_LIST = 2, /* sets and maps */
       BELOW_EMBEDDED = 4,
       BELOW_CEL = 8,
};

struct rule {                          /* of x-kubernetes-validations */
    const struct cel_program *program; /* NULL: one that we cannot run */
    const struct cel_program *message; /* messageExpression; NULL: none */
};

struct schema_list_of { /* anyOf and its like */
    const struct schema *const *at;
    size_t n;
};

struct crd_rules {
    /* shape, as the definition gives it: schema->fields also holds implied ones (metadata) */
    const struct schema_field *props; /* sorted by name */
    size_t n_props;
    const struct schema *items; /* of arrays; NULL: not given */
    const struct schema *more;  /* additionalProperties as a schema */
    bool additional;            /* additionalProperties is given ... */
    bool additional_allowed;    /* ... and is not false */
    bool resource;              /* has apiVersion, kind and metadata without saying so */

    unsigned types; /* TYPE_* bits; 0: any */
    str type_text;  /* "integer", or "integer,string" */
    str format;     /* as written; empty: none that we check */
    format_check *format_check;

    jv enums;         /* absent: none */
    const str *texts; /* those of enums, sorted */
    size_t n_texts;
    bool has_min, has_max, has_multiple, exclusive_min, exclusive_max, unique;
    double min, max, multiple;
    int64_t min_length, max_length, min_items, max_items, min_props, max_props; /* -1: none */
    str pattern_text;
    const struct crd_pattern *pattern; /* NULL: none */
    const str *required;
    size_t n_required;

    struct schema_list_of any_of, one_of, all_of;
    const struct schema * not ;

    unsigned below;              /* BELOW_* bits */
    jv cel;                      /* x-kubernetes-validations; absent: none */
    const struct rule *programs; /* one a rule of cel */
};

/* The schema of a version's root, or of a default under test. json must outlive a. */
const struct schema *schema_build(struct arena *a, jv json, const struct schema *object_meta);

/* The declared property, or NULL. */
const struct schema *rules_prop(const struct crd_rules *r, str name);

/* Value validation alone: no list types, no embedded metadata, no CEL. Paths start at `prefix`;
 * old absent: nothing is let pass. */
void check_values(struct problems *ps, const struct schema *s, const struct path *prefix, jv v,
                  jv old, bool has_old);
void check_lists(struct problems *ps, const struct schema *s, const struct path *p, jv v);
void check_embedded(struct problems *ps, const struct schema *s, const struct path *p, jv v);

/* Drops unknown members only, for defaults under test; is_resource: s is a resource's root. */
jv prune_value(struct arena *a, const struct schema *s, jv v, bool is_resource);

/* Decodes the metadata of embedded resources; absent on failure. */
jv coerce_embedded(struct arena *a, const struct crd_version *v, jv obj,
                   const struct schema_report *report, struct err *e);

const struct crd_column *columns_of(struct arena *a, jv list, size_t *n);

/* The value at a scale path: absent where there is none, and a problem at p where its type is not
 * JV_INT or JV_STR as asked. */
jv scale_value(struct problems *ps, const struct path *p, jv obj, const char *const *steps,
               enum jv_type type);

/* cel_rules.c: rules, compiled against the schema they stand in; and run, last of all checks. */
const struct rule *rules_compile(struct arena *a, jv list, const struct schema *s);
void check_rules(struct problems *ps, const struct schema *s, jv v, jv old);

/* What rules see of metadata (name and generateName), and of apiVersion and kind. */
extern const struct schema *const schema_metadata;
extern const struct schema *const schema_text;
