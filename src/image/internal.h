/* What the files of this room share; not for other rooms. */
#pragma once

#include "image/document.h"
#include "image/image.h"

/* ---- store.c: images/ in the data directory */

int image_store_open(const char *data, struct err *e); /* the directory, made if need be */
/* A directory with an unused name; name: room for 32 bytes. */
int image_store_new(int store, char *name, struct err *e);
/* Written to the disk, then renamed from below the new directory to its place. */
int image_store_keep(int store, int from, const char *name, const char *to, struct err *e);

/* ---- use.c: who runs in an image */

enum { IMAGE_IN_USE = -2 };
/* image: its directory. The descriptor holds a lock: no container starts in the image until it is
 * closed. -1: the image is not whole. */
int image_lock(int store, const char *image);

/* ---- user.c: who a container runs as */

/* NAME or UID, then :GROUP or :GID, by the image's own passwd and group. uid, gid: -1 where it does
 * not say. home: empty if it does not say. */
struct image_user {
    int64_t uid;
    int64_t gid;
    str home;
};
int image_user_find(struct arena *a, int rootfs, str user, struct image_user *out, struct err *e);
