/* A loop, the server in memory, and a controller on it. */
#pragma once

#include "ctl/ctl.h"
#include "fake.h"

struct world {
    struct loop *l;
    struct fake *f;
    struct ctl *c;
    bool timed_out;
    bool may_write;
    struct ctl_opts opts;
    bool (*until)(struct world *w);
};

extern int64_t clock_step_ms; /* added to the time of day */

struct world *world_new(uint64_t seed);
void world_start(struct world *w);    /* a controller, with what is in opts */
void world_stop(struct world *w);     /* as kill -9 would */
unsigned world_free(struct world *w); /* how many rules were broken */

/* False: it took longer than a minute. */
bool run_until(struct world *w, bool (*until)(struct world *w));
void run_for(struct world *w, int64_t ms);
bool is_quiet(struct world *w);            /* synced and nothing to do */
bool wait_pods(struct world *w, size_t n); /* that many pods, and services */
/* Lets what happened reach everybody, and waits until all is quiet. */
bool settle(struct world *w);

void set_phase(struct world *w, const char *ns, const char *name, const char *phase);
void put_toy(struct world *w, const char *ns, const char *name, int replicas);
void set_toy(struct world *w, const char *ns, const char *name, const char *patch);
void set_job(struct world *w, const struct kube_resource *res, const char *ns, const char *name,
             const char *patch);
int64_t sum_of(struct world *w, const char *family); /* of its samples */
int events_with(struct world *w, const char *reason);
