/* Joins what does not know of each other: the API, the binder and the job kinds. */

#include "app/up_binder.h"

#include "api/inproc.h"
#include "app/up_gangs.h"
#include "app/up_rights.h"
#include "base/mem.h"

#include <stdlib.h>

enum { STARVATION_S = 300 };

struct up_binder {
    struct kube_api *api;
    struct binder *binder;
    struct arena *a; /* holds the list of job kinds */
};

void up_binder_start(struct up_binder **out, struct loop *l, struct api *api,
                     const struct up_binder_opts *o)
{
    struct up_binder *u = mem_new(sizeof(*u));
    struct binder_opts b = {
        .volumes_dir = str_of(o->volumes),
        .no_volumes = !o->volumes,
        .no_placing = o->no_scheduler,
        .scheduler = str_of(o->scheduler ? o->scheduler : ""),
        .kube_groups = o->kube_groups,
        .preempts = o->preempts,
        .named = o->named,
        .strict_classes = o->strict_classes,
        .patience_ms = (o->starvation_s > 0 ? o->starvation_s : STARVATION_S) * 1000,
    };

    u->a = arena_new();
    if (o->whole_jobs)
        b.gangs = up_gangs_of_jobs(u->a);
    u->api = api_inproc_new(api, "scheduler", UP_SCHEDULER_USER, NULL);
    u->binder = binder_new(l, u->api, &b);
    binder_start(u->binder);
    *out = u;
}

void up_binder_free(struct up_binder *u)
{
    if (!u)
        return;
    binder_free(u->binder);
    api_inproc_free(u->api);
    arena_free(u->a);
    free(u);
}
