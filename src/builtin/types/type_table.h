/* Words for the type tables (types_*.c), so that a type reads as rows: name, type, flags.
 * TYPE(core, Pod, ...) defines core_Pod. A file sets PACKAGE (of OpenAPI names) and GO_PACKAGE (of
 * decode errors) before its first type. All is constant data; nothing is built at run time. */
#pragma once

#include "builtin/types/types.h"

/* Fields in the order of the Go struct. LOCAL_ types are used in their own file only. */
#define OBJECT_(rows, Name, ...)                                                           \
    {                                                                                      \
        .type = SCHEMA_OBJECT, .name = PACKAGE "." #Name, .go_name = GO_PACKAGE "." #Name, \
        .fields = (rows), .n_fields = COUNT(rows), __VA_ARGS__                             \
    }
#define ROWS_(api, Name, ...) \
    static const struct schema_field api##_##Name##_rows[] = { __VA_ARGS__ };
#define TYPE(api, Name, attribute, ...) \
    ROWS_(api, Name, __VA_ARGS__)       \
    const struct schema api##_##Name = OBJECT_(api##_##Name##_rows, Name, attribute);
#define LOCAL_TYPE(api, Name, attribute, ...) \
    ROWS_(api, Name, __VA_ARGS__)             \
    static const struct schema api##_##Name = OBJECT_(api##_##Name##_rows, Name, attribute);
/* The same fields as type Of of this file, merged in another way. */
#define TYPE_AS(api, Name, Of, ...) \
    const struct schema api##_##Name = OBJECT_(api##_##Of##_rows, Of, __VA_ARGS__);
#define LOCAL_TYPE_AS(api, Name, Of, ...) static TYPE_AS(api, Name, Of, __VA_ARGS__)

#define BARE_(api, Name, kind, ...)                                                             \
    const struct schema api##_##Name = {                                                        \
        .type = (kind), .name = PACKAGE "." #Name, .go_name = GO_PACKAGE "." #Name, __VA_ARGS__ \
    };
#define LOCAL_EMPTY_TYPE(api, Name)      static BARE_(api, Name, SCHEMA_OBJECT)
#define LOCAL_ANY_TYPE(api, Name)        static BARE_(api, Name, SCHEMA_ANY)
#define LOCAL_ANY_OR_TYPE(api, Name, of) static BARE_(api, Name, SCHEMA_ANY, .items = &(of))

/* Strings and maps that have a name in Go, but are none in OpenAPI. */
#define STRING_(api, Name, go, ...)                               \
    const struct schema api##_##Name = { .type = SCHEMA_STRING,   \
                                         .go_name = go "." #Name, \
                                         __VA_ARGS__ };
#define STRING_TYPE(api, Name)       STRING_(api, Name, GO_PACKAGE)
#define LOCAL_STRING_TYPE(api, Name) static STRING_(api, Name, GO_PACKAGE)
#define TYPES_STRING(api, Name)      STRING_(api, Name, "types")
#define ENUM(api, Name, ...) \
    STRING_(api, Name, GO_PACKAGE, .values = (const char *const[]){ __VA_ARGS__, NULL })
/* With what OpenAPI says is meant when it is left out: such a field may be the key of a list. */
#define ENUM_OR(api, Name, dflt_node, ...)                                               \
    STRING_(api, Name, GO_PACKAGE, .values = (const char *const[]){ __VA_ARGS__, NULL }, \
            .dflt = { &(dflt_node) })
#define LOCAL_ENUM(api, Name, ...) static ENUM(api, Name, __VA_ARGS__)
#define MAP_TYPE(api, Name, of)          \
    const struct schema api##_##Name = { \
        .type = SCHEMA_MAP,              \
        .items = &(of),                  \
        .go_name = GO_PACKAGE "." #Name, \
    };

/* Attributes of types, lists and maps. */
#define PLAIN  .map_atomic = false
#define ATOMIC .map_atomic = true /* server-side apply replaces it whole */
#define SET    .list = LIST_SET
#define BY(...)                                          \
    .list = LIST_MAP, .list_keys = (const char *const[]) \
    {                                                    \
        __VA_ARGS__, NULL                                \
    }
#define MERGE(key)   .patch_merge = true, .patch_key = (key) /* strategic merge */
#define MERGE_VALUES .patch_merge = true
#define RETAIN_KEYS  .patch_retain_keys = true
#define REPLACED     .patch_replace = true
#define GO(type)     .go_name = (type)
#define DOC(words)   .doc = (words)

/* A field: F("name", TYPE, flags), and DOC("...") where we have words for it. */
#define F(field, kind, set, ...)                                              \
    {                                                                         \
        .name = S_INIT(field), .schema = &(kind), .flags = (set), __VA_ARGS__ \
    }
/* What every object begins with. */
#define OBJECT_HEAD                                                                              \
    F("kind", STRING, 0, DOC("The kind of the object, in CamelCase.")),                          \
        F("apiVersion", STRING, 0, DOC("The group and version that the object is written in.")), \
        F("metadata", meta_ObjectMeta, KEEP, DOC("Names, labels, owners and history."))
#define REQ  FIELD_REQUIRED
#define KEEP FIELD_KEEP_EMPTY
#define PTR  FIELD_POINTER

#define LIST(of, ...) ((const struct schema){ .type = SCHEMA_LIST, .items = &(of), __VA_ARGS__ })
#define MAP(of, ...)  ((const struct schema){ .type = SCHEMA_MAP, .items = &(of), __VA_ARGS__ })

#define STRING        schema_string
#define BOOL          schema_bool
#define INT32         schema_int32
#define INT64         schema_int64
#define DOUBLE        schema_double
#define INT_OR_STRING schema_int_or_string
#define QUANTITY      schema_quantity
#define TIME          schema_time
#define MICRO_TIME    schema_micro_time
#define BYTES         schema_bytes
#define RAW           schema_raw
#define FIELDS_V1     schema_fields_v1
