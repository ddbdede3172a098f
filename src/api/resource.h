/* What is served: each built-in kind and each served version of each CRD, found by path or kind. */
#pragma once

#include "api/definition.h"
#include "base/map.h"
#include "builtin/kind.h"
#include "crd/crd.h"
#include "store/store.h"

struct resource {
    str group; /* "" is core */
    str version;
    str api_version; /* "v1", "apps/v1" */
    str kind;
    str list_kind;
    str plural;
    str singular;
    str error_group;    /* of its kind in errors: of what is stored in another shape, that one's */
    str group_resource; /* "pods", "deployments.apps": as errors and metrics name it */
    const struct builtin_kind *builtin; /* or */
    struct crd *crd;                    /* referenced; an outline, as is crdv */
    const struct crd_version *crdv;
    struct definition *definition;
    const struct schema *schema; /* of a built-in kind */
    struct store_coll *coll;     /* NULL: reviews and metrics, nothing is stored */
    bool namespaced;
    bool has_status;
    bool has_scale;
    const struct builtin_kind *stored_as; /* the kind whose shape is stored; NULL: its own */
    uint64_t stamp;                       /* changes with its definition */
    bool raw;                             /* what is stored is what is served, but for `open` */
    str open; /* {"kind":"Pod","apiVersion":"v1",  : what a stored object lacks in front */
    str key;  /* "group/version/plural", in the map */
    struct arena *a;
    unsigned refs; /* the registry's own, and one for each request under way */
};

struct registry {
    struct store *store;
    struct map by_path; /* "group/version/plural" to struct resource */
    struct map by_kind; /* "group/version/kind" */
    uint64_t changes;   /* counts up with each change: discovery and OpenAPI caches look at it */
};

struct resource *resource_ref(struct resource *r);
void resource_unref(struct resource *r);
/* Of the built-in ones, by group_resource; names ends with NULL. */
bool resource_is_one_of(const struct resource *r, const char *const *names);

void registry_init(struct registry *g, struct store *s); /* the built-in kinds */
void registry_add_metrics(struct registry *g);
void registry_group_pods(struct registry *g); /* pods can name a PodGroup of Kubernetes */
void registry_done(struct registry *g);
struct resource *registry_find(struct registry *g, str group, str version, str plural);
/* By apiVersion text, as in ownerReferences. */
struct resource *registry_find_owner(struct registry *g, str api_version, str kind);
bool registry_is_builtin_group(str group);
bool resource_is_measured(const struct resource *r); /* of metrics.k8s.io */
bool registry_has_group(struct registry *g, str group, str version);
/* A served version of what the collection holds, the stored one if it can be. */
struct resource *registry_of_coll(struct registry *g, const struct store_coll *c);

/* Puts the served versions of a CRD, by its outline, in place of the ones it had; NULL crd: takes
 * them away. stored: what it is the outline of. changed: its definition is not the first one, so
 * what is stored may not fit it. */
void registry_set_crd(struct registry *g, str group, str plural, struct crd *crd,
                      struct value *stored, bool changed);

/* Of a custom resource, with its schema: compiled at the first use. */
const struct crd_version *resource_rules(const struct resource *r);
const struct schema *resource_schema(const struct resource *r);

/* MAP_EACH (s, &g->by_path) r = s->value; */

/* Stored bytes as a value with kind and apiVersion, in the shape of this version. The value borrows
 * the blob, which the arena keeps. Absent: not an object (a damaged store would have said so). */
jv resource_parse(struct arena *a, const struct resource *r, struct blob *stored);
jv resource_parse_value(struct arena *a, const struct resource *r, const struct value *stored);
/* An object as it is to be stored: without kind and apiVersion, and with a resourceVersion that is
 * known last. */
struct encoding {
    struct buf text;
    size_t revision; /* where it belongs */
};
void resource_encode(struct arena *a, const struct resource *r, jv obj, struct encoding *out);
struct blob *encoding_blob(const struct encoding *e, int64_t rev);
/* The key of an object in the store. */
str resource_key(struct arena *a, const struct resource *r, str ns, str name);
