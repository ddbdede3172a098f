/* After the end: what goes by cleanPodPolicy, and the job itself when its time to live is over. */

#include "job/gang.h"
#include "job/kind.h"
#include "job/steps.h"

void job_clean_up(const struct job *j, struct plan *p, bool by_limit)
{
    enum clean_policy policy = job_clean_policy(j);

    /* Unless all of them go, which services do is read off the pods that are there: so they go
     * first, or whoever takes over in between could not tell any more. */
    job_sweep(j, p,
              (struct sweep){ .by_limit = by_limit,
                              .services_stage = STAGE_CHANGE,
                              .pods_stage = policy == CLEAN_ALL ? STAGE_CHANGE : STAGE_PODS });
    gang_drop(j, p);
}

void job_ttl(struct job *j, struct plan *p)
{
    jv seconds = jv_get(j->policy, S("ttlSecondsAfterFinished"));
    int64_t from_ms = job_time(jv_get(j->status, S("completionTime"))), at_ms;

    /* A negative one is why the job was refused: who wrote it shall see that. */
    if (jv_int(seconds, -1) < 0 || job_suspended(j) || from_ms < 0)
        return;
    if (__builtin_mul_overflow(jv_int(seconds, 0), 1000, &at_ms) ||
        __builtin_add_overflow(at_ms, from_ms, &at_ms))
        return;
    if (j->seen->now_ms < at_ms) {
        plan_wake(p, at_ms);
        return;
    }
    struct plan_step *s = plan_add(p, PLAN_DELETE, STAGE_JOB, j->kind->planner.res);
    s->ns = j->ns;
    s->name = j->name;
    s->uid = j->uid;
    s->done_reason = j->kind->deleted_reason;
    s->fail_reason = j->kind->undeleted_reason;
    s->noun = "job";
    step_tell(p, s, (struct plan_note){ .kind = NOTE_COUNT, .counter = COUNT_DELETED, .n = 1 });
}
