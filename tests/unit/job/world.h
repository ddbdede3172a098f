/* A small world for planners: a job, its pods and services as whole objects, the time. Observes as
 * ctl/ does, and carries plans out at once. */
#pragma once

#include "base/map.h"
#include "job/kinds.h"

struct world {
    struct arena *a;
    const struct job_kind *kind;
    jv job;
    jv pods, services, others; /* lists */
    struct plan_settings settings;
    int64_t now_ms;
    int64_t written_ms;
    int64_t short_since_ms;
    bool lacks_needed;
    struct seen_class *classes;
    size_t n_classes;
    struct map told; /* once-keys */
};

/* From the first two documents of a golden file; what they leave out is filled in. */
int world_read(struct world *w, jv job, jv observed, struct err *e);
void world_done(struct world *w);
struct observed world_observe(const struct world *w, struct arena *a);
struct plan *world_plan(const struct world *w, struct arena *a, struct err *e);
/* 0, or -1 if the plan could not be carried out: deleting what is not there, a wrong version. */
int world_apply(struct world *w, const struct plan *p, struct err *e);
/* Whether a plan does nothing: no steps, and no event that was not told before. */
bool world_is_quiet(const struct world *w, const struct plan *p);
