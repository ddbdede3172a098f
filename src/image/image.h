/* Image archives become directories with an image's files, below images/ in the data directory:
 *
 *   layers/sha256-HEX   the files of one layer, by its diff_id; whiteouts are files named .wh.NAME
 *   sha256-HEX/rootfs   the files of an image, by its config; hard links to those of its layers
 *   sha256-HEX/image.json   {layers: ["sha256-HEX"]}
 *   .new-XXXXXX         an import that is not done yet, or was interrupted
 *
 * The caller holds a lock on the data directory. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

#include <signal.h>

struct image_limits {
    int64_t bytes;      /* of all files of all layers; of the blobs of an archive, too */
    int64_t files;      /* of all layers */
    int64_t layers;     /* of an image */
    int64_t json_bytes; /* of an index, a manifest or a config */
};
extern const struct image_limits image_limits_default;

enum {
    IMAGE_PATH_BYTES = 4095, /* most that a path in a layer, and the target of a link, may have */
    IMAGE_NAME_BYTES = 255,
    IMAGE_DEPTH = 200, /* most parts of a path */
};

/* What an import dropped on its way; for people. */
struct image_dropped {
    int64_t devices; /* device nodes, FIFOs and sockets */
    int64_t setuid;  /* setuid and setgid bits of files */
};

struct image_imported {
    str name;         /* the archive's; empty: it has none */
    str rootfs;       /* whole path */
    str user;         /* as the image's config has it; empty: root */
    jv entry;         /* {rootfs, env, command, args, workingDir, user} for images.yaml */
    int64_t layers;   /* that the image has ... */
    int64_t unpacked; /* ... of which these were not here yet */
    struct image_dropped dropped;
};

/* A handler of signals sets it: imports and pulls then fail, and clear away what they made. */
extern volatile sig_atomic_t image_stopped;

/* from: a docker archive, an OCI archive or an OCI layout directory. name: which of its images;
 * NULL: it has one. data: whole path. A failed import leaves no image. */
int image_import(struct arena *a, const char *data, const char *from, const char *name,
                 const struct image_limits *limits, struct image_imported *out, struct err *e);

/* A layer is going to be downloaded: which of how many; bytes: -1 if that is not known. */
typedef void image_pull_told(void *ctx, size_t i, size_t n, int64_t bytes);
struct image_pulling {
    const char *data;
    const char *ref; /* [HOST[:PORT]/]NAME[:TAG][@DIGEST] */
    const struct image_limits *limits;
    image_pull_told *told; /* may be NULL */
    void *ctx;
};
/* From a registry, with the credentials of docker's config.json. Blocks. */
int image_pull(struct arena *a, const struct image_pulling *how, struct image_imported *out,
               struct err *e);

/* Removes images that no rootfs of the table ({images: [{rootfs}]}) is in, layers that no image
 * has, and what interrupted imports left. Images that containers run in stay. */
int image_sweep(const char *data, jv table, struct err *e);
bool image_is_ours(const char *data, str rootfs); /* it was imported */
/* Of an imported image: whether containers run in it, of whatever data directory. pods: their host
 * names, as far as they are known: "train-worker-0, train-worker-1". */
bool image_in_use(struct arena *a, str rootfs, str *pods);

/* amd64, arm64 ...: this machine's, as images name it. */
str image_architecture(void);
