/* Images without an engine: a table says what an image means on this machine. */
#pragma once

#include "base/err.h"
#include "base/json.h"

/* images.yaml: {images: [{match, path, venv, command, args, workingDir, env, rootfs,
 * user}]}; the first
 * that matches counts. match: shell patterns on the image's name, with or without its tag. */
struct images;

/* A file that is not there is an empty table. The error says where in it. */
int images_load(struct images **out, const char *path, struct err *e);
/* Whether the file has changed since: then it is worth loading again. */
bool images_is_stale(const struct images *im, const char *path);
struct images *images_of(jv table); /* copies; for tests, and other sources of the same shape */
bool images_have_rootfs(const struct images *im); /* at least one has a root of its own */
void images_free(struct images *im);
static inline void images_auto(struct images **im)
{
    images_free(*im);
}

struct image_run {
    jv argv; /* program and arguments, $(NAME) not expanded yet */
    jv env;  /* {name: value}, with PATH; nothing of this machine's in a root of its own */
    str cwd;
    str rootfs; /* empty: this machine's */
    str venv;   /* Python environment whose programs come first; empty: none */
    int64_t
        uid; /* the image's user and group, where it has a root of its own; -1: it does not say */
    int64_t gid;
    str id; /* imageID */
    bool mapped;
    str told;    /* what an event is to say; empty: nothing */
    str reason;  /* why it cannot run; empty: it can */
    str message; /* */
};

/* How to run a container on this machine: command and args by Kubernetes' rules over the image's
 * own. path: this machine's PATH. */
void images_resolve(struct arena *a, const struct images *im, jv container, str path,
                    struct image_run *out);

/* The program that argv[0] names: told when an absolute path that is not here is looked for by
 * its last part, or reason, when there is none. Below one of the mounts (paths) nothing is known.
 * Absolute symbolic links in rootfs are resolved inside it. */
void images_find_program(struct arena *a, str program, str path, str rootfs, jv mounts,
                         struct image_run *out);
