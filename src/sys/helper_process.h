/* What the processes outside of pods, a pod's keeper and the hub of their network, begin with. Each
 * has a directory with its log and its socket, `ctl`. */
#pragma once

#include "base/err.h"

#include <sys/types.h>

/* Runs a program that has one end of a pair of sockets as its descriptor 3, and no signal blocked
 * or ignored. exe NULL: this program, by its loader if that is how it was started. Returns the
 * other end; -1: e says why, and *pid is as it was. */
int helper_run(const char *exe, char *const *argv, int type, pid_t *pid, struct err *e);

/* Complaints go to a descriptor of their own of the log, which exists. */
void helper_set_stdio(int dir, const char *log);
/* Listens on dir/ctl; leaves the process in /. -1: errno says why. */
int helper_listen(int dir);
/* In a user namespace that is new: the user is there who they were. */
int helper_map_ids(uid_t uid, gid_t gid, struct err *e);
