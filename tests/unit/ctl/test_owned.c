/* What jobs own besides pods: watched, given to the planner whole, made before the pods that stand
 * on it. A kind of job with an account that may be anybody's, a config of its own, and one pod. */

#include "kube/meta.h"
#include "tap.h"
#include "toy.h"
#include "world.h"

static const struct kube_resource accounts = { "", "v1", "serviceaccounts", "ServiceAccount",
                                               false };
static const struct kube_resource configs = { "", "v1", "configmaps", "ConfigMap", false };
static const struct planner_owned owned[] = { { &accounts, "create" },
                                              { &configs, "create patch" },
                                              { 0 } };

static jv other(const struct observed *seen, const struct kube_resource *res)
{
    for (size_t i = 0; i < seen->n_others; i++)
        if (seen->others[i].res == res)
            return seen->others[i].obj;
    return JV_ABSENT;
}

static struct plan_step *make(struct plan *p, jv job, unsigned stage,
                              const struct kube_resource *res)
{
    struct plan_step *s = plan_add(p, PLAN_CREATE, stage, res);
    struct arena *a = p->a;
    jv owner = jobj(a, { "apiVersion", jstrz(a, "toys.example/v1") }, { "kind", jstrz(a, "Toy") },
                    { "name", jstr(a, meta_name(job)) }, { "uid", jstr(a, meta_uid(job)) },
                    { "controller", JV_TRUE });
    jv labels = jobj(a, { LABEL_OPERATOR, jstrz(a, "toy-controller") },
                     { LABEL_JOB, jstr(a, meta_name(job)) }, { LABEL_ROLE, jstrz(a, "worker") },
                     { LABEL_INDEX, jstrz(a, "0") });

    s->ns = meta_namespace(job);
    s->name = S("thing");
    s->noun = "worker pod";
    s->taken_reason = "ErrResourceExists";
    s->obj =
        jobj(a, { "metadata", jobj(a, { "name", jstr(a, s->name) }, { "namespace", jstr(a, s->ns) },
                                   { "labels", labels }, { "ownerReferences", jarr(a, owner) }) });
    return s;
}

static int box_plan(const struct observed *seen, struct plan *p, struct err *e)
{
    jv job = seen->job, want = jv_at(job, "spec", "replicas"), config = other(seen, &configs);
    struct plan_step *s;

    (void)e;
    if (!jv_exists(other(seen, &accounts))) {
        s = make(p, job, 0, &accounts);
        s->basis = s->shared = true;
    }
    if (!jv_exists(config)) {
        s = make(p, job, 0, &configs);
        s->obj = jv_with_key(p->a, s->obj, S("data"), want);
        s->basis = true;
    } else if (!jv_equal(jv_at(config, "data"), want)) {
        s = plan_add(p, PLAN_PATCH, 0, &configs);
        s->ns = meta_namespace(job);
        s->name = S("thing");
        s->fail_reason = "FailedUpdate";
        s->obj = jobj(p->a, { "data", want });
    }
    if (!seen->n_pods) {
        s = make(p, job, 1, &kube_pods);
        s->done_reason = "Made";
        s->done_words = "pod made";
        s->fail_reason = "Failed";
        s->fail_words = "pod failed";
        s->fail_also = "FailedToo";
    }
    if (!jv_exists(jv_at(job, "status", "seen"))) {
        s = plan_add(p, PLAN_PATCH, 2, &toy_res);
        s->ns = meta_namespace(job);
        s->name = meta_name(job);
        s->sub = S("status");
        s->obj = jobj(p->a,
                      { "metadata",
                        jobj(p->a, { "resourceVersion", jstr(p->a, meta_resource_version(job)) }) },
                      { "status", jobj(p->a, { "seen", JV_TRUE }) });
    }
    return 0;
}

static const struct planner box = { .res = &toy_res,
                                    .controller = "toy-controller",
                                    .framework = "toy",
                                    .owned = owned,
                                    .plan = box_plan };
static const struct planner *const planners[] = { &box };

static struct world *start(uint64_t seed)
{
    struct world *w = world_new(seed);

    w->opts.planners = planners;
    put_toy(w, "a", "j", 1);
    return w;
}

static void over(struct world *w)
{
    is_int(world_free(w), 0, "no rule of the server was broken");
}

static bool has_pod(struct world *w)
{
    return fake_count(w->f, &kube_pods) == 1;
}

static bool is_seen(struct world *w)
{
    return jv_bool(jv_at(fake_get(w->f, &toy_res, S("a"), S("j")), "status", "seen"), false);
}

static bool told(struct world *w, const char *reason, const char *message)
{
    for (size_t i = 0; i < w->f->objects.n; i++) {
        jv obj = jdoc_root(w->f->objects.at[i].doc);
        if (w->f->objects.at[i].res == &kube_events &&
            str_eqz(jv_str(jv_at(obj, "reason"), S("")), reason) &&
            str_eqz(jv_str(jv_at(obj, "message"), S("")), message))
            return true;
    }
    return false;
}

static int64_t data_of(struct world *w)
{
    return jv_int(jv_at(fake_get(w->f, &configs, S("a"), S("thing")), "data"), -1);
}

static bool data_is_one(struct world *w)
{
    return data_of(w) == 1;
}

static bool data_is_two(struct world *w)
{
    return data_of(w) == 2;
}

static void all_is_made_and_kept(void)
{
    AUTO(jdoc) struct jdoc *seven = J("{'data': 7}");
    struct world *w = start(1);

    world_start(w);
    ok(run_until(w, has_pod) && settle(w), "all is made");
    is_int(fake_count(w->f, &accounts), 1, "the account");
    is_int(data_of(w), 1, "the config");
    ok(told(w, "Made", "pod made: thing"), "told in the words of the step");
    set_toy(w, "a", "j", "{'spec': {'replicas': 2}}");
    ok(run_until(w, data_is_two), "a change of the job is carried over");
    fake_set(w->f, &configs, S("a"), S("thing"), jdoc_root(seven));
    ok(run_until(w, data_is_two), "a change by another is undone");
    fake_delete(w->f, &configs, S("a"), S("thing"));
    ok(run_until(w, data_is_two), "what is deleted comes again");
    settle(w);
    is_int((int64_t)fake_count(w->f, &kube_pods), 1, "and nothing twice");
    over(w);
}

static void a_basis_of_another_holds_up_what_stands_on_it(void)
{
    struct world *w = start(2);

    fake_put(w->f, &configs, "{'metadata': {'name': 'thing', 'namespace': 'a'}, 'data': 9}");
    world_start(w);
    ok(run_until(w, is_seen), "the status is written");
    run_for(w, 500);
    is_int((int64_t)fake_count(w->f, &kube_pods), 0, "no pod is made");
    is_int(data_of(w), 9, "what is another's is left alone");
    ok(told(w, "ErrResourceExists",
            "Resource \"thing\" of ToyKind \"ConfigMap\" already exists and is not managed by Toy"),
       "told by its name");
    is_int(events_with(w, "ErrResourceExists"), 1, "once");
    fake_delete(w->f, &configs, S("a"), S("thing"));
    ok(run_until(w, has_pod) && run_until(w, data_is_one), "all goes on when it is gone");
    over(w);
}

static void an_account_may_be_anybodys(void)
{
    struct world *w = start(3);

    fake_put(w->f, &accounts, "{'metadata': {'name': 'thing', 'namespace': 'a'}}");
    world_start(w);
    ok(run_until(w, has_pod) && settle(w), "the pod is made");
    unsigned before = w->f->count[KUBE_CREATE] + w->f->count[KUBE_GET];
    set_toy(w, "a", "j", "{'spec': {'replicas': 2}}");
    ok(run_until(w, data_is_two), "the job goes on");
    run_for(w, 600);
    is_int(w->f->count[KUBE_CREATE] + w->f->count[KUBE_GET] - before, 0,
           "and does not ask again and again");
    is_int(events_with(w, "ErrResourceExists"), 0, "nobody complains");
    over(w);
}

static bool no_pods(struct fake *f, const struct kube_request *r, struct kube_answer *ans)
{
    (void)f;
    if (r->verb != KUBE_CREATE || r->res != &kube_pods)
        return false;
    *ans = (struct kube_answer){ .status = 403, .message = S("no") };
    err_set(&ans->err, ERR_FORBIDDEN, "no");
    return true;
}

static bool no_configs(struct fake *f, const struct kube_request *r, struct kube_answer *ans)
{
    (void)f;
    if (r->verb == KUBE_WATCH || r->verb == KUBE_LIST || r->res != &configs)
        return false;
    *ans = (struct kube_answer){ .status = 403, .message = S("no") };
    err_set(&ans->err, ERR_FORBIDDEN, "no");
    return true;
}

static void failures_are_told_in_the_words_of_the_step(void)
{
    struct world *w = start(4);

    w->f->refuse = no_pods;
    world_start(w);
    run_until(w, is_seen);
    run_for(w, 100);
    ok(told(w, "Failed", "pod failed: no"), "what went wrong");
    ok(told(w, "FailedToo", "pod made: thing"), "and the other one");
    w->f->refuse = no_configs;
    ok(run_until(w, has_pod) && settle(w), "it is tried again");
    set_toy(w, "a", "j", "{'spec': {'replicas': 2}}");
    run_for(w, 100);
    ok(told(w, "FailedUpdate", "Error updating: no"), "a patch that is refused is told");
    over(w);
}

static enum { NOT_SERVED, SERVED, FORBIDDEN } accounts_are;
static int lists; /* of accounts, as long as they are served */

static bool some_accounts(struct fake *f, const struct kube_request *r, struct kube_answer *ans)
{
    (void)f;
    if (r->verb != KUBE_LIST || r->res != &accounts)
        return false;
    lists += accounts_are == SERVED;
    if (accounts_are == SERVED)
        return false;
    *ans = (struct kube_answer){ .status = accounts_are == FORBIDDEN ? 403 : 404 };
    err_set(&ans->err, accounts_are == FORBIDDEN ? ERR_FORBIDDEN : ERR_NOT_FOUND, "no accounts");
    return true;
}

static bool are_listed(struct world *w)
{
    (void)w;
    return lists > 0;
}

static bool misses_accounts(struct world *w)
{
    return str_contains(ctl_trouble(w->c), S("serviceaccounts"));
}

static void what_is_not_served_is_not_missed_until_it_is(void)
{
    struct world *w = start(5);
    struct err lost = { 0 };

    err_set(&lost, ERR_UNAVAILABLE, "connection lost");
    w->f->refuse = some_accounts;
    world_start(w);
    ok(run_until(w, has_pod), "a server that knows no accounts");
    ok(ctl_is_synced(w->c) && !ctl_trouble(w->c).n, "is no trouble");
    accounts_are = SERVED;
    ok(run_until(w, are_listed) && settle(w), "when it does they are listed");
    accounts_are = FORBIDDEN;
    fake_forget(w->f);
    fake_cut(w->f, &lost);
    ok(run_until(w, misses_accounts), "and from then on missed");
    over(w);
}

int main(void)
{
    all_is_made_and_kept();
    a_basis_of_another_holds_up_what_stands_on_it();
    an_account_may_be_anybodys();
    failures_are_told_in_the_words_of_the_step();
    what_is_not_served_is_not_missed_until_it_is();
    return tap_done();
}
