/* The program's own file, and how to start it again. A copy that brings its own libraries (`muster
 * exec --install`, the tarball of `make tarball`) is started by its own loader: /proc/self/exe is
 * the loader then, not the program. */
#pragma once

#include "base/arena.h"

#include <limits.h>
#include <stdbool.h>

struct sys_self {
    bool is_bundled;         /* started by the loader beside it */
    char program[PATH_MAX];  /* to be opened: /proc/self/exe, or in a bundle DIR/lib/muster */
    char launcher[PATH_MAX]; /* the command that starts it; in a bundle the script DIR/muster */
    char files[PATH_MAX];    /* all files that command needs: the program, or DIR */
};

/* Found at the first call. Any thread. */
const struct sys_self *sys_self(void);

/* To start this program again, with its name and arguments: SYS_SELF_EXE with what sys_self_argv()
 * gives. */
#define SYS_SELF_EXE "/proc/self/exe"
char *const *sys_self_argv(struct arena *a, char *const *argv);
