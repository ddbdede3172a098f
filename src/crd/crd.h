/* CustomResourceDefinitions: checking and accepting them, their compiled form, and what it does to
 * objects: prune, default, validate, print as columns, scale. All pure. */
#pragma once

#include "kube/problem.h"
#include "kube/schema.h"

/* ---- definitions */

/* spec.names.singular and listKind, spec.conversion, status.storedVersions. */
jv crd_definition_defaults(struct arena *a, jv crd);
/* With the status and generation that a new one gets, whatever was sent. */
jv crd_definition_for_create(struct arena *a, jv crd);
/* With old's status; a new storage version joins storedVersions; generation counts changed specs.
 */
jv crd_definition_for_update(struct arena *a, jv crd, jv old);
/* Both expect a decoded, defaulted and prepared definition; the caller checks metadata. */
void crd_definition_validate(struct problems *ps, jv crd);
void crd_definition_validate_update(struct problems *ps, jv crd, jv old);
/* What is valid but not served here: conversion by webhook between several versions. */
void crd_definition_check_served(struct problems *ps, jv crd);
/* With acceptedNames and conditions as they are once all controllers have seen it. others: all
 * definitions there are (array; itself may be among them). */
jv crd_accept(struct arena *a, jv crd, jv others, int64_t now_ms);

/* The rules (x-kubernetes-validations) that cannot be run: [{"path": ..., "rule": ...}]. */
jv crd_cel_rules(struct arena *a, jv crd);
/* Texts for Warning headers: string formats that are not checked and were not there before (old
 * absent: on create), and rules that cannot be run. */
jv crd_definition_warnings(struct arena *a, jv crd, jv old);

/* ---- the compiled form: shared, immutable, any thread */

struct crd_column {
    str name;
    str type;   /* integer, number, string, boolean, date */
    str format; /* may be empty */
    str doc;
    int64_t priority;
    str json_path; /* ".spec.replicas" */
    const struct jsonpath *path;
};

struct crd_scale {
    bool on;
    const char *const *spec_replicas; /* steps, ending with NULL */
    const char *const *status_replicas;
    const char *const *selector; /* NULL: none */
    str spec_path;               /* as written: ".spec.replicas" */
    str status_path;
    str selector_path;
};

struct crd_version {
    const struct crd *crd;
    str name;
    str api_version; /* "group/v1" */
    bool served;
    bool storage;
    bool deprecated;
    str warning;                 /* of a deprecated version, never empty then */
    const struct schema *schema; /* with apiVersion, kind and metadata; NULL: an outline */
    bool has_cel;                /* some x-kubernetes-validations are in it */
    bool has_status;             /* the status subresource */
    struct crd_scale scale;
    const struct crd_column *columns; /* without Name; Age alone where none are given; those that
                                       * come before one whose path is no path */
    size_t n_columns;
    const str *selectable; /* field labels: "spec.color" */
    size_t n_selectable;
    jv schema_json; /* openAPIV3Schema as given, for OpenAPI */
};

struct crd {
    str name;
    str group;
    str plural;
    str singular;
    str kind;
    str list_kind;
    const str *short_names;
    size_t n_short_names;
    const str *categories;
    size_t n_categories;
    bool namespaced;
    bool established; /* its condition says so */
    const struct crd_version *versions;
    size_t n_versions;
    const struct crd_version *storage;
};

/* The definition must have been validated; what is wrong with it all the same is ERR_INVALID.
 * Copies what it needs. object_meta must outlive it. */
struct crd *crd_compile(jv crd, const struct schema *object_meta, struct err *e);
/* All but the schemas: enough to know what is served. */
struct crd *crd_outline(jv crd, struct err *e);
struct crd *crd_ref(struct crd *c);
void crd_unref(struct crd *c);
static inline void crd_auto(struct crd **c)
{
    crd_unref(*c);
}
const struct crd_version *crd_version_find(const struct crd *c, str name); /* NULL: none */

/* ---- objects of a version */

/* Drops members that the schema does not have, and nulls that stand for nothing; the metadata of
 * embedded resources is decoded. Every dropped member is told with its path ("spec.foo"), sorted.
 * Fails with ERR_BAD_REQUEST where metadata cannot be read. The object's own metadata is left
 * alone. Shares what does not change. */
jv crd_prune(struct arena *a, const struct crd_version *v, jv obj,
             const struct schema_report *report, struct err *e);
/* With defaults filled in; for reads and writes alike, after crd_prune. */
jv crd_default(struct arena *a, const struct crd_version *v, jv obj);
/* old: absent on create. On update, what was wrong before and did not change is let pass; of what
 * rules say of it, ps->waived is told. */
void crd_validate(struct problems *ps, const struct crd_version *v, jv obj, jv old);
/* Only .status, for writes to the status subresource. */
void crd_validate_status(struct problems *ps, const struct crd_version *v, jv obj, jv old);

/* ---- tables */

jv crd_columns(struct arena *a, const struct crd_version *v); /* columnDefinitions, Name first */
jv crd_cells(struct arena *a, const struct crd_version *v, jv obj, int64_t now_ms);

/* ---- the scale subresource: only where v->scale.on */

/* An autoscaling/v1 Scale. ERR_INTERNAL where the object has no count, unless for_update, when a
 * count stands in that crd_scale_set refuses. */
jv crd_scale_get(struct arena *a, const struct crd_version *v, jv obj, bool for_update,
                 struct err *e);
/* The object with the count; crd_validate tells if it is a bad one. */
jv crd_scale_set(struct arena *a, const struct crd_version *v, jv obj, int64_t replicas,
                 struct err *e);
