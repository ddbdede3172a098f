#include "life.h"

#include "base/time.h"
#include "kube/patch_merge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME "j"

void life_broken(struct life *w, const char *fmt, ...)
{
    va_list ap;

    if (w->broken[0])
        return;
    va_start(ap, fmt);
    vsnprintf(w->broken, sizeof w->broken, fmt, ap);
    va_end(ap);
}

void life_init(struct life *w, struct arena *a, const struct job_kind *kind)
{
    *w = (struct life){ .a = a, .kind = kind, .version = 1, .uids = 1 };
    w->now_ms = 1735725600000; /* 2025-01-01T10:00:00Z */
    w->backoff = w->deadline = w->ttl = -1;
    for (size_t i = 0; i < MANY_ROLES && kind->roles[i].name; i++) {
        w->roles[i].name = kind->roles[i].name;
        w->roles[i].label = arena_lower(a, str_of(kind->roles[i].name));
        w->roles[i].policy = "Never";
        w->roles[i].replicas = 1;
    }
}

static jv replica(struct life *w, const struct life_role *r, bool image)
{
    struct arena *a = w->a;
    jv c = jobj(a, { "name", jstr(a, str_of(w->kind->container)) },
                { "image", image ? jstrz(a, "train:1") : JV_ABSENT });

    return jobj(a, { "replicas", jint(a, r->replicas) },
                { "restartPolicy", jstr(a, str_of(r->policy)) },
                { "template", jobj(a, { "spec", jobj(a, { "containers", jarr(a, c) }) }) });
}

static jv limit(struct life *w, int64_t n)
{
    return n < 0 ? JV_ABSENT : jint(w->a, n);
}

void life_make_job(struct life *w, bool suspend, const char *clean)
{
    struct arena *a = w->a;
    jv specs = JV_EMPTY_OBJ;

    for (size_t i = 0; i < MANY_ROLES; i++)
        if (w->roles[i].there)
            specs = jv_with_key(a, specs, str_of(w->roles[i].name), replica(w, &w->roles[i], true));
    jv run = jobj(a, { "suspend", jbool(suspend) }, { "cleanPodPolicy", jstr(a, str_of(clean)) },
                  { "backoffLimit", limit(w, w->backoff) },
                  { "activeDeadlineSeconds", limit(w, w->deadline) },
                  { "ttlSecondsAfterFinished", limit(w, w->ttl) });
    jv meta = jobj(a, { "name", jstrz(a, NAME) }, { "namespace", jstrz(a, "ns") },
                   { "uid", jstrz(a, "job-uid") }, { "resourceVersion", jstrz(a, "1") },
                   { "generation", jint(a, 1) });
    w->job = jobj(a, { "apiVersion", jstrz(a, "kubeflow.org/v1") },
                  { "kind", jstr(a, str_of(w->kind->planner.res->kind)) }, { "metadata", meta },
                  { "spec", jobj(a, { "runPolicy", run }, { w->kind->specs, specs }) });
}

static void touched(struct life *w)
{
    str v = arena_printf(w->a, "%" PRId64, ++w->version);

    w->job = jv_with(w->a, w->job, jstr(w->a, v), "metadata", "resourceVersion");
}

void life_set_spec(struct life *w, jv value, const char *member)
{
    w->job = jv_with(w->a, w->job, value, "spec", "runPolicy", member);
    touched(w);
}

void life_set_replicas(struct life *w, size_t role, int64_t n)
{
    w->roles[role].replicas = n;
    w->job = jv_with(w->a, w->job, jint(w->a, n), "spec", w->kind->specs, w->roles[role].name,
                     "replicas");
    touched(w);
}

void life_set_image(struct life *w, bool there)
{
    w->invalid = !there;
    for (size_t i = 0; i < MANY_ROLES; i++)
        if (w->roles[i].there)
            w->job = jv_with(w->a, w->job, replica(w, &w->roles[i], there), "spec", w->kind->specs,
                             w->roles[i].name);
    touched(w);
}

void life_set_scope(struct life *w, bool whole)
{
    jv scope = whole ? jstrz(w->a, "job") : JV_ABSENT;

    w->whole = whole;
    w->job = jv_with(w->a, w->job, scope, "metadata", "annotations", "muster.dev/restart-scope");
    touched(w);
}

static str uid_text(struct arena *a, unsigned uid)
{
    return arena_printf(a, "u%u", uid);
}

static str object_name(struct arena *a, const struct life *w, size_t role, int64_t index)
{
    if (w->kind->roles[role].single)
        return arena_printf(a, NAME "-%" PRI_STR, STR_ARG(w->roles[role].label));
    return arena_printf(a, NAME "-%" PRI_STR "-%" PRId64, STR_ARG(w->roles[role].label), index);
}

/* Sorted by role, index, name, as ctl/ gives them. */
static int by_role(const void *x, const void *y)
{
    const struct seen_pod *p = x, *q = y;
    int c = str_cmp(p->role, q->role);

    return c ? c : (p->index > q->index) - (p->index < q->index);
}

static int by_role_service(const void *x, const void *y)
{
    const struct seen_service *p = x, *q = y;
    int c = str_cmp(p->role, q->role);

    return c ? c : (p->index > q->index) - (p->index < q->index);
}

static struct observed look(struct life *w, struct arena *a, const struct plan_settings *settings)
{
    struct seen_pod *pods = ARENA_ARRAY(a, struct seen_pod, LIFE_PODS);
    struct seen_service *services = ARENA_ARRAY(a, struct seen_service, LIFE_PODS);
    struct seen_object *others = ARENA_ARRAY(a, struct seen_object, LIFE_OTHERS);
    size_t n = 0, m = 0, o = 0;

    for (size_t i = 0; i < LIFE_OTHERS; i++)
        if (w->others[i].there)
            others[o++] = (struct seen_object){ w->others[i].res, w->others[i].obj };
    for (size_t i = 0; i < LIFE_PODS; i++) {
        const struct life_pod *p = &w->pods[i];
        const struct life_service *s = &w->services[i];

        if (p->there)
            pods[n++] = (struct seen_pod){
                .name = object_name(a, w, p->role, p->index),
                .uid = uid_text(a, p->uid),
                .owner = S("job-uid"),
                .role = w->roles[p->role].label,
                .index = p->index,
                .phase = p->phase,
                .leaving = p->leaving,
                .disrupted = p->disrupted,
                .has_exit = p->has_exit,
                .exit_code = p->exit_code,
                .ended_s = p->ended_s,
                .restarts = p->restarts,
                .attempt = p->attempt,
            };
        if (s->there)
            services[m++] = (struct seen_service){
                .name = object_name(a, w, s->role, s->index),
                .uid = uid_text(a, s->uid),
                .owner = S("job-uid"),
                .role = w->roles[s->role].label,
                .index = s->index,
            };
    }
    qsort(pods, n, sizeof *pods, by_role);
    qsort(services, m, sizeof *services, by_role_service);
    return (struct observed){ .settings = settings,
                              .now_ms = w->now_ms,
                              .job = w->job,
                              .pods = pods,
                              .n_pods = n,
                              .services = services,
                              .n_services = m,
                              .others = others,
                              .n_others = o,
                              .status_written_ms = w->written_ms };
}

static bool role_of(const struct life *w, jv labels, size_t *role, int64_t *index)
{
    str label = jv_str(jv_at(labels, LABEL_ROLE), STR_NONE);

    *index = 0;
    str_to_int(jv_str(jv_at(labels, LABEL_INDEX), S("0")), index);
    for (size_t i = 0; i < MANY_ROLES; i++)
        if (w->roles[i].name && str_eq(w->roles[i].label, label))
            return *role = i, true;
    return false;
}

static struct life_other *other_of(struct life *w, const struct plan_step *s)
{
    struct life_other *free_place = NULL;

    for (size_t i = 0; i < LIFE_OTHERS; i++) {
        struct life_other *o = &w->others[i];

        if (o->there && o->res == s->res &&
            str_eq(jv_str(jv_at(o->obj, "metadata", "name"), STR_NONE), s->name))
            return o;
        if (!o->there)
            free_place = o;
    }
    return free_place;
}

/* What is neither a pod nor a service. */
static void change_other(struct life *w, struct arena *a, const struct plan_step *s)
{
    struct life_other *o = other_of(w, s);

    life_check_other(w, s, o && o->there);
    if (!o)
        return;
    jv body = jv_copy(w->a, step_object(a, s));
    if (s->kind == PLAN_PATCH)
        body = patch_merge(w->a, o->obj, body, NULL);
    *o = (struct life_other){ s->kind != PLAN_DELETE, s->res, body };
}

static bool is_other(const struct life *w, const struct plan_step *s)
{
    return s->res != w->kind->planner.res && s->res != &kube_pods && s->res != &kube_services;
}

static void create(struct life *w, struct arena *a, const struct plan_step *s)
{
    jv obj = step_object(a, s);
    size_t role = 0, i = 0;
    int64_t index = 0;

    if (!role_of(w, jv_at(obj, "metadata", "labels"), &role, &index)) {
        life_broken(w, "%" PRI_STR " is made without our labels", STR_ARG(s->name));
        return;
    }
    if (!str_eq(s->name, object_name(a, w, role, index)))
        life_broken(w, "a name not derived: %" PRI_STR, STR_ARG(s->name));
    life_check_create(w, s, role, index);
    if (s->res == &kube_pods) {
        str policy = jv_str(jv_at(obj, "spec", "restartPolicy"), STR_NONE);
        int64_t attempt = 0;

        str_to_int(jv_str(jv_at(obj, "metadata", "labels", LABEL_ATTEMPT), S("0")), &attempt);
        life_check_attempt(w, s, attempt);
        while (i + 1 < LIFE_PODS && w->pods[i].there)
            i++;
        w->pods[i] = (struct life_pod){ .there = true,
                                        .role = role,
                                        .index = index,
                                        .uid = w->uids++,
                                        .in_place = str_eqz(policy, "OnFailure"),
                                        .attempt = attempt };
    } else if (s->res == &kube_services) {
        while (i + 1 < LIFE_PODS && w->services[i].there)
            i++;
        w->services[i] =
            (struct life_service){ .there = true, .role = role, .index = index, .uid = w->uids++ };
    }
}

static void delete (struct life *w, struct arena *a, const struct plan_step *s)
{
    if (s->res == w->kind->planner.res) {
        int64_t done = 0;
        str t = jv_str(jv_at(w->job, "status", "completionTime"), STR_NONE);

        if (!life_is_over(w) || w->ttl < 0 || life_is_suspended(w) ||
            time_parse(t, &done, NULL) < 0 || w->now_ms < done / 1000 + w->ttl * 1000)
            life_broken(w, "J5: the job is deleted before its time");
        w->job = JV_ABSENT;
        return;
    }
    for (size_t i = 0; i < LIFE_PODS; i++) {
        struct life_pod *p = &w->pods[i];
        struct life_service *v = &w->services[i];

        if (s->res == &kube_pods && p->there && str_eq(s->uid, uid_text(a, p->uid))) {
            life_check_delete(w, p);
            p->leaving = true;
            return;
        }
        if (s->res == &kube_services && v->there && str_eq(s->uid, uid_text(a, v->uid))) {
            v->there = false;
            return;
        }
    }
    life_broken(w, "%" PRI_STR " is deleted and was not there", STR_ARG(s->name));
}

static void patch(struct life *w, struct arena *a, const struct plan_step *s, str version)
{
    jv body = step_object(a, s), before = w->job;
    str v = jv_str(jv_at(body, "metadata", "resourceVersion"), version);
    struct err e = { 0 };

    if (s->res != w->kind->planner.res || s->patch != KUBE_PATCH_MERGE) {
        life_broken(w, "a patch of %s", s->res->plural);
        return;
    }
    if (!str_eq(v, version))
        life_broken(w, "a patch of version %" PRI_STR, STR_ARG(v));
    if (!str_eqz(s->sub, "status"))
        life_check_tally(w, body);
    jv now = patch_merge(w->a, w->job, jv_copy(w->a, body), &e);
    w->job = now;
    touched(w);
    if (str_eqz(s->sub, "status")) {
        w->written_ms = w->now_ms;
        life_check_status(w, before);
    }
}

static void tell(struct life *w, const struct plan_note *notes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (notes[i].kind == NOTE_COUNT)
            w->counts[notes[i].counter] += notes[i].n;
}

static void step(struct life *w, struct arena *a, const struct plan_step *s, str version)
{
    if (is_other(w, s))
        change_other(w, a, s);
    else if (s->kind == PLAN_CREATE)
        create(w, a, s);
    else if (s->kind == PLAN_DELETE)
        delete (w, a, s);
    else if (s->kind == PLAN_PATCH)
        patch(w, a, s, version);
    tell(w, s->notes, s->n_notes);
}

/* Stage by stage, as ctl/ does. */
static void carry_out(struct life *w, struct arena *a, const struct plan *p, size_t most,
                      str version)
{
    size_t n = 0;

    for (unsigned stage = 0; n < p->n_steps; stage++)
        for (size_t i = 0; i < p->n_steps; i++)
            if (p->steps[i].stage == stage && n++ < most)
                step(w, a, &p->steps[i], version);
}

/* Of a finished job ctl/ keeps only what planning it reads. */
static void check_slim(struct life *w, const struct observed *seen, const struct plan *p)
{
    struct observed less = *seen;
    struct plan *same = plan_new(p->a);

    less.job = w->kind->planner.slim(p->a, seen->job);
    if (w->kind->planner.plan(&less, same, NULL) < 0 ||
        !jv_equal(plan_json(p->a, p), plan_json(p->a, same)))
        life_broken(w, "a finished job is planned otherwise when slim");
}

size_t life_pass(struct life *w, size_t most, int64_t *wake_ms)
{
    AUTO(arena) struct arena *a = arena_new();
    static const struct plan_settings settings = { 0 };
    struct plan *p = plan_new(a), *again = plan_new(a);
    struct err e = { 0 };

    if (!jv_exists(w->job))
        return 0;
    life_note(w);
    struct observed seen = look(w, a, &settings);
    if (w->kind->planner.plan(&seen, p, &e) < 0 || w->kind->planner.plan(&seen, again, &e) < 0)
        life_broken(w, "planning failed: %s", e.msg);
    if (!str_eq(json_text(a, plan_json(a, p)), json_text(a, plan_json(a, again))))
        life_broken(w, "J2: the same world gives two plans");
    if (life_is_over(w))
        check_slim(w, &seen, p);
    str version = arena_str(a, jv_str(jv_at(w->job, "metadata", "resourceVersion"), STR_NONE));
    carry_out(w, a, p, most, version);
    if (most >= p->n_steps && jv_exists(w->job))
        life_check_pass(w, p->wake_ms);
    if (wake_ms)
        *wake_ms = p->wake_ms;
    return p->n_steps;
}
