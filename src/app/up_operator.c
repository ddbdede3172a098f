/* Joins what does not know of each other: the API, the controller and the job kinds. */

#include "app/up_operator.h"

#include "api/inproc.h"
#include "app/samples.h"
#include "app/up_rights.h"
#include "base/mem.h"
#include "ctl/ctl.h"
#include "job/gang.h"
#include "loop/log.h"
#include "manifest/crd.h"
#include "sys/self.h"

#include <stdlib.h>

enum { STOP_MS = 1500, MANY_KINDS = 16 };

struct up_operator {
    const struct job_kind *kinds[MANY_KINDS];
    const struct planner *planners[MANY_KINDS];
    struct api_check checks[MANY_KINDS];
    jv definitions[MANY_KINDS];
    struct api_role role;
    size_t n;
    struct arena *a; /* holds the definitions, until they are stored */
    struct plan_settings settings;
    struct loop *loop;
    struct kube_api *api;
    struct ctl *ctl;
    struct loop_timer *deadline;
    void (*on_stopped)(void *ctx);
    void *ctx;
};

static void check(void *ctx, struct problems *ps, jv obj, jv old)
{
    const struct job_kind **kind = ctx;

    job_validate(*kind, ps, obj, old);
}

static str advise(void *ctx, struct arena *a, jv obj)
{
    const struct job_kind **kind = ctx;

    return job_advise(a, *kind, obj);
}

struct up_operator *up_operator_new(bool legacy_labels, const struct up_gang_opts *gang)
{
    struct up_operator *u = mem_new(sizeof(*u));

    u->a = arena_new();
    u->settings.legacy_labels = legacy_labels;
    up_gang_settings(&u->settings, gang);
    u->settings.cluster_domain = str_of(getenv("CUSTOM_CLUSTER_DOMAIN"));
    u->settings.agent_path = str_of(sys_self()->launcher);
    for (; u->n < MANY_KINDS && job_kind_at(u->n); u->n++) {
        const struct job_kind *k = job_kind_at(u->n);
        const struct kube_resource *res = k->planner.res;
        u->kinds[u->n] = k;
        u->planners[u->n] = &k->planner;
        u->checks[u->n] =
            (struct api_check){ res->group, res->plural, check, advise, &u->kinds[u->n] };
        u->definitions[u->n] = manifest_crd(u->a, k);
    }
    u->role =
        (struct api_role){ .name = UP_OPERATOR_USER,
                           .user = UP_OPERATOR_USER,
                           .rules = up_operator_rules(u->a, u->planners, u->n, u->settings.gang) };
    return u;
}

static void print_metrics(void *ctx, struct buf *b)
{
    struct up_operator *u = ctx;
    struct sample_page page = { .b = b };

    if (u->ctl)
        ctl_stats(u->ctl, sample_print, &page);
}

const struct api_role *up_operator_role(const struct up_operator *u)
{
    return &u->role;
}

void up_operator_describe(struct up_operator *u, struct api_opts *o)
{
    o->checks = u->checks;
    o->n_checks = u->n;
    o->definitions = u->definitions;
    o->n_definitions = u->n;
    o->print_metrics = print_metrics;
    o->metrics_ctx = u;
}

void up_operator_start(struct up_operator *u, struct loop *l, struct api *api)
{
    struct ctl_opts o = { .planners = u->planners,
                          .n = u->n,
                          .settings = &u->settings,
                          .needed = gang_needed(u->settings.gang) };

    arena_free(TAKE(u->a));
    u->loop = l;
    u->api = api_inproc_new(api, "operator", UP_OPERATOR_USER, NULL);
    u->ctl = ctl_new(l, u->api, &o);
    ctl_start(u->ctl);
}

static void end(void *arg)
{
    struct up_operator *u = arg;

    loop_timer_stop(TAKE(u->deadline));
    ctl_free(TAKE(u->ctl));
    api_inproc_free(TAKE(u->api));
    u->on_stopped(u->ctx);
}

static void on_late(void *arg)
{
    log_warn("the operator did not finish in time", KVI("waited_ms", STOP_MS));
    end(arg);
}

void up_operator_stop(struct up_operator *u, void (*done)(void *ctx), void *ctx)
{
    u->on_stopped = done;
    u->ctx = ctx;
    u->deadline = loop_timer_start(u->loop, STOP_MS, 0, on_late, u);
    ctl_stop(u->ctl, end, u);
}

void up_operator_free(struct up_operator *u)
{
    if (!u)
        return;
    arena_free(u->a);
    free(u);
}
