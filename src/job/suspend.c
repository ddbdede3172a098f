/* Suspension: everything goes, whatever the clean-up policy; nothing is judged. */

#include "job/conditions.h"
#include "job/gang.h"
#include "job/kind.h"
#include "job/status.h"
#include "job/steps.h"

static void tell(struct job *j, const char *suffix, const char *key, str message)
{
    job_note(j, (struct plan_note){
                    .kind = NOTE_EVENT,
                    .reason = job_reason(j, suffix),
                    .message = message,
                    .once = arena_printf(j->a, "%s/%" PRI_STR, key, STR_ARG(j->now)),
                    .terminal = true, /* all that goes with a large job would use up its budget */
                });
}

void job_suspend(struct job *j, struct plan *p)
{
    str message = arena_printf(j->a, "%s %" PRI_STR " is suspended.", j->kind->planner.res->kind,
                               STR_ARG(j->name));

    job_sweep(
        j, p,
        (struct sweep){ .all = true, .services_stage = STAGE_CHANGE, .pods_stage = STAGE_CHANGE });
    gang_drop(j, p);
    job_extras(j, p, false);
    status_none_active(j);
    if (condition_is_true(j, "Running"))
        condition_set(j, "Running", false, "Suspended", message);
    condition_drop(j, "Restarting");
    if (!condition_is_true(j, "Suspended")) {
        condition_set(j, "Suspended", true, "Suspended", message);
        tell(j, "Suspended", "suspended", message);
    }
    status_write(j, p, STAGE_STATUS);
}

void job_resume(struct job *j)
{
    str message = arena_printf(j->a, "%s %" PRI_STR " is resumed.", j->kind->planner.res->kind,
                               STR_ARG(j->name));

    if (!condition_is_true(j, "Suspended"))
        return;
    condition_set(j, "Suspended", false, "Resumed", message);
    status_set_time(j, S("startTime"), j->now); /* the deadline and the budget start afresh */
    tell(j, "Resumed", "resumed", message);
}
