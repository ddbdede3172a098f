/* After the end: what goes by cleanPodPolicy, and the job itself when its time to live is over. */

#include "base/map.h"
#include "job/classify.h"
#include "job/kind.h"
#include "job/steps.h"

/* A limit stops what still runs under any policy; pods that ended follow the policy. */
static bool goes(enum clean_policy policy, bool by_limit, const struct seen_pod *pod)
{
    if (policy == CLEAN_ALL)
        return true;
    if (by_limit && pod->phase != POD_SUCCEEDED && pod->phase != POD_FAILED)
        return true;
    return policy == CLEAN_RUNNING && (pod->phase == POD_RUNNING || pod->phase == POD_PENDING);
}

/* Which of the services go is read off the pods that are there, so they go before them. */
static void delete_services(const struct job *j, struct plan *p, bool by_limit)
{
    enum clean_policy policy = job_clean_policy(j);
    struct map going = { 0 };

    for (size_t i = 0; i < j->seen->n_pods; i++) {
        const struct seen_pod *pod = &j->seen->pods[i];
        if (job_owns_pod(j, pod) && goes(policy, by_limit, pod))
            map_put(&going, pod->name, p);
    }
    for (size_t i = 0; i < j->seen->n_services; i++) {
        const struct seen_service *svc = &j->seen->services[i];
        if (!svc->leaving && job_owns_service(j, svc) &&
            (policy == CLEAN_ALL || map_get(&going, svc->name)))
            service_delete(j, p, STAGE_CHANGE, svc);
    }
    map_done(&going);
}

void cleanup(const struct job *j, struct plan *p, bool by_limit)
{
    enum clean_policy policy = job_clean_policy(j);

    if (policy == CLEAN_NONE && !by_limit)
        return;
    delete_services(j, p, by_limit);
    for (size_t i = 0; i < j->seen->n_pods; i++) {
        const struct seen_pod *pod = &j->seen->pods[i];
        if (!pod->leaving && job_owns_pod(j, pod) && goes(policy, by_limit, pod))
            pod_delete(j, p, STAGE_PODS, pod);
    }
}

void ttl(struct job *j, struct plan *p)
{
    jv seconds = jv_get(j->policy, S("ttlSecondsAfterFinished"));
    int64_t from_ms = job_time(jv_get(j->status, S("completionTime"))), at_ms;

    if (!jv_is(seconds, JV_INT) || job_suspended(j) || from_ms < 0)
        return;
    if (__builtin_mul_overflow(jv_int(seconds, 0), 1000, &at_ms) ||
        __builtin_add_overflow(at_ms, from_ms, &at_ms))
        return;
    if (j->seen->now_ms < at_ms) {
        plan_wake(p, at_ms);
        return;
    }
    struct plan_step *s = plan_add(p, PLAN_DELETE, STAGE_AFTER, j->kind->planner.res);
    s->ns = j->ns;
    s->name = j->name;
    s->uid = j->uid;
    s->done_reason = j->kind->deleted_reason;
    s->fail_reason = j->kind->undeleted_reason;
    s->noun = "job";
    step_tell(p, s, (struct plan_note){ .kind = NOTE_COUNT, .counter = COUNT_DELETED, .n = 1 });
}
