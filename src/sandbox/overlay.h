/* Overlays: files that a container sees and may change without changing them. */
#pragma once

#include "sandbox/mount.h"
#include "sandbox/root.h"

#define WARDEN_VAR_TMP "/var/tmp"

/* Where changes go: a directory of the container's own, two in it for each overlay. */
struct warden_overlay {
    int place;
    bool disk;          /* it is on one: what is written there is never waited for */
    bool user;          /* extended attributes are those that an ordinary user may set */
    uint64_t shown[32]; /* mounts that are seen through overlays, by id */
    size_t n;
    size_t tried; /* each with directories of its own: a mount that failed leaves its marks there */
    bool real_tmp;       /* /var/tmp is this machine's, without an overlay, and nobody's home */
    const char *envs[2]; /* directories of packages, besides homes; NULL: none */
};

/* place: taken. */
void warden_overlay_init(struct warden_overlay *o, int place, bool disk);
void warden_overlay_done(struct warden_overlay *o);
/* Directories by descriptors; as: the path that the container knows it by, NULL: the lower one's
 * own. A file N.of beside the changes of the N-th overlay says that. -1, errno: this kernel, file
 * system, or user, has none. */
int warden_overlay_dir(struct warden_overlay *o, int lower, int to, const char *as);

/* Lets an overlay of an ordinary user, to be mounted, create files in directories of the user's
 * other groups. Both are directories by descriptors. */
void warden_overlay_groups(int lower, int upper);

/* r, so far a tmpfs at the path `at`, becomes an overlay over the directory. -1: there is none;
 * nothing has changed. */
int warden_overlay_root(struct warden_overlay *o, struct warden_root *r, const char *lower,
                        const char *at);
/* Over /: what an overlay does not show, which is all that is mounted somewhere; and directories
 * that are neither the system's nor homes (/srv, /mnt ...) as they are. Not those in skip (ends
 * with NULL), nor what is mounted below dir, the pod's. */
int warden_overlay_rest(struct warden_overlay *o, struct warden_root *r,
                        const struct warden_view *v, const char *const *skip, struct err *e);
/* What the container's environment names as the place of its packages, so that installing some
 * changes nothing for others: from now on like a home. */
void warden_overlay_envs(struct warden_overlay *o, const struct warden_list *env);
/* /var/tmp, where there is none over /: anybody may write to it. */
void warden_overlay_tmp(struct warden_overlay *o, struct warden_root *r,
                        const struct warden_view *v);
/* Homes that are not seen through one yet. Those that cannot be stay as they are. */
int warden_overlay_homes(struct warden_overlay *o, struct warden_root *r,
                         const struct warden_view *v, struct err *e);
