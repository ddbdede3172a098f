#include "world.h"

#include "base/mem.h"
#include "toy.h"

#include <uv.h>

int64_t clock_step_ms;

static int64_t stepped_wall_ms(void)
{
    return wall_now_ms() + clock_step_ms;
}

static bool may_write(void *ctx)
{
    return ((struct world *)ctx)->may_write;
}

struct world *world_new(uint64_t seed)
{
    static const struct planner *const planners[] = { &toy_planner };
    static const struct plan_settings settings;
    struct world *w = mem_new(sizeof(*w));

    w->l = loop_new();
    w->f = fake_new(w->l, seed);
    w->may_write = true;
    w->opts = (struct ctl_opts){
        .planners = planners,
        .n = 1,
        .settings = &settings,
        .limits = { .page = 3, .backoff_max_ms = 200, .relist_max_ms = 50 },
        .may_write = may_write,
        .ctx = w,
        .wall_ms = stepped_wall_ms,
    };
    return w;
}

void world_start(struct world *w)
{
    w->c = ctl_new(w->l, &w->f->api, &w->opts);
    ctl_start(w->c);
}

void world_stop(struct world *w)
{
    ctl_free(w->c);
    w->c = NULL;
}

unsigned world_free(struct world *w)
{
    unsigned broken = w->f->broken;

    world_stop(w);
    fake_free(w->f);
    loop_stop(w->l);
    loop_run(w->l);
    loop_free(w->l);
    free(w);
    return broken;
}

/* ---- running. loop_run ends for good, so libuv is turned by hand. */

static void on_limit(void *arg)
{
    ((struct world *)arg)->timed_out = true;
}

bool run_until(struct world *w, bool (*until)(struct world *w))
{
    struct loop_timer *limit = loop_timer_start(w->l, 60000, 0, on_limit, w);

    w->timed_out = false;
    while (!until(w) && !w->timed_out) /* the server's ticks keep it turning */
        uv_run(loop_uv(w->l), UV_RUN_ONCE);
    loop_timer_stop(limit);
    return !w->timed_out;
}

static int64_t run_end_ms;
static uint64_t run_end_ticks;

/* By the server's time, too: after a moment in which nobody ran nothing has happened yet. */
static bool time_is_over(struct world *w)
{
    return loop_now_ms(w->l) >= run_end_ms && w->f->ticks >= run_end_ticks;
}

void run_for(struct world *w, int64_t ms)
{
    uv_update_time(loop_uv(w->l));
    run_end_ms = loop_now_ms(w->l) + ms;
    run_end_ticks = w->f->ticks + (uint64_t)(ms + 1) / 2;
    run_until(w, time_is_over);
}

bool is_quiet(struct world *w)
{
    return ctl_is_synced(w->c) && ctl_is_idle(w->c);
}

bool settle(struct world *w)
{
    run_for(w, 15);
    return run_until(w, is_quiet);
}

static size_t want_pods;

static bool has_pods(struct world *w)
{
    return fake_count(w->f, &kube_pods) == want_pods &&
           fake_count(w->f, &kube_services) >= want_pods;
}

bool wait_pods(struct world *w, size_t n)
{
    want_pods = n;
    return run_until(w, has_pods);
}

/* ---- people */

void set_phase(struct world *w, const char *ns, const char *name, const char *phase)
{
    AUTO(arena) struct arena *a = arena_new();

    fake_set(w->f, &kube_pods, str_of(ns), str_of(name),
             jobj(a, { "status", jobj(a, { "phase", jstr(a, str_of(phase)) }) }));
}

void put_toy(struct world *w, const char *ns, const char *name, int replicas)
{
    AUTO(arena) struct arena *a = arena_new();
    str text =
        arena_printf(a, "{'metadata': {'name': '%s', 'namespace': '%s'}, 'spec': {'replicas': %d}}",
                     name, ns, replicas);

    fake_put(w->f, &toy_res, text.p);
}

void set_job(struct world *w, const struct kube_resource *res, const char *ns, const char *name,
             const char *patch)
{
    AUTO(arena) struct arena *a = arena_new();
    char *text = arena_alloc(a, strlen(patch) + 1);

    for (size_t i = 0; i <= strlen(patch); i++)
        text[i] = (char)(patch[i] == '\'' ? '"' : patch[i]);
    fake_set(w->f, res, str_of(ns), str_of(name), json_parse(a, str_of(text), NULL, NULL));
}

void set_toy(struct world *w, const char *ns, const char *name, const char *patch)
{
    set_job(w, &toy_res, ns, name, patch);
}

/* ---- looking */

struct sum {
    const char *family;
    double value;
};

static void on_sample(void *ctx, const struct ctl_sample *s)
{
    struct sum *sum = ctx;

    if (strcmp(s->family, sum->family) == 0 && strcmp(s->suffix, "_bucket") != 0 &&
        strcmp(s->suffix, "_sum") != 0)
        sum->value += s->value;
}

int64_t sum_of(struct world *w, const char *family)
{
    struct sum sum = { family, 0 };

    ctl_stats(w->c, on_sample, &sum);
    return (int64_t)sum.value;
}

int events_with(struct world *w, const char *reason)
{
    int n = 0;

    for (size_t i = 0; i < w->f->objects.n; i++)
        n += w->f->objects.at[i].res == &kube_events &&
             str_eqz(jv_str(jv_at(jdoc_root(w->f->objects.at[i].doc), "reason"), S("")), reason);
    return n;
}
