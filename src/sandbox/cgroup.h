/* cgroups of a pod: one directory for it, one below for each container. v2, or v1 controllers, or
 * none: the sandbox says which. */
#pragma once

#include "sandbox/spec.h"

enum { WARDEN_CGROUPS = 4 };

struct warden_cgroup {
    char *dirs[WARDEN_CGROUPS]; /* NULL: none */
    bool v2;
    bool flat; /* holds processes itself */
};

/* Of the pod, or (name given) of one container; only what the sandbox names. */
struct warden_cgroup warden_cgroup_of(const struct warden_sandbox *s, str name);
/* Moves a process there; takes some milliseconds, of waiting. */
int warden_cgroup_join(const struct warden_cgroup *c, pid_t pid, struct err *e);
void warden_cgroup_done(struct warden_cgroup *c);
/* Makes the directories: of a pod (with containers' below), or of one container. */
int warden_cgroup_make(const struct warden_cgroup *c, bool pod, struct err *e);
/* Sets what the controllers there know. *memory: the memory limit is kept by the kernel. */
int warden_cgroup_limit(const struct warden_cgroup *c, const struct warden_limits *l, bool *memory,
                        struct err *e);
/* cgroup.procs of each, for writing; -1 where there is none. */
void warden_cgroup_open(const struct warden_cgroup *c, int fds[WARDEN_CGROUPS]);
bool warden_cgroup_oom(const struct warden_cgroup *c); /* has it killed for memory? */
void warden_cgroup_kill(const struct warden_cgroup *c);
void warden_cgroup_remove(const struct warden_cgroup *c); /* those below too */
