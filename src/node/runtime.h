/* What runs pods, as the node sees it: warden.c with processes, a fake in tests. All calls and
 * events are on the loop thread; no event comes from within a call. */
#pragma once

#include "base/err.h"
#include "base/json.h"

enum runtime_what {
    RUNTIME_HELLO,       /* the sandbox is up; state: what is known of its containers */
    RUNTIME_STARTED,     /* container, at_ms, pid */
    RUNTIME_EXITED,      /* container, at_ms, code, signo, oom */
    RUNTIME_FAILED,      /* container: it did not start; why. Without one: the sandbox failed */
    RUNTIME_EXEC_EXITED, /* id, code; out: the end of what it printed */
    RUNTIME_GONE,        /* everything in the sandbox is dead and cleared away; the last event */
};

/* Texts and values are borrowed until on_event returns. */
struct runtime_event {
    enum runtime_what what;
    str container;
    int64_t at_ms; /* since 1970 */
    int64_t pid;
    int code;  /* exit status; -1: see signo */
    int signo; /* that ended it; 0: none did */
    bool oom;
    str why;
    uint64_t id;
    str out;
    /* {ip, containers: {NAME: {attempt, pid, started_ms, finished_ms, code, signal, oom, failed}}};
     * a container without finished_ms runs. */
    jv state;
};

struct runtime_sink {
    void (*on_event)(void *ctx, const struct runtime_event *ev);
    void *ctx;
};

struct runtime;
struct runtime_pod;

struct runtime_ops {
    /* sandbox: what `<data>/pods/<uid>/sandbox` is to hold, as JSON (sandbox/spec.c has the keys;
     * members of "note" are the node's own). HELLO, FAILED or GONE follows. */
    struct runtime_pod *(*spawn)(struct runtime *rt, str uid, jv sandbox,
                                 const struct runtime_sink *sink);
    /* After a restart: HELLO with its state when it still runs; GONE, with the last state that is
     * on disk, when it does not. NULL: there is no trace of it. */
    struct runtime_pod *(*adopt)(struct runtime *rt, str uid, const struct runtime_sink *sink);
    /* {name, attempt, argv, env, cwd, uid, gid, groups, umask, log, termination_log, rootfs,
     * limits: {cpu_milli, memory_bytes}, tty, stdin} */
    void (*start)(struct runtime_pod *p, jv container);
    void (*signal)(struct runtime_pod *p, str container, int signo);
    /* Runs beside the container, in its view; killed after timeout_ms, code 124 then. At most
     * RUNTIME_EXEC_OUT bytes of what it prints come back. */
    void (*exec)(struct runtime_pod *p, uint64_t id, str container, jv argv, int64_t timeout_ms);
    /* SIGTERM to all at once, SIGKILL after grace_ms (0: at once); then GONE. */
    void (*end)(struct runtime_pod *p, int64_t grace_ms);
    /* Frees the handle: no more events. What runs goes on. */
    void (*drop)(struct runtime_pod *p);
    /* uids of the sandboxes it knows of, as on disk: a list of text. */
    jv (*list)(struct runtime *rt, struct arena *a);
    /* The directory of a sandbox that is gone has been removed. May be NULL. */
    void (*forget)(struct runtime *rt, str uid);
};

/* First member of whatever implements it. */
struct runtime {
    const struct runtime_ops *ops;
};

enum { RUNTIME_EXEC_OUT = 4096, RUNTIME_EXEC_TIMED_OUT = 124 };
