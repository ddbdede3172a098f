/* /openapi/v3 and /openapi/v2, made on demand from the type tables and the schemas of custom
 * resources. Nothing is kept: clients cache by the hash. */
#pragma once

#include "base/buf.h"
#include "base/json.h"

struct builtin_kind;

/* A served version of a custom resource, or a kind that not every server has. */
struct openapi_custom {
    str group;
    str version;
    str kind;
    str list_kind;
    str plural;
    bool namespaced;
    bool status; /* subresources */
    bool scale;
    jv schema;      /* openAPIV3Schema; absent: anything goes */
    uint64_t stamp; /* changes whenever the definition does, such as its resourceVersion */
    const struct builtin_kind *builtin; /* not custom: has all but group, version and kind */
};

/* All functions take all custom resources, in any order. */

/* {"paths": {"api/v1": {"serverRelativeURL": "/openapi/v3/api/v1?hash=..."}}} */
void openapi_v3_index(struct buf *out, const struct openapi_custom *c, size_t n);
/* The document of one group version; false, with nothing written: there is none. */
bool openapi_v3(struct buf *out, str group, str version, const struct openapi_custom *c, size_t n);
uint64_t openapi_v3_hash(str group, str version, const struct openapi_custom *c, size_t n);

void openapi_v2(struct buf *out, const struct openapi_custom *c, size_t n);
/* The same in the protobuf form that kubectl before 1.27 and Helm ask for:
 * application/com.github.proto-openapi.spec.v2@v1.0+protobuf */
void openapi_v2_proto(struct buf *out, const struct openapi_custom *c, size_t n);
uint64_t openapi_v2_hash(const struct openapi_custom *c, size_t n);
