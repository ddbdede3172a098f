/* What the files of the node's side of the wardens share. */
#pragma once

#include "node/warden.h"
#include "sandbox/nursery.h"
#include "sys/msgsock.h"

#include <sys/types.h>
#include <uv.h>

struct warden_call { /* an exec under way */
    struct warden_call *next;
    struct runtime_pod *pod;
    uint64_t id; /* ours, on the wire */
    bool captured;
    uint64_t their_id; /* captured: what the caller calls it */
    struct warden_exec_opts o;
    void (*on_fd)(void *ctx, int fd, str why); /* asks for an input instead; o.ctx */
    uv_poll_t read;                            /* captured: its output */
    int fd;                                    /* -1: at its end */
    struct buf out;
    struct loop_timer *timer;
    bool timed_out;
    bool exited;
    int code;
    char why[232];
};

struct warden_runtime {
    struct runtime base;
    struct loop *loop;
    char *pods;
    char *exe;
    struct warden_nursery *nursery; /* NULL: not needed yet, or died */
    struct runtime_pod *first;
    uint64_t last_id;
};

struct runtime_pod {
    struct runtime_pod *next;
    struct warden_runtime *rt;
    struct runtime_sink sink;
    char *uid;
    char *dir;
    bool asked; /* the nursery, and it has not answered */
    int pidfd;
    uv_poll_t death; /* on pidfd */
    uv_poll_t talk;  /* on wire.fd */
    bool has_death;
    bool has_talk;
    int handles; /* open */
    struct msgsock wire;
    struct warden_call *calls;
    struct loop_timer *retry;
    int64_t retry_until_ms;
    bool greeted;
    const char *strange; /* why it is being ended; NULL: it is not */
    bool dead;           /* the keeper is */
    bool deferred;       /* a call that is to come */
    bool gone;           /* GONE was told */
    bool dropped;
};

void warden_pod_say(struct runtime_pod *p, const struct buf *message, const int *fds, size_t nfds);
void warden_pod_tell(struct runtime_pod *p, const struct runtime_event *ev);
void warden_pod_maybe_free(struct runtime_pod *p);            /* once nobody needs it */
void warden_pod_bury(struct runtime_pod *p, const char *why); /* tells GONE, later */

void warden_call_captured(struct runtime_pod *p, uint64_t id, str container, jv argv,
                          int64_t timeout_ms);
void warden_call_tty(struct runtime_pod *p, uint64_t id, int fd); /* takes fd */
void warden_call_exited(struct runtime_pod *p, uint64_t id, int code, str why);
void warden_calls_end(struct runtime_pod *p, bool tell); /* all of them */
