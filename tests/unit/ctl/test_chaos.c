/* Whatever goes wrong between the server and us, in whatever order: nothing is ever doubled, and
 * when it is over everything is as it should be. CHAOS_SEEDS: how many; CHAOS_SEED: the first. */

#include "ctl/internal.h"
#include "job/kinds.h"
#include "kube/meta.h"
#include "loop/log.h"
#include "tap.h"
#include "toy.h"
#include "world.h"

enum { JOBS = 8, ACTIVE_MS = 1200 };

/* A kind of job, as this test makes and reads it. */
struct subject {
    const struct planner *planner;
    const char *make;  /* name, namespace, replicas */
    const char *scale; /* replicas */
    int64_t (*replicas)(jv job);
    int64_t (*running)(jv job); /* as its status says */
    bool (*is_over)(jv job);
};

static int64_t toy_replicas(jv job)
{
    return jv_int(jv_at(job, "spec", "replicas"), 0);
}

static int64_t toy_running(jv job)
{
    return jv_int(jv_at(job, "status", "ready"), 0);
}

static bool toy_is_over(jv job)
{
    return jv_bool(jv_at(job, "status", "done"), false);
}

static int64_t tf_replicas(jv job)
{
    return jv_int(jv_at(job, "spec", "tfReplicaSpecs", "Worker", "replicas"), 0);
}

static int64_t tf_running(jv job)
{
    return jv_int(jv_at(job, "status", "replicaStatuses", "Worker", "active"), 0);
}

static bool tf_is_over(jv job)
{
    return meta_condition_is(job, S("Succeeded"), S("True")) ||
           meta_condition_is(job, S("Failed"), S("True"));
}

static struct subject subjects[] = {
    { &toy_planner, "{'metadata': {'name': '%s', 'namespace': '%s'}, 'spec': {'replicas': %u}}",
      "{'spec': {'replicas': %u}}", toy_replicas, toy_running, toy_is_over },
    { NULL, /* TFJob */
      "{'apiVersion': 'kubeflow.org/v1', 'metadata': {'name': '%s', 'namespace': '%s'}, 'spec': "
      "{'tfReplicaSpecs': {'Worker': {'replicas': %u, 'restartPolicy': 'OnFailure', 'template': "
      "{'spec': {'containers': [{'name': 'tensorflow', 'image': 'x'}]}}}}}}",
      "{'spec': {'tfReplicaSpecs': {'Worker': {'replicas': %u}}}}", tf_replicas, tf_running,
      tf_is_over },
};

static const struct subject *sub;
static struct world *the;
static unsigned kills;

static const char *any_ns(struct fake *f)
{
    return fake_chance(f, 2) ? "a" : "b";
}

static struct fake_object *any(struct fake *f, const struct kube_resource *res)
{
    for (unsigned tries = 0; tries < 10 && f->objects.n; tries++) {
        struct fake_object *o = &f->objects.at[fake_chance(f, (unsigned)f->objects.n)];
        if (o->res == res)
            return o;
    }
    return NULL;
}

static void move_pod(struct fake *f)
{
    static const char *const phases[] = { "Running", "Running", "Succeeded", "Failed" };
    struct fake_object *o = any(f, &kube_pods);
    char ns[64], name[64];

    if (!o)
        return;
    snprintf(ns, sizeof(ns), "%" PRI_STR, STR_ARG(o->ns));
    snprintf(name, sizeof(name), "%" PRI_STR, STR_ARG(o->name));
    str phase = jv_str(jv_at(jdoc_root(o->doc), "status", "phase"), S(""));
    if (!str_eqz(phase, "Succeeded") && !str_eqz(phase, "Failed"))
        set_phase(the, ns, name, phases[fake_chance(f, COUNT(phases))]);
}

/* Things of somebody else where ours should go. */
static void get_in_the_way(struct fake *f)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *ns = any_ns(f);
    unsigned job = fake_chance(f, JOBS), i = fake_chance(f, 6);
    str name = arena_printf(a, "toy-%u-worker-%u", job, i);
    const struct kube_resource *res = fake_chance(f, 2) ? &kube_pods : &kube_services;
    str labels = S("");

    if (jv_exists(fake_get(f, res, str_of(ns), name)))
        return;
    if (res == &kube_services && fake_chance(f, 2)) /* to be adopted */
        labels = arena_printf(a,
                              "'labels': {'" LABEL_OPERATOR "': '%s', '" LABEL_JOB
                              "': 'toy-%u', '" LABEL_ROLE "': 'worker', '" LABEL_INDEX "': '%u'},",
                              sub->planner->controller, job, i);
    fake_put(f, res,
             arena_printf(a,
                          "{'metadata': {%" PRI_STR " 'name': '%" PRI_STR "', 'namespace': '%s'}}",
                          STR_ARG(labels), STR_ARG(name), ns)
                 .p);
}

/* The template with %s and %u filled in, in this order. */
static const char *fill(struct arena *a, const char *template, const char *name, const char *ns,
                        unsigned replicas)
{
    AUTO(buf) struct buf b = { 0 };
    const char *texts[] = { name, ns };
    size_t n = 0;

    for (const char *p = template; *p; p++) {
        if (p[0] == '%' && p[1] == 's')
            buf_add(&b, str_of(texts[n++])), p++;
        else if (p[0] == '%' && p[1] == 'u')
            buf_printf(&b, "%u", replicas), p++;
        else
            buf_addc(&b, *p);
    }
    return arena_z(a, buf_str(&b));
}

static void change_job(struct fake *f)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *ns = any_ns(f);
    str name = arena_printf(a, "toy-%u", fake_chance(f, JOBS));
    const struct kube_resource *res = sub->planner->res;

    if (!jv_exists(fake_get(f, res, str_of(ns), name)))
        fake_put(f, res, fill(a, sub->make, name.p, ns, 1 + fake_chance(f, 5)));
    else if (fake_chance(f, 3) == 0)
        fake_delete(f, res, str_of(ns), name);
    else
        set_job(the, res, ns, name.p, fill(a, sub->scale, NULL, NULL, 1 + fake_chance(f, 5)));
}

static void delete_pod(struct fake *f)
{
    struct fake_object *o = any(f, &kube_pods);

    if (o)
        fake_ask_deletion(f, o);
}

static void stir(struct fake *f)
{
    unsigned what = fake_chance(f, 100);

    if (what < 30)
        move_pod(f);
    else if (what < 36)
        change_job(f);
    else if (what < 38)
        get_in_the_way(f);
    else if (what < 41)
        delete_pod(f);
}

/* ---- how it should be in the end */

static bool controlled_by(jv obj, jv job)
{
    return str_eq(jv_str(jv_at(meta_controller(obj), "uid"), S("")), meta_uid(job));
}

static bool job_is_right(struct fake *f, jv job)
{
    AUTO(arena) struct arena *a = arena_new();
    int64_t replicas = sub->replicas(job), running = 0, pods = 0;

    if (sub->is_over(job))
        return true;
    for (size_t i = 0; i < f->objects.n; i++) {
        jv obj = jdoc_root(f->objects.at[i].doc);
        if (f->objects.at[i].res != &kube_pods || !controlled_by(obj, job))
            continue;
        pods++;
        running += str_eqz(jv_str(jv_at(obj, "status", "phase"), S("")), "Running");
    }
    for (int64_t i = 0; i < replicas; i++) {
        str name = arena_printf(a, "%" PRI_STR "-worker-%" PRId64, STR_ARG(meta_name(job)), i);
        if (!controlled_by(fake_get(f, &kube_pods, meta_namespace(job), name), job) ||
            !controlled_by(fake_get(f, &kube_services, meta_namespace(job), name), job))
            return false;
    }
    return pods == replicas && running == sub->running(job);
}

static bool all_is_right(struct world *w)
{
    if (!ctl_is_idle(w->c))
        return false;
    for (size_t i = 0; i < w->f->objects.n; i++)
        if (w->f->objects.at[i].res == sub->planner->res &&
            !job_is_right(w->f, jdoc_root(w->f->objects.at[i].doc)))
            return false;
    return true;
}

static void clear_the_way(struct fake *f)
{
    for (size_t i = 0; i < f->objects.n; i++) {
        struct fake_object *o = &f->objects.at[i];
        jv obj = jdoc_root(o->doc);
        if ((o->res == &kube_pods || o->res == &kube_services) &&
            !jv_exists(meta_controller(obj))) {
            fake_commit(f, o->res, o, JV_ABSENT);
            i--;
        }
    }
}

static void show_record(const struct ctl_job *j)
{
    if (!j) {
        printf("# there is no record\n");
        return;
    }
    printf("#   text %d run %d state %d reading %d ready %d in heap %d "
           "retry in %d failures %u echoes %u pods %zu services %zu holds %zu rev %d\n",
           j->text != NULL, j->run != NULL, (int)j->state, j->read != NULL, j->q.ready,
           (int)j->q.place, (int)(j->q.retry_ms ? j->q.retry_ms - queue_us() / 1000 : 0),
           j->q.failures, j->echoes, j->pods.n, j->services.n, j->facts ? j->facts->holds.n : 0,
           (int)j->rev);
    if (j->run)
        printf("#   run at %zu end %zu of %zu in flight %u window %u ready %d cut %d\n", j->run->at,
               j->run->end, j->run->plan->n_steps, j->run->in_flight, j->run->window,
               j->run->is_ready, j->run->cut);
}

static void show_wrong(struct world *w)
{
    AUTO(arena) struct arena *a = arena_new();

    for (size_t i = 0; i < w->f->objects.n; i++) {
        jv job = jdoc_root(w->f->objects.at[i].doc);
        if (w->f->objects.at[i].res != sub->planner->res || job_is_right(w->f, job))
            continue;
        printf("# in flight %u ready %d queued %zu\n", w->c->sender.in_flight,
               w->c->sender.first != NULL, w->c->queue.n_ready);
        printf("# %" PRI_STR "\n", STR_ARG(json_text(a, job)));
        show_record(map_get(&w->c->jobs, meta_uid(job)));
        for (size_t k = 0; k < w->f->objects.n; k++)
            if (str_starts(w->f->objects.at[k].name, meta_name(job)) &&
                w->f->objects.at[k].res != &kube_events &&
                str_eq(w->f->objects.at[k].ns, meta_namespace(job)))
                printf("#   %s %" PRI_STR "\n", w->f->objects.at[k].res->plural,
                       STR_ARG(json_text(a, jdoc_root(w->f->objects.at[k].doc))));
    }
}

static void chaos_ends_well(uint64_t seed)
{
    struct world *w = world_new(seed);
    struct fake *f = w->f;

    w->opts.planners = &sub->planner;
    the = w;
    kills = 0;
    f->faults = (struct fake_faults){ .fail = fake_chance(f, 100),
                                      .lose = fake_chance(f, 60),
                                      .wait = fake_chance(f, 500),
                                      .late = fake_chance(f, 300),
                                      .lag = fake_chance(f, 500),
                                      .cut = fake_chance(f, 20),
                                      .forget = fake_chance(f, 10),
                                      .clash = fake_chance(f, 200) };
    f->grace_ticks = fake_chance(f, 30);
    f->on_tick = stir;
    world_start(w);
    for (int i = 0; i < 6; i++) {
        run_for(w, ACTIVE_MS / 6);
        if (fake_chance(f, 3) == 0) {
            world_stop(w);
            kills++;
            run_for(w, 5);
            world_start(w);
        }
    }
    f->on_tick = NULL;
    f->faults = (struct fake_faults){ 0 };
    clear_the_way(f);
    if (!ok(run_until(w, all_is_right), "seed %" PRIu64 ": all %s are right in the end", seed,
            sub->planner->res->plural))
        show_wrong(w);
    printf("# creates %u patches %u deletes %u gets %u lists %u watches %u conflicts %u kills %u\n",
           f->count[KUBE_CREATE], f->count[KUBE_PATCH], f->count[KUBE_DELETE], f->count[KUBE_GET],
           f->count[KUBE_LIST], f->count[KUBE_WATCH], f->conflicts, kills);
    unsigned in_flight = f->lists_max;
    is_int(world_free(w), 0, "and no rule was broken");
    is_int(in_flight, 1, "nor two lists at once");
}

int main(void)
{
    const char *n = getenv("CHAOS_SEEDS"), *first = getenv("CHAOS_SEED");
    uint64_t from = first ? strtoull(first, NULL, 10) : 1;

    log_setup(LOG_ERROR, LOG_LOGFMT);
    subjects[1].planner = job_planner(0);
    for (uint64_t i = 0; i < (n ? strtoull(n, NULL, 10) : 6); i++) {
        sub = &subjects[(from + i) % COUNT(subjects)];
        chaos_ends_well(from + i);
    }
    return tap_done();
}
