/* Which object, and which version of it, a request is about: others change things, too. */

#include "kube/meta.h"
#include "loop/log.h"
#include "tap.h"
#include "toy.h"
#include "world.h"

static void over(struct world *w)
{
    is_int(world_free(w), 0, "no rule was broken");
}

static jv toy(struct world *w)
{
    return fake_get(w->f, &toy_res, S("a"), S("mnist"));
}

static struct world *with_pods(uint64_t seed, int n)
{
    struct world *w = world_new(seed);

    put_toy(w, "a", "mnist", n);
    world_start(w);
    ok(wait_pods(w, (size_t)n) && settle(w), "%d pods", n);
    return w;
}

/* ---- deletions */

/* Just before a pod is deleted somebody puts another in its place. */
static bool swap_pod(struct fake *f, const struct kube_request *r, struct kube_answer *ans)
{
    (void)ans;
    if (r->verb != KUBE_DELETE || r->res != &kube_pods)
        return false;
    AUTO(arena) struct arena *a = arena_new();
    struct fake_object *o = fake_find(f, r->res, r->ns, r->name);
    jv next = jv_without(a, jv_copy(a, jdoc_root(o->doc)), "status");
    fake_commit(f, r->res, o, JV_ABSENT);
    fake_add(f, r->res, next);
    f->refuse = NULL;
    return false;
}

static bool is_swapped(struct world *w)
{
    return !w->f->refuse;
}

static void J1_another_of_that_name_is_not_deleted(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct world *w = with_pods(1, 1);
    str old = arena_str(a, meta_uid(fake_get(w->f, &kube_pods, S("a"), S("mnist-worker-0"))));

    w->f->refuse = swap_pod;
    set_phase(w, "a", "mnist-worker-0", "Failed");
    ok(run_until(w, is_swapped), "a pod that failed is to be deleted, and is another by then");
    str now = arena_str(a, meta_uid(fake_get(w->f, &kube_pods, S("a"), S("mnist-worker-0"))));
    ok(now.n && !str_eq(now, old), "the other one is there");
    ok(settle(w), "the answer comes");
    is_str(meta_uid(fake_get(w->f, &kube_pods, S("a"), S("mnist-worker-0"))), now, "and stays");
    over(w);
}

/* ---- two writes of the job in one plan */

static struct plan_step *patch_job(struct plan *p, jv job, unsigned stage, jv obj)
{
    struct plan_step *s = plan_add(p, PLAN_PATCH, stage, &toy_res);
    jv version = jstr(p->a, meta_resource_version(job));

    s->ns = meta_namespace(job);
    s->name = meta_name(job);
    s->obj = jv_with(p->a, obj, version, "metadata", "resourceVersion");
    return s;
}

static int twice_plan(const struct observed *seen, struct plan *p, struct err *e)
{
    jv job = seen->job;

    (void)e;
    if (jv_bool(jv_at(job, "status", "done"), false)) {
        p->finished = true;
        return 0;
    }
    patch_job(p, job, 0, jobj(p->a, { "spec", jobj(p->a, { "x", jint(p->a, 7) }) }));
    patch_job(p, job, 1, jobj(p->a, { "status", jobj(p->a, { "done", JV_TRUE }) }))->sub =
        S("status");
    return 0;
}

static bool is_done(struct world *w)
{
    return jv_bool(jv_at(toy(w), "status", "done"), false);
}

static void the_second_write_goes_on_from_the_first(void)
{
    struct planner twice = toy_planner;
    const struct planner *const planners[] = { &twice };
    struct world *w = world_new(2);

    twice.plan = twice_plan;
    w->opts.planners = planners;
    put_toy(w, "a", "mnist", 1);
    world_start(w);
    ok(run_until(w, is_done) && settle(w), "a plan writes its job twice");
    is_int(jv_int(jv_at(toy(w), "spec", "x"), 0), 7, "both writes are done");
    is_int(w->f->conflicts, 0, "and neither was in the other's way");
    is_int(w->f->count[KUBE_PATCH], 2, "two requests did it");
    over(w);
}

/* ---- a job that changed, and no watch tells */

static bool ready_is_two(struct world *w)
{
    return jv_int(jv_at(toy(w), "status", "ready"), 0) == 2;
}

static void Q9_a_job_that_no_watch_tells_of_is_read(void)
{
    struct world *w = with_pods(3, 2);

    w->f->mute = &toy_res;
    set_toy(w, "a", "mnist", "{'spec': {'x': 1}}");
    set_phase(w, "a", "mnist-worker-0", "Running");
    set_phase(w, "a", "mnist-worker-1", "Running");
    ok(run_until(w, ready_is_two), "status is written though the job is newer than was told");
    ok(w->f->conflicts > 0, "after a conflict");
    ok(w->f->count[KUBE_GET] > 0, "it was read");
    is_int(jv_int(jv_at(toy(w), "spec", "x"), 0), 1, "what the other wrote stays");
    over(w);
}

/* ---- watches */

static bool pod_is_back(struct world *w)
{
    return fake_count(w->f, &kube_pods) == 1;
}

static void bookmarks_save_a_list(void)
{
    static const struct kube_resource secrets = { "", "v1", "secrets", "Secret", false };
    struct world *w = with_pods(4, 1);
    struct err e = { 0 };

    fake_put(w->f, &secrets, "{'metadata': {'name': 's', 'namespace': 'b'}}"); /* told to nobody */
    unsigned lists = w->f->count[KUBE_LIST], watches = w->f->count[KUBE_WATCH];
    fake_forget(w->f);
    fake_bookmark(w->f);
    err_set(&e, ERR_UNAVAILABLE, "connection lost");
    fake_cut(w->f, &e);
    fake_delete(w->f, &kube_pods, S("a"), S("mnist-worker-0"));
    ok(run_until(w, pod_is_back) && settle(w), "what happens after an outage is seen");
    ok(w->f->count[KUBE_WATCH] > watches, "by watches that go on");
    is_int(w->f->count[KUBE_LIST], lists, "from their bookmarks: nothing is listed again");
    over(w);
}

static bool has_trouble(struct world *w)
{
    return ctl_trouble(w->c).n > 0;
}

static bool has_no_trouble(struct world *w)
{
    return !has_trouble(w);
}

static void a_watch_that_stands_again_is_no_trouble(void)
{
    struct world *w = with_pods(15, 1);
    struct err e = { 0 };

    err_set(&e, ERR_UNAVAILABLE, "storage is (re)initializing");
    fake_cut(w->f, &e);
    ok(run_until(w, has_trouble), "a watch that is refused is told");
    ok(run_until(w, has_no_trouble), "until it stands, though nothing happens");
    over(w);
}

int main(void)
{
    log_setup(LOG_ERROR, LOG_LOGFMT);
    J1_another_of_that_name_is_not_deleted();
    the_second_write_goes_on_from_the_first();
    Q9_a_job_that_no_watch_tells_of_is_read();
    bookmarks_save_a_list();
    a_watch_that_stands_again_is_no_trouble();
    return tap_done();
}
