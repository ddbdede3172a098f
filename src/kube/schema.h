/* What a value may look like. One form for the built-in types (static tables in builtin/) and for
 * custom resources (made by crd/ at run time), so that decoding, strict field checks, strategic
 * merge, server-side apply and OpenAPI are written once. Immutable; any thread. */
#pragma once

#include "base/json.h"

enum schema_type {
    SCHEMA_ANY,    /* anything at all: RawExtension, JSON, or no type given. With `items`: an object
                    * found here, or in a list found here, is like `items` (JSONSchemaPropsOrBool) */
    SCHEMA_OBJECT, /* named fields; others by `items` if set, or kept if preserve_unknown */
    SCHEMA_MAP,    /* any key, values like `items` */
    SCHEMA_LIST,   /* elements like `items` */
    SCHEMA_STRING,
    SCHEMA_BOOL,
    SCHEMA_INT32,
    SCHEMA_INT64,
    SCHEMA_NUMBER,
    SCHEMA_INT_OR_STRING,
    SCHEMA_QUANTITY,   /* string or number in, canonical string out */
    SCHEMA_TIME,       /* RFC 3339, seconds */
    SCHEMA_MICRO_TIME, /* RFC 3339, six digits */
    SCHEMA_DURATION,   /* metav1.Duration: "1m30s" */
    SCHEMA_BYTES,      /* base64 */
};

enum schema_list { LIST_ATOMIC, LIST_SET, LIST_MAP };

enum {
    FIELD_REQUIRED = 1,   /* listed in OpenAPI's "required" */
    FIELD_KEEP_EMPTY = 2, /* Go writes its zero value too, such as status: {} or containers: null */
    FIELD_POINTER = 4,    /* a pointer in Go: 0, "", false and {} are kept when given */
};

struct schema;

struct schema_field {
    str name;
    const struct schema *schema;
    unsigned flags;
    const char *doc; /* our own words for kubectl explain; NULL: none */
};

struct crd_rules; /* crd/: pattern, enum, limits, formats, CEL ... */

struct schema {
    enum schema_type type;
    const char *name;    /* built-in objects: "io.k8s.api.core.v1.Container", for OpenAPI */
    const char *go_name; /* "v1.Container", as decode errors name it */
    const char *doc;
    const struct schema_field *fields; /* SCHEMA_OBJECT */
    size_t n_fields;
    bool sorted;                /* fields are, by name */
    const struct schema *items; /* LIST, MAP; OBJECT: additional properties */
    const char *const *values;  /* STRING: the known ones, ends with NULL; told, never checked */

    enum schema_list list;        /* how server-side apply merges a list */
    const char *const *list_keys; /* LIST_MAP: ends with NULL */
    bool map_atomic;              /* objects and maps replaced whole by server-side apply */

    bool patch_merge;       /* strategic merge: patchStrategy=merge */
    bool patch_retain_keys; /* patchStrategy=retainKeys */
    bool patch_replace;     /* patchStrategy=replace: an object that is not merged */
    const char *patch_key;  /* patchMergeKey; NULL with patch_merge: a list of primitives */

    /* custom resources only */
    bool preserve_unknown;
    bool embedded_resource;
    bool nullable;
    jv dflt; /* absent: none; built-in: only where list keys need it */
    const struct crd_rules *rules;
};

/* The scalars of built-in types. */
extern const struct schema schema_string, schema_bool, schema_int32, schema_int64, schema_double,
    schema_int_or_string, schema_quantity, schema_time, schema_micro_time, schema_duration,
    schema_bytes, schema_raw, schema_fields_v1;

const struct schema_field *schema_field(const struct schema *s, str name); /* NULL: none */
/* The schema of a member: the field's, or `items` of maps and open objects; NULL: unknown. */
const struct schema *schema_member(const struct schema *s, str name);

/* ---- decoding, as Go's typed decoder and encoder together would leave a value */

struct schema_report {
    /* Called for every field that the schema does not have (the first LIMIT_STRICT), with its
     * path ("spec.foo"). */
    void (*on_unknown)(void *ctx, str path);
    void *ctx;
};

/* v as kube-apiserver would print it after decoding it into s: unknown fields dropped (and told),
 * null and empty values left out unless FIELD_KEEP_EMPTY, field names matched exactly (case and
 * all), quantities and times canonical, integers in range. A wrong type is ERR_BAD_REQUEST with the
 * text Go's decoder gives: `json: cannot unmarshal string into Go struct field
 * PodSpec.spec.containers of type []v1.Container`. Shares what does not change. */
jv schema_decode(struct arena *a, const struct schema *s, jv v, const struct schema_report *report,
                 struct err *e);
