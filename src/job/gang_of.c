/* How much of a job must start together. */

#include "job/gang_of.h"

#include "job/kinds.h"

/* Of an elastic job the workers above the fewest that can train come when there is room. */
static int64_t elastic_surplus(const struct job *j)
{
    const struct job_role *workers = job_role_find(j, S("worker"));
    int64_t least = jv_int(jv_at(j->spec, "elasticPolicy", "minReplicas"), -1);

    if (!workers || least < 1 || least >= workers->replicas)
        return 0;
    return workers->replicas - least;
}

bool gang_of(struct arena *a, jv obj, struct gang_size *out)
{
    const struct job_kind *kind = job_kind_of(obj);

    if (!kind)
        return false;
    const struct job *j = job_read(a, kind, obj, NULL);
    int64_t total = job_total(j);
    if (total < 1 || job_suspended(j))
        return false;
    int64_t asked = jv_int(jv_at(j->policy, "schedulingPolicy", "minAvailable"), -1);
    int64_t min = asked > 0 ? asked : total - elastic_surplus(j);
    *out = (struct gang_size){ .min = min < total ? min : total, .total = total };
    return true;
}
