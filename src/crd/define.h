/* Checking definitions: the parts, which share how Kubernetes looks at a definition. Where all
 * versions have the same schema (columns, subresources ...), problems are told of
 * spec.validation (spec.additionalPrinterColumns, spec.subresources ...), else of each version. */
#pragma once

#include "crd/rules.h"

static inline str text_of(jv v, const char *key) /* empty: there is none */
{
    return jv_str(jv_get(v, str_of(key)), S(""));
}

/* structural.c: a schema that can be pruned by, and nothing in anyOf and its like that cannot. */
bool structural_possible(jv schema); /* nothing in it that is not supported at all */
void structural_check(struct problems *ps, const struct path *p, jv schema);

/* define_schema.c */
void define_schema_check(struct problems *ps, const struct path *p, jv schema);
/* Walks schema by a JSON path. The schema there, or absent with words on why not. */
/* The next token: one of . [ ] alone, a 'quoted' text, or what is between; empty at the end. */
str path_token(str *rest);
jv schema_at_path(jv schema, str path, bool brackets, struct err *e);

/* define_default.c: defaults must be valid and hold no unknown fields. */
void define_defaults_check(struct problems *ps, const struct path *p, jv schema);

/* define_parts.c; p is the path of the part itself. */
void define_columns_check(struct problems *ps, const struct path *p, jv columns);
void define_subresources_check(struct problems *ps, const struct path *p, jv subresources);
void define_selectable_check(struct problems *ps, const struct path *p, jv fields, jv schema);
void define_conversion_check(struct problems *ps, const struct path *p, jv conversion);

/* define_versions.c: version by version, and then what is the same in all. */
void define_versions_check(struct problems *ps, const struct path *spec, jv versions);
void define_common_check(struct problems *ps, const struct path *spec, jv versions);

/* accept.c */
#define API_APPROVED "api-approved.kubernetes.io"
enum approval {
    APPROVAL_NOT_NEEDED,
    APPROVAL_MISSING,
    APPROVAL_INVALID,
    APPROVAL_GIVEN,
    APPROVAL_BYPASSED,
};
enum approval approval_of(struct arena *a, jv crd, str *words);
