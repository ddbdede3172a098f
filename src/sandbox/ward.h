/* The process that holds a pod: what its files share. One thread, one epoll. */
#pragma once

#include "base/vec.h"
#include "sandbox/cgroup.h"
#include "sandbox/log.h"
#include "sandbox/minder.h"
#include "sandbox/spec.h"
#include "sys/msgsock.h"
#include "sys/record.h"

#define WARD_KEEPER "muster-keeper" /* the name of the process that keeps a pod */

struct ward;

struct ward_source {
    int fd; /* -1: none */
    void (*ready)(struct ward *w, void *of);
    void *of;
};

enum ward_phase { WARD_STARTING, WARD_RUNNING, WARD_EXITED, WARD_FAILED };

struct ward_box { /* a container, its latest attempt */
    struct arena *a;
    struct warden_start start;
    struct warden_view view;
    enum ward_phase phase;
    pid_t minder; /* 0: not there (any more) */
    int minder_fd;
    int main_fd; /* pidfd; -1: none */
    struct ward_source sock;
    struct ward_source out[2]; /* stdout, stderr; with a terminal only the first */
    int in;                    /* its standard input, or terminal, for writing; -1: none */
    struct warden_stream stream[2];
    struct warden_log log;
    struct warden_cgroup cgroup;
    bool told;        /* its end is known, and only waits for what it left to go */
    bool watch;       /* its memory, by looking */
    int64_t watch_at; /* monotonic ms */
    bool oom;
    int64_t pid; /* of its main process, on this machine */
    int64_t started_ms;
    int64_t finished_ms;
    int code; /* -1: see signo */
    int signo;
    char why[232];
};

struct ward_exec {
    int64_t id;
    pid_t minder;
    struct ward_source sock;
    struct ward_box *box;
    bool told;
    int status; /* as wait(2) gives it */
    bool tty;
};

struct ward {
    struct arena *a;
    const char *dir;
    int dirfd;
    struct warden_sandbox sandbox;
    str boot_id;
    int64_t pid; /* ours, on this machine: /proc/PID/ns/net is the pod's network */
    int64_t born;
    int ep;
    int proc;      /* of the pod's pid namespace */
    int host_proc; /* of the machine: there a pidfd has the number that the node knows */
    struct ward_source listen;
    struct ward_source signals;
    struct ward_source conn;
    struct ward_source registry; /* tells that servers registered more to hide */
    int registry_dir;            /* -1: none */
    int64_t generation;          /* of the registry; everything up to it is hidden */
    int joined;                  /* holds the lock of that generation; -1: none */
    struct msgsock wire;
    struct {
        VEC(struct ward_box *);
    } boxes;
    struct {
        VEC(struct ward_exec *);
    } execs;
    bool ending;
    bool killed;
    int64_t end_at;       /* monotonic ms */
    int64_t execs_end_at; /* until when execs are waited for then; 0: not yet */
    const char *end_why;
    bool was_idle; /* nothing ran any more when its end was asked for */
    bool ended;
};

void ward_watch(struct ward *w, struct ward_source *s, uint32_t events);
void ward_unwatch(struct ward *w, struct ward_source *s); /* and closes */
/* Tells the node: a record that begins with `event`. fd (-1: none) is borrowed. */
void ward_say(struct ward *w, const struct buf *event, int fd);
#define ward_tell(w, fd, what, ...)                                    \
    do {                                                               \
        AUTO(buf) struct buf event_ = { 0 };                           \
        record_put(&event_, { "event", .text = (what) }, __VA_ARGS__); \
        ward_say((w), &event_, (fd));                                  \
    } while (0)
void ward_save(struct ward *w);

/* What the node asks for; m is the message. */
void ward_start(struct ward *w, str m);
void ward_exec(struct ward *w, str m);
void ward_input(struct ward *w, str m);     /* hands out a container's standard input */
void ward_input_end(struct ward *w, str m); /* and ends it */

struct ward_box *ward_find(const struct ward *w, str name);
bool ward_is_live(const struct ward_box *b);
void ward_box_reaped(struct ward *w, struct ward_box *b, int status);
void ward_box_kill(struct ward_box *b); /* with all that it started */
/* Those whose memory is looked at; when the next look is due (monotonic ms; INT64_MAX: never). */
int64_t ward_look(struct ward *w, int64_t now);

/* ---- ward_hide.c */
void ward_hide_start(struct ward *w);
void ward_hide_resume(struct ward *w); /* no container is being started any more, perhaps */

void ward_exec_kill(struct ward *w, int64_t id); /* -1: all */
void ward_exec_kill_of(struct ward *w, const struct ward_box *b);
bool ward_exec_reaped(struct ward *w, pid_t pid); /* false: none of ours */

/* listen and first (a connection to the node; -1: none) are taken. */
__attribute__((noreturn)) void ward_run(struct warden_sandbox *s, struct arena *a, const char *dir,
                                        int listen, int first, int host_proc);
