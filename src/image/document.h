/* The JSON documents of images: index, manifest, docker's manifest.json, config. Pure. They come
 * from outside: each field is checked where it is read. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "image/digest.h"

struct image_blob {
    struct digest digest; /* empty: not known */
    str file;             /* name in a docker archive; empty: blobs/sha256/HEX */
    int64_t size;         /* -1: not known */
};

struct image_manifest {
    struct image_blob config;
    struct image_blob *layers; /* the lowest first */
    size_t n;
    str name; /* from the document that led here; empty: none */
};

struct image_config {
    struct digest *diffs; /* as many as the manifest has layers */
    jv env;               /* {name: value}; absent: none */
    jv command;           /* list of strings; absent: none */
    jv args;
    str cwd;
    str user;
};

/* The manifest for this architecture in an index. name: that of the image (an annotation); NULL:
 * there must be one only. found: the name that it has, if any. */
int image_index_pick(struct arena *a, jv index, const char *name, str architecture,
                     struct image_blob *out, str *found, struct err *e);
int image_manifest_read(struct arena *a, jv manifest, size_t most_layers,
                        struct image_manifest *out, struct err *e);
/* docker's manifest.json: [{Config, RepoTags, Layers}] */
int image_docker_read(struct arena *a, jv list, const char *name, size_t most_layers,
                      struct image_manifest *out, struct err *e);
int image_config_read(struct arena *a, jv config, size_t layers, str architecture,
                      struct image_config *out, struct err *e);
