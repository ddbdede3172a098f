/* A pod's volumes as directories on this machine, and what of them each container mounts. */
#pragma once

#include "node/projection.h"

#include <sys/types.h>

/* Where programs look for their pod's account. */
#define VOLUMES_TOKEN_PATH "/var/run/secrets/kubernetes.io/serviceaccount"

struct volumes_of {
    struct projection_of from;                     /* the pod, ConfigMaps and Secrets */
    jv (*claim)(void *ctx, str ns, str name);      /* a PersistentVolumeClaim */
    jv (*persistent)(void *ctx, str ns, str name); /* a PersistentVolume; ns is empty */
    const char *dir;                               /* DIR/volumes/NAME are made in it */
    str claims;         /* where local-path makes its volumes; what is there is ours */
    jv hidden;          /* from hostPaths: as in node_opts */
    const char *common; /* for volumes that are the same in all pods; NULL: none is shared */
    bool again;         /* they were set up before, and are brought up to date */
};

/* Makes them, or brings files of objects up to date (all at once, by a symbolic link, as kubelet
 * does). out: {NAME: {path, ro, host, exact, memory, size_bytes}}. The error says which volume, in
 * kubelet's words. */
int volumes_set_up(struct arena *a, const struct volumes_of *of, jv *out, struct err *e);

/* For a container of the pod: [{from, to, subpath, ro, host, exact}]; env: for subPathExpr. */
int volumes_mounts(struct arena *a, jv container, jv volumes, jv env, jv *out, struct err *e);
/* Whether any of the pod's containers runs as somebody else than root. */
bool volumes_are_others(jv pod);
/* Whether one of them is at that path. */
bool volumes_use(jv volumes, str path);
/* Volumes in memory: [{path, size_bytes}]. */
jv volumes_in_memory(struct arena *a, jv volumes);

/* Removes a directory and everything in it: tree_remove() */
int volumes_remove(const char *dir, struct err *e);

/* ---- volumes_write.c */

/* The files of dir become these, atomically: readers see all of the old or all of the new ones.
 * 1: they were these already. */
int volumes_write(const char *dir, const struct projection *files, struct err *e);
/* One file by its own name, exchanged whole. */
int volumes_write_one(const char *dir, const struct projection_file *file, struct err *e);
