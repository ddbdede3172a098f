/* See runstate.h. */

#include "cli/runstate.h"

#include "cli/pods.h"
#include "job/gang.h"
#include "job/stall.h"

#include <stdio.h>
#include <stdlib.h>

void run_state_init(struct run_state *s)
{
    *s = (struct run_state){ .a = arena_new() };
}

void run_state_done(struct run_state *s)
{
    for (size_t i = 0; i < s->jobs.n; i++) {
        struct run_job *j = s->jobs.at[i];
        for (size_t k = 0; k < j->replicas.n; k++)
            arena_free(j->replicas.at[k].a);
        vec_done(&j->replicas);
        jdoc_unref(j->obj);
        free(j);
    }
    vec_done(&s->jobs);
    arena_free(s->a);
}

struct run_job *run_state_add(struct run_state *s, const struct job_kind *kind, jv obj,
                              int64_t now_ms)
{
    struct run_job *j = mem_new(sizeof(*j));
    AUTO(arena) struct arena *a = arena_new();

    j->kind = kind;
    j->ns = arena_str(s->a, meta_namespace(obj));
    j->name = arena_str(s->a, meta_name(obj));
    j->uid = arena_str(s->a, meta_uid(obj));
    j->title = kind ? job_title(s->a, kind, obj) : arena_cat(s->a, S("pod/"), j->name);
    j->container =
        kind ? str_of(kind->container)
             : arena_str(s->a, jv_str(jv_at(jv_index(jv_at(obj, "spec", "containers"), 0), "name"),
                                      STR_NONE));
    j->wanted = kind ? job_total(job_read(a, kind, obj, NULL)) : 1;
    j->began_ms = now_ms;
    vec_push(&s->jobs, j);
    run_job_see(j, KUBE_ADDED, obj, now_ms);
    return j;
}

struct run_job *run_state_find(const struct run_state *s, jv obj)
{
    for (size_t i = 0; i < s->jobs.n; i++)
        if (str_eq(s->jobs.at[i]->uid, meta_uid(obj)))
            return s->jobs.at[i];
    return NULL;
}

struct run_job *run_state_owner(const struct run_state *s, jv pod)
{
    str owner = jv_str(jv_at(meta_controller(pod), "uid"), STR_NONE);

    for (size_t i = 0; i < s->jobs.n; i++) {
        struct run_job *j = s->jobs.at[i];
        if (str_eq(j->uid, j->kind ? owner : meta_uid(pod)))
            return j;
    }
    return NULL;
}

/* ---- a job */

/* What a plain pod has come to, in a job's words. */
static void read_pod_job(struct run_job *j, jv obj)
{
    str phase = jv_str(jv_at(obj, "status", "phase"), S("Pending"));
    bool ended = str_eqz(phase, "Failed") || str_eqz(phase, "Succeeded");
    bool told_to_go = !j->over && meta_being_deleted(obj); /* how it ends now says nothing */

    j->message = jv_str(jv_at(obj, "status", "message"), STR_NONE);
    j->over = ended && (!told_to_go || j->stopping);
    if (told_to_go)
        j->state = j->over ? S("Stopped") : S("Terminating");
    else
        j->state = phase;
    j->failed = j->over && !str_eqz(j->state, "Succeeded");
}

static void read_job(struct run_job *j, jv obj)
{
    AUTO(arena) struct arena *a = arena_new();
    struct job_found found = { j->kind, obj };
    struct job_sum sum = job_sum(a, &found, JV_ABSENT);

    j->state = sum.state;
    j->message = jv_str(jv_at(sum.condition, "message"), STR_NONE);
    j->over = job_is_over(obj);
    j->failed = meta_condition_is(obj, S("Failed"), S("True"));
    if (j->over) /* whatever becomes of it later */
        j->state = j->failed ? S("Failed") : S("Succeeded");
}

static void set_given_up(struct run_job *j)
{
    j->over = j->failed = true;
    j->state = S("Failed");
    j->message = j->given_up;
}

str run_job_held(const struct run_job *j)
{
    return j->kind && !j->over && j->obj ? gang_held_text(jdoc_root(j->obj)) : STR_NONE;
}

void run_job_give_up(struct run_job *j, str why, int64_t now_ms)
{
    j->given_up = why;
    j->ended_ms = now_ms;
    set_given_up(j);
}

bool run_job_see(struct run_job *j, enum kube_event type, jv obj, int64_t now_ms)
{
    struct arena *a = arena_new();
    jv copy = jv_copy(a, obj);
    bool was_over = j->over;

    if (j->over && type == KUBE_DELETED) {
        arena_free(a); /* it is gone as it ended */
        j->gone = true;
        return true;
    }
    struct jdoc *before = j->obj;
    str state = before ? arena_str(a, j->state) : STR_NONE;
    j->obj = jdoc_of(a, copy);
    if (j->kind)
        read_job(j, copy);
    else
        read_pod_job(j, copy);
    jdoc_unref(before);
    if (j->given_up.n)
        set_given_up(j);
    if (type == KUBE_DELETED) {
        j->gone = true;
        if (!j->over) {
            j->over = j->failed = true;
            j->state = j->stopping ? S("Stopped") : S("Deleted");
            j->message = j->stopping ? STR_NONE : S("it was deleted before it ended");
        }
    }
    if (j->over && !was_over)
        j->ended_ms = now_ms;
    return !str_eq(state, j->state) || j->over != was_over;
}

/* ---- its replicas */

static str role_of(jv pod)
{
    return jv_str(jv_get(meta_labels(pod), S(LABEL_ROLE)), STR_NONE);
}

static int64_t index_of(jv pod)
{
    int64_t n;

    return str_to_int(jv_str(jv_get(meta_labels(pod), S(LABEL_INDEX)), S("")), &n) ? n : -1;
}

str run_pod_replica(struct arena *a, const struct run_job *j, jv pod)
{
    struct job_pod p = { .role = role_of(pod), .index = index_of(pod), .pod = pod };

    return j->kind && p.role.n ? replica_name(a, &p) : meta_name(pod);
}

str run_replica_why(const struct run_replica *r)
{
    static const char rest[] = " restarting failed container"; /* names and uids follow */
    str why = r->message.n ? r->message : r->reason;
    const char *at = why.n ? memmem(why.p, why.n, rest, sizeof(rest) - 1) : NULL;

    return str_trim(at ? str_sub(why, 0, (size_t)(at - why.p)) : why);
}

bool run_job_is_stalled(const struct run_job *j)
{
    bool any = false;

    for (size_t i = 0; i < j->replicas.n; i++) {
        const struct run_replica *r = &j->replicas.at[i];
        if (!r->live || !str_eqz(r->state, "Running"))
            continue;
        if (!r->stalled)
            return false;
        any |= !job_role_is_idle(j->kind, r->role);
    }
    return any && !j->over;
}

struct run_replica *run_job_replica(const struct run_job *j, str name)
{
    for (size_t i = 0; i < j->replicas.n; i++)
        if (str_eq(j->replicas.at[i].name, name))
            return &j->replicas.at[i];
    return NULL;
}

/* Roles keep the order in which their first replica came. */
static bool is_before(const struct run_job *j, size_t i, const struct run_replica *r)
{
    const struct run_replica *x = &j->replicas.at[i];

    if (str_eq(x->role, r->role))
        return x->index <= r->index;
    for (size_t k = i + 1; k < j->replicas.n; k++)
        if (str_eq(j->replicas.at[k].role, r->role))
            return true; /* its role comes later */
    for (size_t k = 0; k < i; k++)
        if (str_eq(j->replicas.at[k].role, r->role))
            return false; /* and is past */
    return true;
}

static struct run_replica *add_replica(struct run_state *s, struct run_job *j, jv pod, str name)
{
    struct run_replica r = { .name = arena_str(s->a, name),
                             .role = arena_str(s->a, role_of(pod)),
                             .index = index_of(pod),
                             .state = S("Pending"),
                             .a = arena_new() };
    size_t at = 0;

    while (at < j->replicas.n && is_before(j, at, &r))
        at++;
    vec_push(&j->replicas, r);
    for (size_t i = j->replicas.n - 1; i > at; i--)
        j->replicas.at[i] = j->replicas.at[i - 1];
    j->replicas.at[at] = r;
    return &j->replicas.at[at];
}

static jv status_of(const struct run_job *j, jv pod)
{
    jv all = jv_at(pod, "status", "containerStatuses");

    JV_EACH (it, all)
        if (str_eq(jv_str(jv_at(it.value, "name"), STR_NONE), j->container))
            return it.value;
    return jv_index(all, 0);
}

static void copy_text(char *to, size_t room, str from)
{
    snprintf(to, room, "%" PRI_STR, STR_ARG(from));
}

/* status: the container's. */
static void set_failure(struct run_job *j, struct run_replica *r, jv status, jv end, int64_t run)
{
    struct run_failure *f = &r->failure;
    bool mapped = !str_eqz(jv_str(jv_at(status, "imageID"), STR_NONE), "muster://this-machine");
    int64_t code = jv_int(jv_at(end, "exitCode"), -1);

    if (f->last && f->run == run)
        return; /* known */
    f->last = ++j->failures;
    f->first = f->first ? f->first : f->last;
    f->code = code;
    f->run = run;
    copy_text(f->reason, sizeof(f->reason), jv_str(jv_at(end, "reason"), r->reason));
    copy_text(f->message, sizeof(f->message),
              jv_str(jv_at(end, "message"), code < 0 ? r->message : STR_NONE));
    copy_text(f->image, sizeof(f->image),
              mapped ? STR_NONE : jv_str(jv_at(status, "image"), STR_NONE));
}

/* Bad ends of what was not told to go. */
static void note_failures(struct run_job *j, struct run_replica *r, jv pod)
{
    static const char *const lists[] = { "initContainerStatuses", "containerStatuses" };

    if (meta_being_deleted(pod))
        return;
    for (size_t i = 0; i < COUNT(lists); i++)
        JV_EACH (it, jv_at(pod, "status", lists[i])) {
            jv end = jv_at(it.value, "state", "terminated");
            jv last = jv_at(it.value, "lastState", "terminated");
            bool waits = !jv_is_null(jv_at(it.value, "state", "waiting"));
            int64_t n = r->earlier + jv_int(jv_at(it.value, "restartCount"), 0);
            if (jv_int(jv_at(last, "exitCode"), 0))
                set_failure(j, r, it.value, last, waits ? n : n - 1);
            if (jv_int(jv_at(end, "exitCode"), 0))
                set_failure(j, r, it.value, end, n);
        }
    if (r->failed && (!r->failure.last || r->failure.run < r->restarts)) /* evicted, refused */
        set_failure(j, r, JV_ABSENT, JV_ABSENT, r->restarts);
}

static void read_times(struct run_replica *r, jv status, int64_t now_ms)
{
    bool ran = !jv_is_null(jv_at(status, "state", "running")) ||
               !jv_is_null(jv_at(status, "state", "terminated")) ||
               !jv_is_null(jv_at(status, "lastState", "terminated"));

    if (ran && !r->began_ms)
        r->began_ms = now_ms;
    if (r->over && !r->ended_ms)
        r->ended_ms = now_ms;
    if (!r->over)
        r->ended_ms = 0;
}

static bool is_waiting(const struct run_replica *r)
{
    static const char *const fine[] = { "Running", "Succeeded", "Failed", "Terminating" };

    for (size_t i = 0; i < COUNT(fine); i++)
        if (str_eqz(r->state, fine[i]))
            return false;
    return r->reason.n || r->message.n || !str_eqz(r->state, "Pending");
}

static void read_pod(struct run_job *j, struct run_replica *r, jv pod, int64_t now_ms)
{
    jv status = status_of(j, pod);
    jv end = jv_at(status, "state", "terminated");
    str phase = jv_str(jv_at(pod, "status", "phase"), S("Pending"));
    bool was_over = r->over;
    struct arena *a = arena_new();
    struct pod_state st = pod_state(a, pod);

    if (jv_is_null(end))
        end = jv_at(status, "lastState", "terminated");
    r->failed = str_eqz(phase, "Failed");
    r->over = r->failed || str_eqz(phase, "Succeeded");
    r->stopped = meta_being_deleted(pod) && !(was_over && !r->stopped);
    r->has_exit = !jv_is_null(end);
    r->exit_code = jv_int(jv_at(end, "exitCode"), 0);
    r->restarts = r->earlier + pod_restarts(pod);
    r->uid = arena_str(a, meta_uid(pod));
    r->state = arena_str(a, r->stopped && r->over ? S("Stopped") : r->over ? phase : st.state);
    r->reason = arena_str(a, st.reason);
    r->message = arena_str(a, st.message);
    r->waits = !r->over && is_waiting(r);
    r->stalled = pod_is_stalled(pod, &r->stall);
    r->stall = arena_str(a, r->stall);
    read_times(r, status, now_ms);
    arena_free(r->a);
    r->a = a;
}

static void see_gone(struct run_replica *r, int64_t now_ms)
{
    r->live = false;
    if (r->over)
        return;
    r->over = r->stopped = true;
    r->waits = false;
    r->state = S("Stopped");
    r->ended_ms = now_ms;
}

bool run_job_see_pod(struct run_state *s, struct run_job *j, enum kube_event type, jv pod,
                     int64_t now_ms)
{
    AUTO(arena) struct arena *a = arena_new();
    str name = run_pod_replica(a, j, pod);
    struct run_replica *r = run_job_replica(j, name);

    if (type == KUBE_DELETED && (!r || !str_eq(r->uid, meta_uid(pod))))
        return false; /* another has taken its place */
    if (!r)
        r = add_replica(s, j, pod, name);
    else if (r->uid.n && !str_eq(r->uid, meta_uid(pod))) {
        r->earlier = r->restarts + 1;
        r->over = r->stopped = false;
        r->ended_ms = 0;
    }
    str state = arena_str(a, r->state);
    str message = arena_str(a, r->message);
    int64_t restarts = r->restarts;
    read_pod(j, r, pod, now_ms);
    r->live = !r->over;
    if (type == KUBE_DELETED)
        see_gone(r, now_ms);
    note_failures(j, r, pod);
    return !str_eq(state, r->state) || !str_eq(message, r->message) || restarts != r->restarts;
}

const struct run_replica *run_job_failed_first(const struct run_job *j)
{
    const struct run_replica *best = NULL;
    bool final = false;

    for (size_t i = 0; i < j->replicas.n; i++) {
        const struct run_replica *r = &j->replicas.at[i];
        bool is_final = r->failed && !r->stopped;
        if (!r->failure.last || (final && !is_final))
            continue;
        if (!best || (is_final && !final) ||
            (is_final ? r->failure.last < best->failure.last
                      : r->failure.first < best->failure.first))
            best = r;
        final = final || is_final;
    }
    return best;
}

/* ---- all of them */

bool run_state_is_over(const struct run_state *s)
{
    for (size_t i = 0; i < s->jobs.n; i++)
        if (!s->jobs.at[i]->over)
            return false;
    return true;
}

bool run_state_is_live(const struct run_state *s)
{
    for (size_t i = 0; i < s->jobs.n; i++)
        for (size_t k = 0; k < s->jobs.at[i]->replicas.n; k++)
            if (s->jobs.at[i]->replicas.at[k].live)
                return true;
    return false;
}
