/* Where servers of a user say which directories and files hold credentials, so that pods of all his
 * servers see none of them, those that run already included. A directory at a fixed place, itself
 * never seen by pods:
 *
 *   HASH.DEV.INODE   a symbolic link to what is to be hidden
 *   gN               the generation: every pod's warden holds a shared lock on the newest of which
 * it has hidden everything. Who adds something makes the next one, and waits until nobody holds an
 * older one any more. The lock of a dead warden is gone with it. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct registry_list {
    const char **at; /* absolute paths */
    size_t n;
};

/* Of this user, whatever the environment says. */
const char *registry_place(struct arena *a);
/* Before credentials are written to the directory or file, which is there. Returns when no running
 * pod sees it, at once when it, or a directory above it, is there already; 1: some pods have not
 * answered in time. Blocks, for at most some seconds. */
int registry_add(const char *place, const char *path, struct err *e);
/* Whether pods of this user run, from which something would have to be hidden. */
bool registry_has_pods(const char *place);
int registry_read(struct arena *a, const char *place, struct registry_list *out, struct err *e);

/* ---- for wardens */

int64_t registry_generation(int dir); /* the newest; the first is 1, made by who needs it */
/* Takes part in the generation; a descriptor, or -1: there is a newer one by now. */
int registry_join(int dir, int64_t generation);
