/* What can wait for what others have to make. */

#include "ctl/internal.h"
#include "loop/log.h"
#include "tap.h"
#include "toy.h"
#include "world.h"

static void over(struct world *w)
{
    is_int(world_free(w), 0, "no rule was broken");
}

static jv toy(struct world *w, const char *ns, const char *name)
{
    return fake_get(w->f, &toy_res, str_of(ns), str_of(name));
}

static size_t pods_at_first;

static bool note_first(struct fake *f, const struct kube_request *r, struct kube_answer *ans)
{
    (void)ans;
    if (r->verb == KUBE_PATCH && !pods_at_first)
        pods_at_first = fake_count(f, &kube_pods);
    return false;
}

static void greetings_wait_until_all_is_made(void)
{
    struct world *w = world_new(1);
    char name[64];
    int greeted = 0;

    w->opts.limits.in_flight = 4;
    w->f->refuse = note_first;
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "job-%d", i);
        put_toy(w, "a", name, 4);
        set_toy(w, "a", name, "{'spec': {'greets': true}}");
    }
    world_start(w);
    ok(wait_pods(w, 80), "all is made");
    ok(run_until(w, is_quiet), "and then silence");
    ok(pods_at_first > 76, "before the first greeting is written, but for what is under way: %zu",
       pods_at_first);
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "job-%d", i);
        greeted += jv_bool(jv_at(toy(w, "a", name), "status", "greeted"), false);
    }
    is_int(greeted, 20, "which comes to all of them");
    is_int(w->f->count[KUBE_PATCH], 20, "once");
    over(w);
}

static struct loop *crowd_loop;
static int64_t last_create_ms, first_patch_ms;

static bool note_times(struct fake *f, const struct kube_request *r, struct kube_answer *ans)
{
    (void)f;
    (void)ans;
    if (r->verb == KUBE_CREATE && r->res != &kube_events)
        last_create_ms = loop_now_ms(crowd_loop);
    if (r->verb == KUBE_PATCH && !first_patch_ms)
        first_patch_ms = loop_now_ms(crowd_loop);
    return false;
}

static void a_crowd_settles_before_it_is_greeted(void)
{
    struct world *w = world_new(1);

    crowd_loop = w->l;
    w->f->refuse = note_times;
    put_toy(w, "a", "big", 200);
    set_toy(w, "a", "big", "{'spec': {'greets': true}}");
    world_start(w);
    ok(wait_pods(w, 200), "all is made");
    ok(run_until(w, is_quiet), "and then silence");
    ok(w->f->in_flight_max >= 32, "by a crowd");
    ok(first_patch_ms - last_create_ms >= 250, "which has a while to settle: %" PRId64 " ms",
       first_patch_ms - last_create_ms);
    is_int(w->f->count[KUBE_PATCH], 1, "and is greeted once");
    over(w);
}

int main(void)
{
    log_setup(LOG_ERROR, LOG_LOGFMT);
    greetings_wait_until_all_is_made();
    a_crowd_settles_before_it_is_greeted();
    return tap_done();
}
