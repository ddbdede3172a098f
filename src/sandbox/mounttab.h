/* What is mounted where, and where on its file system a file lies: the same file has one place
 * there, by however many paths it can be reached. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

#include <stdint.h>

struct mount_row { /* a line of /proc/self/mountinfo */
    uint64_t id;
    const char *dev;  /* "8:1" */
    const char *root; /* which directory of the file system */
    const char *at;   /* where it is mounted */
    const char *type;
};

struct mount_table { /* parents come before what is mounted below them */
    VEC(struct mount_row);
};

struct mount_place {
    const char *dev;  /* NULL: unknown */
    const char *path; /* from the root of the file system */
};

/* proc: a /proc in which we are; for what we see now, be it another namespace's. */
int mount_table_read(struct mount_table *t, struct arena *a, int proc, struct err *e);
void mount_table_done(struct mount_table *t);

bool mount_path_is_below(const char *path, const char *dir); /* or the same */
struct mount_place mount_place_of(const struct mount_table *t, struct arena *a, int fd);
/* Of a path without symbolic links. */
struct mount_place mount_place_at(const struct mount_table *t, struct arena *a, const char *path);
bool mount_place_is_below(struct mount_place p, struct mount_place dir); /* or the same */
/* The path of an open file, from our root. -1: it has none. */
int mount_path_of_fd(int fd, char *out, size_t n);
