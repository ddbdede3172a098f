/* What this machine has to give: cpu, memory, storage, GPUs; and which GPUs whom. */
#pragma once

#include "base/err.h"
#include "base/json.h"

#include <sys/types.h>

struct resources_opts {
    const char *root; /* where dev, proc and sys are; "" or NULL: this machine's */
    const char *data; /* a directory on the file system that storage is counted of */
    str given;        /* "nvidia.com/gpu=2,cpu=4": instead of what is found */
    str told;         /* likewise, instead of what is given */
};

/* Sets in *amounts, an object, what the list has. */
int resources_parse(struct arena *a, str given, jv *amounts, struct err *e);
/* Likewise of one word: a list, or "NAME-", which takes an amount back. */
int resources_change(struct arena *a, str word, jv *amounts, struct err *e);
str resources_text(struct arena *a, jv amounts); /* "nvidia.com/gpu=2,cpu=4" */

/* {capacity: {…}, gpus: [{index, model}], info: {…nodeInfo…}}. Errors are those of `given` and
 * `told`. */
int node_resources(struct arena *a, const struct resources_opts *o, jv *out, struct err *e);

/* ---- the ledger of devices: which of a resource's indexes are whose. Embedded; starts as { 0 }.
 */
enum { DEVICES_MOST = 256 };

struct devices {
    struct {
        char owner[64];  /* a pod's uid; empty: no pod of ours */
        pid_t elsewhere; /* a process that is not of ours uses it; 0: none */
    } at[DEVICES_MOST];
    size_t n; /* how many there are; there were more when those beyond were given away */
};

/* Those of owner, or `want` free ones that are its from now on: [0, 3]. Absent: too few are free.
 */
jv devices_take(struct devices *d, struct arena *a, str owner, int64_t want);
/* Finds out which of them are in use by others of this machine; returns whether that changed. */
bool devices_look(struct devices *d, const char *root);
size_t devices_elsewhere(const struct devices *d); /* how many are */
/* "GPU 0 is in use by process 4711 of another run or server on this machine"; empty: none is. */
str devices_elsewhere_text(struct arena *a, const struct devices *d);
/* Names below /dev that a pod with these GPUs needs, for those that are really there; absent: none.
 */
jv devices_nodes(struct arena *a, const char *root, jv indexes);
void devices_mark(struct devices *d, str owner, jv indexes); /* known to be its */
void devices_release(struct devices *d, str owner);
size_t devices_free(const struct devices *d);
