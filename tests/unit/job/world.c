/* The world of the golden files. */

#include "world.h"
#include "base/time.h"
#include "job/gang.h"
#include "kube/patch_merge.h"

#include <stdlib.h>

static str text(jv v, const char *member)
{
    return jv_str(jv_get(v, str_of(member)), S(""));
}

static jv with_default(struct arena *a, jv obj, const char *member, str value)
{
    if (jv_exists(jv_at(obj, "metadata", member)))
        return obj;
    return jv_with(a, obj, jstr(a, value), "metadata", member);
}

/* "launcher" of a kind that has one Launcher and no number for it. */
static bool is_single(const struct job_kind *k, str rest)
{
    for (const struct role_row *r = k->roles; r->name; r++)
        if (r->single && str_eq_nocase(rest, str_of(r->name)))
            return true;
    return false;
}

/* Labels and owner of "<job>-<rt>-<i>", unless they are given. */
static jv complete(const struct world *w, jv obj)
{
    struct arena *a = w->a;
    str name = meta_name(obj), job = meta_name(w->job);
    str rest = str_starts(name, job) ? str_sub(name, job.n + 1, name.n) : STR_NONE;
    ptrdiff_t dash = str_rfind(rest, '-');
    jv phase = jv_get(obj, S("phase")), attempt = jv_get(obj, S("attempt"));

    bool single = is_single(w->kind, rest);
    str role = single ? rest : dash > 0 ? str_sub(rest, 0, (size_t)dash) : STR_NONE;

    if (role.n && !jv_exists(meta_labels(obj)))
        obj =
            jv_with(a, obj,
                    jobj(a, { LABEL_OPERATOR, jstr(a, str_of(w->kind->planner.controller)) },
                         { LABEL_JOB, jstr(a, job) }, { LABEL_ROLE, jstr(a, role) },
                         { LABEL_INDEX,
                           single ? JV_ABSENT : jstr(a, str_sub(rest, (size_t)dash + 1, rest.n)) }),
                    "metadata", "labels");
    if (jv_exists(attempt))
        obj =
            jv_with(a, jv_without(a, obj, "attempt"), attempt, "metadata", "labels", LABEL_ATTEMPT);
    if (!jv_exists(jv_at(obj, "metadata", "ownerReferences")))
        obj = jv_with(
            a, obj,
            jarr(a, jobj(a, { "uid", jstr(a, meta_uid(w->job)) }, { "controller", JV_TRUE })),
            "metadata", "ownerReferences");
    if (jv_exists(phase))
        obj = jv_with(a, jv_without(a, obj, "phase"), phase, "status", "phase");
    return with_default(a, obj, "uid", arena_cat(a, S("uid-"), name));
}

static jv complete_all(const struct world *w, jv list)
{
    struct jbuild b = jb_arr(w->a);

    JV_EACH (it, list)
        jb_push(&b, complete(w, it.value));
    return jb_done(&b);
}

static int read_time(jv v, int64_t *ms, struct err *e)
{
    int64_t us = 0;

    if (time_parse(jv_str(v, S("")), &us, e) < 0)
        return -1;
    *ms = us / 1000;
    return 0;
}

/* What only gang scheduling looks at. */
static int read_needed(struct world *w, jv observed, struct err *e)
{
    jv since = jv_get(observed, S("shortSince")), classes = jv_get(observed, S("classes"));

    w->lacks_needed = jv_bool(jv_get(observed, S("lacksNeeded")), false);
    w->classes = ARENA_ARRAY(w->a, struct seen_class, jv_len(classes) + 1);
    JV_EACH (it, classes)
        w->classes[w->n_classes++] = (struct seen_class){ it.key, jv_int(it.value, 0) };
    if (jv_exists(since) && read_time(since, &w->short_since_ms, e) < 0)
        return err_wrap(e, "shortSince");
    return 0;
}

int world_read(struct world *w, jv job, jv observed, struct err *e)
{
    jv settings = jv_get(observed, S("settings"));

    w->kind = job_kind_of(job);
    if (!w->kind)
        return err_set(e, ERR_INVALID, "the first document is no job");
    if (read_time(jv_get(observed, S("now")), &w->now_ms, e) < 0)
        return err_wrap(e, "now");
    jv written = jv_get(observed, S("statusWritten"));
    if (jv_exists(written) && read_time(written, &w->written_ms, e) < 0)
        return err_wrap(e, "statusWritten");
    job = with_default(w->a, job, "uid", S("job-uid"));
    job = with_default(w->a, job, "namespace", S("default"));
    job = with_default(w->a, job, "resourceVersion", S("1"));
    job = with_default(w->a, job, "creationTimestamp", time_text(w->a, w->now_ms));
    if (!jv_exists(jv_at(job, "metadata", "generation")))
        job = jv_with(w->a, job, jint(w->a, 1), "metadata", "generation");
    w->job = job;
    w->pods = complete_all(w, jv_get(observed, S("pods")));
    w->services = complete_all(w, jv_get(observed, S("services")));
    w->others = complete_all(w, jv_get(observed, S("others")));
    w->settings = (struct plan_settings){
        .cluster_domain = text(settings, "clusterDomain"),
        .legacy_labels = jv_bool(jv_get(settings, S("legacyLabels")), false),
        .pytorch_init_image = text(settings, "pytorchInitImage"),
        .pytorch_init_template = text(settings, "pytorchInitTemplate"),
        .pytorch_init_tries = jv_int(jv_get(settings, S("pytorchInitTries")), 0),
        .mpi_kubectl_image = text(settings, "mpiKubectlImage"),
        .agent_path = text(settings, "agentPath"),
        .agent_image = text(settings, "agentImage"),
    };
    gang_settings(&w->settings, text(settings, "gangScheduler"));
    w->settings.gang_max_restarts = jv_int(jv_get(settings, S("gangMaxRestarts")), -1);
    return read_needed(w, observed, e);
}

void world_done(struct world *w)
{
    map_done(&w->told);
}

static int by_place(str role_x, str role_y, int64_t index_x, int64_t index_y)
{
    int c = str_cmp(role_x, role_y);

    return c ? c : (index_x > index_y) - (index_x < index_y);
}

static int pod_order(const void *x, const void *y)
{
    const struct seen_pod *p = x, *q = y;
    int c = by_place(p->role, q->role, p->index, q->index);

    return c ? c : str_cmp(p->name, q->name);
}

static int service_order(const void *x, const void *y)
{
    const struct seen_service *p = x, *q = y;
    int c = by_place(p->role, q->role, p->index, q->index);

    return c ? c : str_cmp(p->name, q->name);
}

static const struct kube_resource *resource_of(const struct world *w, jv obj)
{
    const struct planner_owned *owned = w->kind->planner.owned;

    for (; owned && owned->res; owned++)
        if (str_eqz(text(obj, "kind"), owned->res->kind))
            return owned->res;
    for (const struct planner_needed *n = gang_needed(w->settings.gang); n && n->res; n++)
        if (str_eqz(text(obj, "kind"), n->res->kind))
            return n->res;
    return NULL;
}

struct observed world_observe(const struct world *w, struct arena *a)
{
    size_t n_pods = jv_len(w->pods), n_services = jv_len(w->services), n_others = 0;
    struct seen_object *others = ARENA_ARRAY(a, struct seen_object, jv_len(w->others) + 1);
    struct seen_pod *pods = ARENA_ARRAY(a, struct seen_pod, n_pods + 1);
    struct seen_service *services = ARENA_ARRAY(a, struct seen_service, n_services + 1);

    for (size_t i = 0; i < n_pods; i++)
        pods[i] = seen_pod_read(a, jv_index(w->pods, i), w->kind->planner.main_container);
    for (size_t i = 0; i < n_services; i++)
        services[i] = seen_service_read(a, jv_index(w->services, i));
    JV_EACH (it, w->others)
        others[n_others++] = (struct seen_object){ resource_of(w, it.value), it.value };
    qsort(pods, n_pods, sizeof(*pods), pod_order);
    qsort(services, n_services, sizeof(*services), service_order);
    return (struct observed){
        .settings = &w->settings,
        .now_ms = w->now_ms,
        .job = w->job,
        .pods = pods,
        .n_pods = n_pods,
        .services = services,
        .n_services = n_services,
        .others = others,
        .n_others = n_others,
        .classes = w->classes,
        .n_classes = w->n_classes,
        .lacks_needed = w->lacks_needed,
        .short_since_ms = w->short_since_ms,
        .status_written_ms = w->written_ms,
    };
}

struct plan *world_plan(const struct world *w, struct arena *a, struct err *e)
{
    struct observed *seen = ARENA_NEW(a, struct observed);
    struct plan *p = plan_new(a);

    *seen = world_observe(w, a);
    return w->kind->planner.plan(seen, p, e) < 0 ? NULL : p;
}

/* ---- carrying out */

static jv *list_of(struct world *w, const struct kube_resource *res)
{
    return res == &kube_pods             ? &w->pods
           : res == &kube_services       ? &w->services
           : res == w->kind->planner.res ? NULL
                                         : &w->others;
}

static ptrdiff_t find(jv list, const struct plan_step *s)
{
    JV_EACH (it, list)
        if (str_eq(meta_name(it.value), s->name) &&
            str_eqz(jv_str(jv_get(it.value, S("kind")), str_of(s->res->kind)), s->res->kind))
            return (ptrdiff_t)it.i - 1;
    return -1;
}

static int create(struct world *w, const struct plan_step *s, struct err *e)
{
    jv *list = list_of(w, s->res);
    jv obj = jv_copy(w->a, step_object(w->a, s));

    if (!list)
        return err_set(e, ERR_INVALID, "create of %s", s->res->kind);
    ptrdiff_t there = find(*list, s);
    str owner = jv_str(jv_get(meta_controller(jv_index(*list, (size_t)there)), S("uid")), S(""));
    if (there >= 0 && !str_eq(owner, meta_uid(w->job)))
        return 0; /* refused, and told */
    if (there >= 0)
        return err_set(e, ERR_EXISTS, "%s %" PRI_STR " exists", s->res->kind, STR_ARG(s->name));
    obj =
        jv_with(w->a, obj, jstr(w->a, arena_cat(w->a, S("uid-new-"), s->name)), "metadata", "uid");
    if (s->res == &kube_pods)
        obj = jv_with(w->a, obj, jstrz(w->a, "Pending"), "status", "phase");
    *list = jv_with_index(w->a, *list, jv_len(*list), obj);
    return 0;
}

static int delete (struct world *w, const struct plan_step *s, struct err *e)
{
    jv *list = list_of(w, s->res);
    jv now = jstr(w->a, time_text(w->a, w->now_ms));

    if (!list) {
        w->job = jv_with(w->a, w->job, now, "metadata", "deletionTimestamp");
        return 0;
    }
    ptrdiff_t i = find(*list, s);
    jv obj = i < 0 ? JV_ABSENT : jv_index(*list, (size_t)i);
    if (!jv_exists(obj) || !str_eq(meta_uid(obj), s->uid))
        return err_set(e, ERR_NOT_FOUND, "%s %" PRI_STR " is not there", s->res->kind,
                       STR_ARG(s->name));
    if (meta_being_deleted(obj))
        return err_set(e, ERR_CONFLICT, "%" PRI_STR " is deleted twice", STR_ARG(s->name));
    bool lingers = jv_exists(jv_at(obj, "spec", "nodeName"));
    obj = lingers ? jv_with(w->a, obj, now, "metadata", "deletionTimestamp") : JV_ABSENT;
    *list = jv_with_index(w->a, *list, (size_t)i, obj);
    return 0;
}

static int patch_job(struct world *w, const struct plan_step *s, str version, struct err *e)
{
    jv change = jv_copy(w->a, step_object(w->a, s));
    int64_t n = 0;

    if (!str_eq(jv_str(jv_at(change, "metadata", "resourceVersion"), S("")), version))
        return err_set(e, ERR_CONFLICT, "patch of another version");
    str_to_int(meta_resource_version(w->job), &n);
    bool status = str_eq(s->sub, S("status"));
    if (jv_exists(jv_get(change, S("status"))) != status)
        return err_set(e, ERR_INVALID, "status is written by itself");
    w->job = patch_merge(w->a, w->job, change, e);
    w->job = jv_with(w->a, w->job, jstr(w->a, arena_printf(w->a, "%d", (int)n + 1)), "metadata",
                     "resourceVersion");
    if (status)
        w->written_ms = w->now_ms;
    return 0;
}

static int adopt(struct world *w, const struct plan_step *s, struct err *e)
{
    jv *list = list_of(w, s->res);
    ptrdiff_t i = list ? find(*list, s) : -1;
    jv change = jv_copy(w->a, step_object(w->a, s));

    if (!list || i < 0)
        return err_set(e, ERR_NOT_FOUND, "nothing to adopt");
    jv owned = jv_with(w->a, jv_index(*list, (size_t)i),
                       jv_at(change, "metadata", "ownerReferences"), "metadata", "ownerReferences");
    *list = jv_with_index(w->a, *list, (size_t)i, owned);
    return 0;
}

static int patch_other(struct world *w, const struct plan_step *s, struct err *e)
{
    ptrdiff_t i = find(w->others, s);

    if (i < 0)
        return err_set(e, ERR_NOT_FOUND, "nothing to patch");
    jv changed =
        patch_merge(w->a, jv_index(w->others, (size_t)i), jv_copy(w->a, step_object(w->a, s)), e);
    w->others = jv_with_index(w->a, w->others, (size_t)i, changed);
    return 0;
}

static void tell(struct world *w, const struct plan_note *notes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (notes[i].once.n)
            map_put(&w->told, arena_str(w->a, notes[i].once), w);
}

int world_apply(struct world *w, const struct plan *p, struct err *e)
{
    str version = arena_str(w->a, meta_resource_version(w->job));

    for (unsigned stage = 0; stage < 8; stage++) {
        for (size_t i = 0; i < p->n_steps; i++) {
            const struct plan_step *s = &p->steps[i];
            int rc = 0;
            if (s->stage != stage)
                continue;
            if (s->kind == PLAN_CREATE)
                rc = create(w, s, e);
            else if (s->kind == PLAN_DELETE)
                rc = delete (w, s, e);
            else if (s->kind == PLAN_PATCH && list_of(w, s->res) == &w->others)
                rc = patch_other(w, s, e);
            else if (s->kind == PLAN_PATCH && s->patch == KUBE_PATCH_MERGE)
                rc = patch_job(w, s, version, e);
            else if (s->kind == PLAN_PATCH)
                rc = adopt(w, s, e);
            if (rc < 0)
                return -1;
            tell(w, s->notes, s->n_notes);
        }
    }
    tell(w, p->notes, p->n_notes);
    return 0;
}

bool world_is_quiet(const struct world *w, const struct plan *p)
{
    for (size_t i = 0; i < p->n_notes; i++)
        if (!p->notes[i].once.n || !map_get(&w->told, p->notes[i].once))
            return false;
    return p->n_steps == 0;
}
