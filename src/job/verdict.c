/* The verdict, first match: limits, success, permanent failure, restart, running. */

#include "job/verdict.h"
#include "job/conditions.h"
#include "job/gang.h"
#include "job/kind.h"
#include "job/stall.h"
#include "job/whole_restart.h"

#include <inttypes.h>

/* Jobs led by their workers are told with their namespace, others without. */
static str worker_text(struct arena *a, const struct job *j, const char *words)
{
    return arena_printf(a, "%s %" PRI_STR "/%" PRI_STR " %s", j->kind->planner.res->kind,
                        STR_ARG(j->ns), STR_ARG(j->name), words);
}

/* What all kinds but TFJob say. */
static str common_text(struct arena *a, const struct job *j, enum job_text which,
                       const struct job_role *r)
{
    const char *kind = j->kind->planner.res->kind;
    const struct job_role *leader = job_leader(j);
    bool by_workers = leader && str_eqz(leader->type, "Worker");

    switch (which) {
    case TEXT_RUNNING:
        if (by_workers)
            return worker_text(a, j, "is running.");
        return arena_printf(a, "%s %" PRI_STR " is running.", kind, STR_ARG(j->name));
    case TEXT_SUCCEEDED:
        if (by_workers)
            return worker_text(a, j, "successfully completed.");
        return arena_printf(a, "%s %" PRI_STR " is successfully completed.", kind,
                            STR_ARG(j->name));
    case TEXT_RESTARTING:
        return arena_printf(
            a, "%s %" PRI_STR " is restarting because %" PRId64 " %" PRI_STR " replica(s) failed.",
            kind, STR_ARG(j->name), r->failed, STR_ARG(r->type));
    case TEXT_FAILED:
        break;
    }
    return arena_printf(
        a, "%s %" PRI_STR " is failed because %" PRId64 " %" PRI_STR " replica(s) failed.", kind,
        STR_ARG(j->name), r->failed, STR_ARG(r->type));
}

str job_text(const struct job *j, enum job_text which, const struct job_role *r)
{
    return (j->kind->text ? j->kind->text : common_text)(j->a, j, which, r);
}

static str backoff_text(const struct job *j)
{
    return arena_printf(
        j->a, "Job %" PRI_STR " has failed because it has reached the specified backoff limit",
        STR_ARG(j->name));
}

static str deadline_text(const struct job *j)
{
    return arena_printf(
        j->a, "Job %" PRI_STR " has failed because it was active longer than specified deadline",
        STR_ARG(j->name));
}

/* What follows is where its replicas wait. */
static str stall_text(const struct job *j)
{
    return arena_printf(j->a,
                        "Job %" PRI_STR " has failed because it was stalled: ", STR_ARG(j->name));
}

bool verdict_was_by_limit(const struct job *j, str message)
{
    return str_eq(message, backoff_text(j)) || str_eq(message, deadline_text(j)) ||
           str_starts(message, stall_text(j)) || str_starts(message, gang_limit_text(j));
}

/* Without the type, which it ends in. */
static str exit_text(const struct job *j)
{
    return arena_printf(j->a, "job \"%" PRI_STR "\" is failing because \"", STR_ARG(j->name));
}

bool verdict_was_by_exit(const struct job *j, str message)
{
    return str_starts(message, exit_text(j));
}

int64_t job_deadline_ms(const struct job *j)
{
    jv seconds = jv_get(j->policy, S("activeDeadlineSeconds"));
    int64_t start_ms = job_time(jv_get(j->status, S("startTime"))), at_ms;

    if (!jv_is(seconds, JV_INT) || start_ms < 0)
        return -1;
    if (__builtin_mul_overflow(jv_int(seconds, 0), 1000, &at_ms) ||
        __builtin_add_overflow(at_ms, start_ms, &at_ms))
        return -1; /* beyond all times */
    return at_ms < 0 ? 0 : at_ms;
}

static bool deadline_passed(const struct job *j)
{
    int64_t at_ms = job_deadline_ms(j);

    return at_ms >= 0 && j->seen->now_ms >= at_ms;
}

static bool is_done(const struct job *j)
{
    for (size_t i = 0; i < j->n_roles; i++)
        if (job_leads(j, &j->roles[i]) && j->roles[i].replicas_known &&
            j->roles[i].succeeded >= j->roles[i].replicas)
            return true;
    return job_leader(j) && j->kind->is_done && j->kind->is_done(j);
}

bool job_is_running(const struct job *j)
{
    for (size_t i = 0; i < j->n_roles; i++)
        if (job_leads(j, &j->roles[i]) && j->roles[i].active > 0)
            return true;
    return false;
}

static const struct job_role *permanently_broken(const struct job *j)
{
    for (size_t i = 0; i < j->n_roles; i++) {
        const struct job_role *r = &j->roles[i];
        if (r->n_permanent && !(j->kind->forgives && j->kind->forgives(j, r)))
            return r;
    }
    return NULL;
}

static const struct job_role *restartable(const struct job *j)
{
    for (size_t i = 0; i < j->n_roles; i++)
        if (j->roles[i].n_restartable)
            return &j->roles[i];
    return NULL;
}

static struct verdict failed_by_pods(const struct job *j, const struct job_role *r)
{
    struct verdict v = { .kind = VERDICT_FAILED, .role = r };

    v.by_exit = r->policy == RESTART_EXIT_CODE;
    v.message = v.by_exit ? arena_printf(j->a, "%" PRI_STR "%" PRI_STR "\" replica(s) failed.",
                                         STR_ARG(exit_text(j)), STR_ARG(r->type))
                          : job_text(j, TEXT_FAILED, r);
    return v;
}

struct verdict job_judge(const struct job *j, const struct budget *b)
{
    const struct job_role *r;

    if (budget_is_spent(j, b))
        return (struct verdict){ VERDICT_FAILED, .by_limit = true, .message = backoff_text(j) };
    if (deadline_passed(j))
        return (struct verdict){ VERDICT_FAILED, .by_limit = true, .message = deadline_text(j) };
    if (is_done(j))
        return (struct verdict){ VERDICT_SUCCEEDED, .message = job_text(j, TEXT_SUCCEEDED, NULL) };
    r = permanently_broken(j);
    if (r)
        return failed_by_pods(j, r);
    if (j->is_stalled && job_on_stall(j) == ON_STALL_FAIL)
        return (struct verdict){ VERDICT_FAILED, .by_limit = true, .by_stall = true,
                                 .message = arena_cat(j->a, stall_text(j), job_stall_text(j)) };
    r = restartable(j);
    if (r && budget_is_overdrawn(j, b))
        return (struct verdict){ VERDICT_FAILED, .by_limit = true, .message = backoff_text(j) };
    if (r && whole_restart_is_wanted(j))
        return (struct verdict){ VERDICT_RESTARTING, .begins = true, .role = r,
                                 .message = whole_restart_text(j) };
    if (r && j->is_stalled)
        return (struct verdict){ VERDICT_RESTARTING, .role = r,
                                 .message = arena_printf(
                                     j->a, "%s %" PRI_STR " is restarting because it was stalled.",
                                     j->kind->planner.res->kind, STR_ARG(j->name)) };
    if (r)
        return (struct verdict){ VERDICT_RESTARTING, .message = job_text(j, TEXT_RESTARTING, r),
                                 .role = r };
    if (j->is_gang_broken && gang_is_spent(j))
        return (struct verdict){ VERDICT_FAILED, .by_limit = true, .message = gang_limit_text(j) };
    if (j->is_gang_broken)
        return (struct verdict){ VERDICT_RESTARTING, .begins = true, .cause = RESTART_BY_GANG,
                                 .message = gang_broken_text(j) };
    if (whole_restart_is_under_way(j))
        return (struct verdict){ VERDICT_RESTARTING, .cause = j->attempt.cause };
    /* Restarting shows until the failed pod is gone. */
    if (j->is_replacing && condition_is_true(j, "Restarting"))
        return (struct verdict){ VERDICT_SAME };
    if (job_is_running(j))
        return (struct verdict){ VERDICT_RUNNING, .message = job_text(j, TEXT_RUNNING, NULL) };
    return (struct verdict){ VERDICT_SAME };
}
