/* A gang that lost a member and gets no other in its place holds what it has and trains nothing. A
 * scheduler may have given the place away and then does nothing of its own. It is seen here by the
 * job's pods, which say the same for every scheduler: some members have a node, but not enough. */

#include "job/gang_parts.h"
#include "job/kind.h"

#include <inttypes.h>

int64_t gang_placed(const struct job *j)
{
    int64_t n = 0;

    for (size_t i = 0; i < j->seen->n_pods; i++) {
        enum pod_class class = j->classes[i];
        n += class == CLASS_DONE || class == CLASS_ACTIVE ||
             (class == CLASS_PENDING && j->seen->pods[i].bound);
    }
    return n;
}

/* How many must run together: of a job that grew while it runs, as many as it started with. */
static int64_t least_of(const struct job *j)
{
    int64_t min = gang_size_of(j).min, start = gang_number(gang_group_now(j), GANG_START_SIZE, min);

    return start < min ? start : min;
}

void gang_watch(struct job *j, struct plan *p)
{
    int64_t since_ms = j->seen->short_since_ms, now_ms = j->seen->now_ms;

    if (!gang_back_end(j))
        return;
    int64_t placed = gang_placed(j), hold_ms = j->seen->settings->gang_hold_ms;
    p->gang_short = placed > 0 && placed < least_of(j);
    if (!p->gang_short)
        return;
    if (!since_ms || since_ms > now_ms)
        since_ms = now_ms;
    j->is_gang_broken = now_ms - since_ms >= hold_ms;
    if (!j->is_gang_broken)
        plan_wake(p, since_ms + hold_ms);
}

/* Kubernetes' own groups have a priority only with one more feature gate; their pods always. */
static const char *advice_of(const struct job *j)
{
    if (j->seen->settings->gang != GANG_KUBE)
        return jv_str(jv_at(j->policy, "schedulingPolicy", "priorityClass"), S("")).n
                   ? ""
                   : " With schedulingPolicy.priorityClass other jobs give way.";
    for (size_t i = 0; i < j->n_roles; i++)
        if (jv_str(jv_at(j->roles[i].template, "spec", "priorityClassName"), S("")).n)
            return "";
    return " With a priorityClassName in its pod templates other jobs give way.";
}

str gang_broken_text(const struct job *j)
{
    return arena_printf(
        j->a,
        "%s %" PRI_STR " is restarting because its gang is broken: for %" PRId64 " s only %" PRId64
        " of the %" PRId64 " pods that must run together have had a node. All replicas are deleted "
        "and created again (gang restart %" PRId64 ").%s",
        j->kind->planner.res->kind, STR_ARG(j->name), j->seen->settings->gang_hold_ms / 1000,
        gang_placed(j), least_of(j), j->attempt.gangs + 1, advice_of(j));
}

str gang_limit_text(const struct job *j)
{
    return arena_printf(j->a,
                        "Job %" PRI_STR
                        " has failed because its gang was broken again after as many restarts as "
                        "--gang-max-restarts allows",
                        STR_ARG(j->name));
}

bool gang_is_spent(const struct job *j)
{
    int64_t most = j->seen->settings->gang_max_restarts;

    return most >= 0 && j->attempt.gangs >= most;
}
