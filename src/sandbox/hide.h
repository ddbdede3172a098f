/* Files that no container may see: credentials of servers and of the machine's owner. They are
 * named by their place on a file system, and an empty directory or file covers them by every path
 * that leads there: through overlays, bind mounts, hostPaths. */
#pragma once

#include "sandbox/mounttab.h"
#include "sandbox/root.h"

struct warden_root;

struct warden_hide {
    struct arena *a;
    const struct warden_view *view;
    int procfs;              /* of the machine, or of the pod */
    struct mount_table host; /* what is mounted on the machine */
    struct mount_place *hidden;
    size_t nhidden;
    struct mount_place *own; /* the container's own: shown, even where they lie in what is hidden */
    size_t nown;
    const char *proc; /* device of the container's own /proc; any other is covered. NULL: none is */
};

/* In a mount namespace that shows the machine's files. Texts live in a. */
int warden_hide_init(struct warden_hide *h, struct arena *a, const struct warden_view *v,
                     struct err *e);
void warden_hide_done(struct warden_hide *h);
/* The root has its own /proc now: any other is covered, which has links to every process's root. */
void warden_hide_proc(struct warden_hide *h, const struct warden_root *r);
/* Covers what is seen of it in the root, which is at the path top; again: what has come since. */
int warden_hide_cover(struct warden_hide *h, struct warden_root *r, const char *top, struct err *e);
/* Whether the file of a hostPath, open as fd, may be shown; -1: e says why not. */
int warden_hide_check(const struct warden_hide *h, int fd, const char *path, struct err *e);

/* ---- for a node that wants to know before it asks */

/* The same check for a path on this machine; what does not exist yet is where it would be. */
int warden_host_path_check(const struct warden_sandbox *s, const char *path, struct err *e);
