/* Mounts by descriptor, within a root that is not yet ours. */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

/* A root being built. Directories may be made where the mount is ours (a tmpfs of the root, a
 * volume); elsewhere, on this machine's own files, the directory is first covered by a tmpfs that
 * shows the same entries. */
struct warden_root {
    int fd;
    int64_t bytes;     /* most in each tmpfs of it; 0: the kernel's default */
    bool devices;      /* device nodes on what is bound into it open; else they do not */
    uint64_t ours[64]; /* mount ids */
    bool lent[64];     /* a volume: files may be made there, and nothing else be done to it */
    size_t nours;
};

/* A tmpfs on the directory; its root as O_PATH, or -1. size_bytes 0: the kernel's default. */
int warden_tmpfs_on(int dir, const char *path, int64_t size_bytes, unsigned mode, struct err *e);
uint64_t warden_mount_id(int fd);
/* The mount that fd is on may be changed at will. */
void warden_root_own(struct warden_root *r, int fd);
bool warden_root_is_ours(const struct warden_root *r, int fd);
/* Every entry of the directory `from`, but those in skip (ends with NULL), also at `to`. */
int warden_mirror(int from, int to, const char *const *skip, struct err *e);
/* What is at path in the root, as O_PATH; -1: nothing. */
int warden_root_find(const struct warden_root *r, const char *path);
/* The same; made when it is missing. */
int warden_root_at(struct warden_root *r, const char *path, bool dir, struct err *e);
/* from, with all that is mounted below it, at `to` of the root. */
int warden_root_bind(struct warden_root *r, int from, const char *to, bool ro, struct err *e);
/* One entry of a directory, at an entry that is there. */
int warden_bind(int from_dir, const char *from, int to_dir, const char *to);
int warden_bind_fd(int from, int to);
/* The subpath of a directory, made when missing, never outside of it. */
int warden_beneath(int dir, const char *subpath, struct err *e);
