/* Pods that make no progress: nothing is written and no CPU time is used for as long as the
 * annotation muster.dev/stall-after says. Such a pod gets the condition muster.dev/Stalled, which
 * says since when and where its processes wait. Pods without the annotation cost nothing. */
#pragma once

#include "base/json.h"
#include "base/vec.h"
#include "sys/process_table.h"

/* ---- when: pure */

struct stall_count {
    uint64_t runs;   /* which runs of which containers these are; another value starts anew */
    uint64_t output; /* changes when a container writes */
    int64_t cpu_ms;
};

struct stall_mark { /* starts as { 0 } */
    bool began;
    bool stalled;
    int64_t since_ms;  /* of the last progress, since 1970 */
    int64_t looked_ms; /* likewise */
    int64_t quiet_ms;  /* without progress, as far as somebody looked */
    struct stall_count last;
    int64_t window_ms;     /* how long CPU time has been counted ... */
    int64_t window_cpu_ms; /* ... from this count on */
};

enum stall_news { STALL_SAME, STALL_BEGAN, STALL_ENDED };

/* The annotation's time; 0: the pod is not watched. */
int64_t stall_after_ms(jv pod);
/* How far apart two looks are. */
int64_t stall_step_ms(int64_t after_ms);
/* After each look. A gap in which nobody looked (the machine slept) counts as one step. */
enum stall_news stall_see(struct stall_mark *m, const struct stall_count *c, int64_t after_ms,
                          int64_t now_ms);

/* ---- where: pure; the texts are those of /proc */

struct stall_fd {
    int64_t fd;
    str link; /* "socket:[4711]", "pipe:[12]", a path */
};

struct stall_process {
    str name;     /* comm */
    str *threads; /* /proc/PID/task/TID/syscall */
    str *sleeps;  /* likewise wchan */
    size_t n_threads;
    struct stall_fd *fds;
    size_t n_fds;
};

struct stall_name {
    str ip;
    str name;
};

struct stall_view {
    struct {
        VEC(struct stall_process);
    } processes;
    str tcp; /* /proc/PID/net/tcp */
    str tcp6;
    struct {
        VEC(struct stall_name);
    } names; /* of pods by their address; an address that several pods have names none */
};
void stall_view_done(struct stall_view *v);

/* "python3 is connecting to worker-2:29500"; of all processes and threads the one that says most.
 * Empty: not known. */
str stall_where(struct arena *a, const struct stall_view *v);

/* ---- reading, in a thread of the pool */

/* The process that all of a pod's are below, its programs by `kubectl exec` too, which are the
 * workers of an MPIJob. main: the first process of a container. 0: it is gone. */
pid_t stall_root(const struct process_table *t, pid_t main);
/* All of a pod's processes, and the connections of its network. */
void stall_read(struct arena *a, int proc, const struct process_table *t, pid_t main,
                struct stall_view *v);
