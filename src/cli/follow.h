/* Jobs that run, looked at until they are over: their objects, pods and events into the state,
 * their logs and what is worth a sentence onto the screen. */
#pragma once

#include "cli/runstate.h"
#include "cli/screen.h"
#include "cli/tails.h"

struct follow_opts {
    struct session *s;
    struct run_state *state;
    struct screen *screen;
    bool color;
    bool live;
    /* Told besides; may be NULL. */
    void (*on_job)(void *ctx);
    void (*on_pod)(void *ctx, struct run_job *j, enum kube_event type, jv pod);
    void (*on_warning)(void *ctx, jv event); /* of a pod or job that is followed */
    void *ctx;
    void (*on_line)(void *line_ctx, str line); /* may be NULL */
    void *line_ctx;
};

struct follow;

/* The state's jobs are all there. */
struct follow *follow_start(const struct follow_opts *o);
const struct ask *follow_failed(const struct follow *f); /* NULL: it goes on */
struct tails *follow_tails(struct follow *f);
void follow_end(struct follow *f);
