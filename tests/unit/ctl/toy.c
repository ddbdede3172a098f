#include "toy.h"

#include "kube/meta.h"

#include <inttypes.h>

const struct kube_resource toy_res = { "toys.example", "v1", "toys", "Toy", false };

struct toy {
    struct plan *p;
    const struct observed *seen;
    str ns, name, uid;
    int64_t replicas;
};

static jv labels_of(struct arena *a, const struct toy *t, int64_t i)
{
    return jobj(a, { LABEL_OPERATOR, jstrz(a, "toy-controller") }, { LABEL_JOB, jstr(a, t->name) },
                { LABEL_ROLE, jstrz(a, "worker") },
                { LABEL_INDEX, jstr(a, arena_printf(a, "%" PRId64, i)) });
}

static jv owners_of(struct arena *a, const struct toy *t)
{
    return jarr(a, jobj(a, { "apiVersion", jstrz(a, "toys.example/v1") },
                        { "kind", jstrz(a, "Toy") }, { "name", jstr(a, t->name) },
                        { "uid", jstr(a, t->uid) }, { "controller", JV_TRUE }));
}

static void create(const struct toy *t, const struct kube_resource *res, int64_t i)
{
    struct arena *a = t->p->a;
    struct plan_step *s = plan_add(t->p, PLAN_CREATE, 1, res);
    bool pod = res == &kube_pods;

    s->ns = t->ns;
    s->name = arena_printf(a, "%" PRI_STR "-worker-%" PRId64, STR_ARG(t->name), i);
    s->noun = pod ? "pod" : "service";
    s->done_reason = pod ? "SuccessfulCreatePod" : "SuccessfulCreateService";
    s->fail_reason = pod ? "FailedCreatePod" : "FailedCreateService";
    s->obj =
        jobj(a, { "metadata",
                  jobj(a, { "name", jstr(a, s->name) }, { "namespace", jstr(a, t->ns) },
                       { "labels", labels_of(a, t, i) }, { "ownerReferences", owners_of(a, t) }) });
}

static void delete (const struct toy *t, const struct seen_pod *pod, bool restart)
{
    struct plan_step *s = plan_add(t->p, PLAN_DELETE, 1, &kube_pods);

    s->ns = t->ns;
    s->name = pod->name;
    s->uid = pod->uid;
    s->noun = "pod";
    s->done_reason = "SuccessfulDeletePod";
    s->fail_reason = "FailedDeletePod";
    if (restart)
        step_tell(t->p, s,
                  (struct plan_note){ .kind = NOTE_COUNT, .counter = COUNT_RESTARTED, .n = 1 });
    if (restart && pod->index == t->replicas - 1)
        step_tell(t->p, s, (struct plan_note){ .warning = true, .reason = S("ToyRestarting") });
}

static void adopt(const struct toy *t, const struct seen_service *v)
{
    struct arena *a = t->p->a;
    struct plan_step *c = plan_add(t->p, PLAN_CONFIRM, 0, &toy_res);

    c->ns = t->ns;
    c->name = t->name;
    c->must = true;
    struct plan_step *s = plan_add(t->p, PLAN_PATCH, 1, &kube_services);
    s->ns = t->ns;
    s->name = v->name;
    s->obj = jobj(a, { "metadata", jobj(a, { "uid", jstr(a, v->uid) },
                                        { "ownerReferences", owners_of(a, t) }) });
}

static struct plan_step *write_status(const struct toy *t, unsigned stage, jv status)
{
    struct arena *a = t->p->a;
    struct plan_step *s = plan_add(t->p, PLAN_PATCH, stage, &toy_res);

    s->ns = t->ns;
    s->name = t->name;
    s->sub = S("status");
    s->must = stage == 0;
    s->obj = jobj(a,
                  { "metadata",
                    jobj(a, { "resourceVersion", jstr(a, meta_resource_version(t->seen->job)) }) },
                  { "status", status });
    return s;
}

static const struct seen_pod *pod_at(const struct toy *t, int64_t i)
{
    for (size_t k = 0; k < t->seen->n_pods; k++)
        if (t->seen->pods[k].index == i)
            return &t->seen->pods[k];
    return NULL;
}

static bool has_service(const struct toy *t, int64_t i)
{
    for (size_t k = 0; k < t->seen->n_services; k++)
        if (t->seen->services[k].index == i)
            return true;
    return false;
}

static void plan_done(const struct toy *t)
{
    struct arena *a = t->p->a;
    struct plan_step *s = write_status(t, 0, jobj(a, { "done", JV_TRUE }, { "ready", JV_NULL_V }));
    struct plan_note note = {
        .reason = S("ToySucceeded"), .message = S("done"), .once = S("done"), .terminal = true
    };

    step_tell(t->p, s, note);
    step_tell(t->p, s,
              (struct plan_note){ .kind = NOTE_COUNT, .counter = COUNT_SUCCEEDED, .n = 1 });
}

static void plan_pods(const struct toy *t, int64_t *running, int64_t *succeeded)
{
    for (size_t k = 0; k < t->seen->n_pods; k++) {
        const struct seen_pod *pod = &t->seen->pods[k];
        *running += pod->phase == POD_RUNNING && !pod->leaving;
        *succeeded += pod->phase == POD_SUCCEEDED && pod->index < t->replicas;
        if (!pod->leaving && (pod->index >= t->replicas || pod->phase == POD_FAILED))
            delete (t, pod, pod->phase == POD_FAILED);
    }
}

static int toy_plan(const struct observed *seen, struct plan *p, struct err *e)
{
    jv job = seen->job;
    struct toy t = { p, seen, meta_namespace(job), meta_name(job), meta_uid(job), 0 };
    int64_t running = 0, succeeded = 0;

    (void)e;
    t.replicas = jv_int(jv_at(job, "spec", "replicas"), 0);
    p->wake_ms = jv_int(jv_at(job, "spec", "wakeAt"), 0);
    if (meta_being_deleted(job)) {
        p->ignored = true;
        return 0;
    }
    if (jv_bool(jv_at(job, "status", "done"), false)) {
        p->finished = true;
        *plan_tell(p) = (struct plan_note){
            .reason = S("ToySucceeded"), .message = S("done"), .once = S("done"), .terminal = true
        };
        if (p->wake_ms && p->wake_ms <= seen->now_ms) {
            struct plan_step *s = plan_add(p, PLAN_DELETE, 0, &toy_res);
            s->ns = t.ns;
            s->name = t.name;
            s->uid = t.uid;
        }
        return 0;
    }
    plan_pods(&t, &running, &succeeded);
    if (t.replicas && succeeded == t.replicas) {
        p->n_steps = 0;
        plan_done(&t);
        return 0;
    }
    for (int64_t i = 0; i < t.replicas; i++) {
        if (!pod_at(&t, i))
            create(&t, &kube_pods, i);
        if (!has_service(&t, i))
            create(&t, &kube_services, i);
    }
    for (size_t k = 0; k < seen->n_services; k++)
        if (!seen->services[k].owner.n && !seen->services[k].leaving)
            adopt(&t, &seen->services[k]);
    if (running != jv_int(jv_at(job, "status", "ready"), 0))
        write_status(&t, 2, jobj(p->a, { "ready", running ? jint(p->a, running) : JV_NULL_V }));
    else if (jv_bool(jv_at(job, "spec", "greets"), false) &&
             !jv_bool(jv_at(job, "status", "greeted"), false))
        write_status(&t, 2, jobj(p->a, { "greeted", JV_TRUE }))->can_wait = true;
    return 0;
}

static jv toy_slim(struct arena *a, jv job)
{
    return jv_without(a, job, "spec", "x");
}

const struct planner toy_planner = {
    .res = &toy_res,
    .controller = "toy-controller",
    .framework = "toy",
    .plan = toy_plan,
    .slim = toy_slim,
};
