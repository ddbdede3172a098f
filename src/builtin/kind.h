/* The kinds that kube-apiserver has compiled in: each a row of kinds.c. All functions are pure. */
#pragma once

#include "builtin/convert.h"
#include "builtin/warnings.h"
#include "kube/problem.h"
#include "kube/schema.h"

/* What a hook that makes something may look at besides the object. */
struct kind_ctx {
    struct arena *a;
    int64_t now_ms; /* wall clock */
};

/* Strategic columns of `kubectl get`; priority 0 always, 1 only with -o wide. */
struct kind_column {
    const char *name;
    const char *type;   /* "string", "integer", "date" ... */
    const char *format; /* "name" for the first column */
    int priority;
    const char *doc;
};

enum {
    KIND_NAMESPACED = 1,
    KIND_STATUS = 2,           /* has a status subresource: the main resource leaves status alone */
    KIND_GENERATION = 4,       /* metadata.generation counts changes of the spec */
    KIND_CREATE_ON_UPDATE = 8, /* PUT of a name that is not there creates it */
    KIND_UNCONDITIONAL = 16,   /* update without resourceVersion is allowed */
    KIND_SCALE = 32,           /* has a scale subresource (spec.replicas, status.replicas) */
    KIND_REVIEW = 64,          /* create only, nothing is stored */
    KIND_ANNOTATIONS_COUNT = 128, /* generation counts changed annotations too */
    KIND_GRACEFUL = 256,          /* deletion has a grace period (pods) */
    KIND_MEASURED = 512,          /* get and list only; made for each request, nothing is stored */
};

/* A subresource, as discovery tells of it. */
struct kind_sub {
    const char *name;
    const char *group;   /* of its kind; NULL: the resource's own group and version */
    const char *version; /* with group */
    const char *kind;    /* NULL: the resource's own kind */
    const char *verbs;   /* sorted, as "get,patch,update" */
};

struct builtin_kind {
    const char *group; /* "" is core */
    const char *version;
    const char *kind;
    const char *plural;
    const char *singular;
    const char *short_names; /* "po", or "a,b"; NULL: none */
    const char *categories;  /* "all"; NULL: none */
    unsigned flags;
    const char *verbs; /* sorted; NULL: all of create delete deletecollection get list patch update
                        * watch. As "create,get" */
    const struct kind_sub *subs; /* sorted by name, ends with a NULL name; NULL: none */
    const struct schema *schema;

    const struct kind_conversion *conversion; /* stored as another kind; NULL: as it is */

    /* metadata.name: which rule (kube/meta.h). NULL: DNS-1123 subdomain. */
    void (*check_name)(struct problems *ps, const struct path *p, str name, bool prefix);
    /* Fills in what the user left out. Runs on everything written, idempotent. */
    jv (*defaults)(const struct kind_ctx *c, jv obj);
    /* Before validation: resets what users may not set, fills in what admission would. old is
     * absent on create; metadata.name and uid are set by then (Jobs put them into labels). */
    jv (*prepare)(const struct kind_ctx *c, jv obj, jv old);
    /* Everything wrong with a new object; metadata is checked by the caller. */
    void (*validate)(struct problems *ps, jv obj);
    /* What else is wrong when it replaces old (immutable fields ...); validate runs too. */
    void (*validate_update)(struct problems *ps, jv obj, jv old);
    /* For the status subresource; NULL: validate alone is not run, anything of the type goes. */
    void (*validate_status)(struct problems *ps, jv obj, jv old);

    /* What to tell beside the answer of a valid object; old is absent on create. NULL: nothing. */
    void (*warn)(struct warnings *w, jv obj, jv old);
    /* Told on every request for it. NULL: nothing. */
    const char *deprecated;

    const struct kind_column *columns; /* NULL: Name and Created At */
    size_t n_columns;
    /* The cells, one a column, as a JSON array. */
    jv (*cells)(const struct kind_ctx *c, jv obj);
    /* The conditions of a table's row; NULL or absent: none. */
    jv (*row_conditions)(const struct kind_ctx *c, jv obj);

    /* Fields usable in field selectors besides metadata.name and metadata.namespace, as
     * "spec.nodeName,status.phase"; NULL: none. Absent values read as "" (false of a bool). A
     * cluster-scoped kind that has some does not know metadata.namespace. */
    const char *select_fields;
};

/* In the order that /apis lists groups and versions, resources sorted by plural within. */
extern const struct builtin_kind builtin_kinds[];
extern const size_t builtin_kinds_n;
/* Served only where pods run. */
#define METRICS_GROUP "metrics.k8s.io"
enum { METRICS_KINDS = 2 };
extern const struct builtin_kind metrics_kinds[METRICS_KINDS];

const struct builtin_kind *builtin_find(str group, str version, str plural);
const struct builtin_kind *builtin_find_kind(str group, str version, str kind);
