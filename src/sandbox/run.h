/* The last steps of a container's process before it is the user's program. */
#pragma once

#include "sandbox/spec.h"

struct warden_run {
    const struct warden_sandbox *sandbox;
    const struct warden_start *start;
    struct warden_list argv;
    struct warden_list env;
    const char *cwd;
    int stdio[3];
    bool tty;       /* stdio[0] is a terminal that becomes the controlling one */
    int cgroups[4]; /* cgroup.procs files to join; -1: none */
};

/* Becomes the program; returns only when that failed, with what to tell. */
void warden_run_exec(const struct warden_run *r, struct err *e);
