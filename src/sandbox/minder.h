/* The process above a container's (or an exec's) main one: starts it, reaps, tells how it ended,
 * and takes everything that it left down with it. At level namespaces it is the init of the
 * container's pid namespace; otherwise a subreaper. */
#pragma once

#include "sandbox/root.h"
#include "sandbox/run.h"

/* What it says on its socket (SEQPACKET), one packet each. */
enum warden_word {
    MINDER_EVENT_STARTED = 'S', /* and its pid_t as the minder sees it, with a pidfd */
    MINDER_EVENT_FAILED = 'F',  /* and why, as text */
    MINDER_EVENT_EXITED = 'X',  /* and the int of wait(2) */
    MINDER_EVENT_TTY = 'T',     /* with the master side */
};

struct warden_minder {
    int sock; /* closed on the other side, or a byte: kill all and end */
    struct warden_run run;
    const struct warden_view *view; /* NULL: level shared, or an exec */
    bool is_exec;
    int join; /* exec: pidfd of the container's minder, whose namespaces are joined; -1: none */
    bool tty; /* open a terminal there */
    int64_t rows;
    int64_t cols;
    pid_t main_pid; /* as this process sees it */
};

/* In a fresh child; never returns. */
__attribute__((noreturn)) void warden_minder_run(struct warden_minder *m);
