/* What `muster run` adds to every container of the jobs and pods it submits: the directory it was
 * called in, volumes and environment variables from the command line; and to every pod when it
 * counts as stalled. PURE. */
#pragma once

#include "base/json.h"

struct extra_mount {
    const char *host; /* absolute once it was looked up */
    const char *pod;
    bool ro;
};

struct extras {
    const char *workdir; /* NULL: none; its path is the same on the machine and in the pod */
    bool workdir_ro;
    const struct extra_mount *mounts;
    size_t n_mounts;
    const char *stall_after; /* annotation of pods that have none; NULL: none */
    jv env;                  /* {name: value}, taken literally; absent: none */
    /* The working directory that the container's image brings along; empty: none. May be NULL. */
    str (*image_dir)(void *ctx, jv container);
    void *ctx;
};

/* "HOST:POD[:ro|:rw]". */
int extras_read_mount(struct arena *a, const char *text, struct extra_mount *out, struct err *e);
/* "DIR[:ro]". */
const char *extras_read_workdir(struct arena *a, const char *text, bool *ro);
/* "NAME=VALUE", or "NAME" for what getenv has; one that is not set is left out. */
int extras_read_env(const char *text, struct jbuild *out, struct err *e);
/* Lines of the same; empty ones and those that begin with # are skipped. The error names file and
 * line. */
int extras_read_env_file(struct arena *a, const char *file, str text, struct jbuild *out,
                         struct err *e);

/* Whether a container of the job or pod names no workingDir. */
bool extras_want_workdir(jv obj);
/* The job or pod with all of it; any other object as it is. */
jv extras_add(struct arena *a, const struct extras *x, jv obj);
