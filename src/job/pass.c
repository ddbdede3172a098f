/* The order of a pass: one pure function of the job, what is seen of it, and the time. */

#include "job/classify.h"
#include "job/conditions.h"
#include "job/gang.h"
#include "job/kinds.h"
#include "job/stall.h"
#include "job/status.h"
#include "job/steps.h"
#include "job/whole_restart.h"

#include <inttypes.h>

static void count_once(struct job *j, enum plan_counter counter)
{
    job_note(j, (struct plan_note){ .kind = NOTE_COUNT, .counter = counter, .n = 1 });
}

static void tell_end(struct job *j, bool warning, const char *suffix, str message, const char *once)
{
    job_note(j, (struct plan_note){
                    .kind = NOTE_EVENT,
                    .warning = warning,
                    .reason = job_reason(j, suffix),
                    .message = message,
                    .once = str_of(once),
                    .terminal = true,
                });
}

void job_extras(struct job *j, struct plan *p, bool wanted)
{
    if (j->kind->extras)
        j->kind->extras(j, p, wanted);
}

/* ---- the end */

/* The terminal status is written first; all else waits for it. */
static void end(struct job *j, struct plan *p, bool by_limit)
{
    struct plan_step *s;

    if (job_time(jv_get(j->status, S("completionTime"))) < 0)
        status_set_time(j, S("completionTime"), j->now);
    s = status_write(j, p, STAGE_FIRST);
    if (s)
        s->must = true;
    job_clean_up(j, p, by_limit);
    job_extras(j, p, false);
    job_ttl(j, p);
}

/* Some kinds show that a job ran even if it was never seen running. */
static void run_first(struct job *j)
{
    if (j->kind->runs_first)
        condition_set(j, "Running", true, "Running", job_text(j, TEXT_RUNNING, NULL));
}

static void succeed(struct job *j, struct plan *p, const struct verdict *v)
{
    run_first(j);
    status_start(j);
    status_active_succeeded(j);
    condition_set(j, "Succeeded", true, "Succeeded", v->message);
    tell_end(j, false, "Succeeded", v->message, "end");
    count_once(j, COUNT_SUCCEEDED);
    end(j, p, false);
}

static void fail(struct job *j, struct plan *p, const struct verdict *v)
{
    status_start(j);
    if (!v->by_limit)
        run_first(j);
    if (v->by_limit || job_clean_policy(j) != CLEAN_NONE)
        status_none_active(j);
    const char *suffix = v->by_stall ? "Stalled" : "Failed";
    condition_set(j, "Failed", true, suffix, v->message);
    tell_end(j, v->by_exit || v->by_stall, suffix, v->message, "end");
    if (v->by_exit && j->kind->counts_exit)
        tell_end(j, false, "Failed", job_text(j, TEXT_FAILED, v->role), "end/count");
    count_once(j, COUNT_FAILED);
    end(j, p, v->by_limit);
}

/* Whoever wrote the end may have died before telling it. Under the same name, so that a server that
 * has been told says so. */
static void tell_end_again(struct job *j, struct plan *p, jv ended)
{
    enum { AGAIN_MS = 60 * 1000 };
    int64_t at_ms = job_time(jv_get(j->status, S("completionTime")));
    str reason = jv_str(jv_get(ended, S("reason")), S(""));
    str message = jv_str(jv_get(ended, S("message")), S(""));

    if (at_ms < 0 || at_ms > j->seen->now_ms || j->seen->now_ms - at_ms > AGAIN_MS || !reason.n)
        return;
    *plan_tell(p) = (struct plan_note){
        .kind = NOTE_EVENT,
        .warning = str_eq(reason, job_reason(j, "FailedValidation")) ||
                   str_eq(reason, job_reason(j, "Stalled")) || verdict_was_by_exit(j, message),
        .reason = reason,
        .message = message,
        .once = S("end"),
        .terminal = true,
    };
}

/* Nothing else is ever written once a job has ended. */
static void after_end(struct job *j, struct plan *p)
{
    jv ended = condition_find(j, condition_is_true(j, "Failed") ? "Failed" : "Succeeded");
    str message = jv_str(jv_get(ended, S("message")), S(""));

    if (job_time(jv_get(j->status, S("completionTime"))) < 0) {
        jv at = jv_get(ended, S("lastTransitionTime"));
        status_set_time(j, S("completionTime"), job_time(at) < 0 ? j->now : jv_str(at, S("")));
        status_write(j, p, STAGE_FIRST)->must = true;
    }
    job_clean_up(j, p, verdict_was_by_limit(j, message));
    job_extras(j, p, false);
    job_ttl(j, p);
    tell_end_again(j, p, ended);
    p->finished = p->n_steps == 0;
}

/* ---- invalid jobs */

static str problem_message(const struct job *j, const struct problems *ps)
{
    enum { MANY_BYTES = 32 * 1024 };
    str text = str_clip(problems_text(j->a, ps), MANY_BYTES);

    return arena_printf(j->a, "%s failed validation because %" PRI_STR, j->kind->planner.res->kind,
                        STR_ARG(text));
}

/* A name never changes: what is wrong with that of a started job (it was scaled, and the longest
 * derived one is too long now) stops nothing but what the server refuses. */
static void check(const struct job *j, struct problems *ps)
{
    size_t kept = 0;

    job_validate(j->kind, ps, j->obj, JV_ABSENT);
    for (size_t i = 0; i < ps->n; i++)
        if (!job_has_started(j) || !str_eq(ps->at[i].field, S("metadata.name")))
            ps->at[kept++] = ps->at[i];
    ps->n = kept;
}

static void refuse(struct job *j, struct plan *p, const struct problems *ps)
{
    str message = problem_message(j, ps);

    condition_set(j, "Failed", true, "FailedValidation", message);
    tell_end(j, true, "FailedValidation", message, "end");
    count_once(j, COUNT_FAILED);
    end(j, p, false);
}

/* A later edit broke it: told once for each generation; it goes on with what it has. */
static void warn(const struct job *j, struct plan *p, const struct problems *ps)
{
    struct plan_note *n = plan_tell(p);

    n->kind = NOTE_EVENT;
    n->warning = true;
    n->reason = job_reason(j, "FailedValidation");
    n->message = problem_message(j, ps);
    n->once =
        arena_printf(j->a, "invalid/%" PRId64, jv_int(jv_get(meta_of(j->obj), S("generation")), 0));
}

/* ---- going on */

static void restart(struct job *j, struct plan *p, const struct verdict *v, const struct budget *b)
{
    if (v->begins) {
        whole_restart_begin(j, p, v, b);
    } else if (v->role) {
        condition_set(j, "Restarting", true, "Restarting", v->message);
        budget_tally(j, b, p);
    } else {
        whole_restart_show(j);
    }
}

/* may_create: the spec is valid. While the job's PodGroup holds it back nothing is made either, and
 * startTime waits; what there is goes on being counted and judged. */
static void go_on(struct job *j, struct plan *p, const struct verdict *v, const struct budget *b,
                  bool may_create)
{
    if (may_create && !v->begins) /* else all pods go first */
        gang_sync(j, p);
    may_create &= !j->is_held;
    if (j->is_held && !job_has_started(j))
        status_uncount(j);
    else
        status_start(j);
    int64_t deadline_ms = job_deadline_ms(j);
    if (v->kind == VERDICT_RUNNING)
        condition_set(j, "Running", true, "Running", v->message);
    if (v->kind == VERDICT_RESTARTING)
        restart(j, p, v, b);
    if (may_create)
        job_extras(j, p, true);
    job_delete_pods(j, p, v);
    job_delete_services(j, p);
    if (may_create)
        job_claim_services(j, p);
    bool may_create_pods = may_create && whole_restart_may_create(j, p);
    for (size_t i = 0; may_create && i < j->n_roles; i++) {
        if (may_create_pods)
            job_create_pods(j, p, i);
        job_create_services(j, p, i);
    }
    status_refresh(j, p, STAGE_STATUS);
    if (deadline_ms >= 0)
        plan_wake(p, deadline_ms);
}

/* A job that fails by it says so at its end. */
static void stall(struct job *j, struct plan *p)
{
    j->is_stalled = job_is_stalled(j);
    enum on_stall how = j->is_stalled ? job_on_stall(j) : ON_STALL_FAIL;
    if (how == ON_STALL_FAIL)
        return;
    job_tell_stall(j, p);
    if (how == ON_STALL_RESTART)
        job_restart_stalled(j);
}

static void judge(struct job *j, struct plan *p, bool is_valid)
{
    whole_restart_read(j);
    job_classify(j);
    stall(j, p);
    whole_restart_classify(j);
    whole_restart_tell(j, p);
    if (j->kind->recount)
        j->kind->recount(j);
    status_count(j);
    job_tell_pods(j, p);
    gang_watch(j, p);
    struct budget b = budget_read(j);
    struct verdict v = job_judge(j, &b);
    if (j->kind->tell)
        j->kind->tell(j, p, &v);
    switch (v.kind) {
    case VERDICT_SUCCEEDED:
        succeed(j, p, &v);
        break;
    case VERDICT_FAILED:
        fail(j, p, &v);
        break;
    case VERDICT_SAME:
    case VERDICT_RUNNING:
    case VERDICT_RESTARTING:
        go_on(j, p, &v, &b, is_valid);
        break;
    }
}

int job_plan(const struct observed *seen, struct plan *p, struct err *e)
{
    const struct job_kind *kind = job_kind_of(seen->job);

    if (!kind)
        return err_set(e, ERR_INVALID, "not a kind of job");
    struct job *j = job_read(p->a, kind, seen->job, seen);
    struct problems ps = { .a = p->a };
    if (!job_is_mine(j) || meta_being_deleted(j->obj)) {
        p->ignored = true;
        return 0;
    }
    if (condition_is_true(j, "Failed") || condition_is_true(j, "Succeeded")) {
        after_end(j, p);
        return 0;
    }
    if (condition_created(j))
        count_once(j, COUNT_CREATED);
    check(j, &ps);
    if (ps.n && !job_has_started(j)) {
        refuse(j, p, &ps);
        return 0;
    }
    if (ps.n)
        warn(j, p, &ps);
    if (job_suspended(j)) {
        job_suspend(j, p);
        return 0;
    }
    job_resume(j);
    judge(j, p, ps.n == 0);
    return 0;
}
