/* How much of a job must start together. */

#include "job/gang.h"

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

struct gang_size gang_size_of(const struct job *j)
{
    int64_t total = job_total(j);
    int64_t asked = jv_int(jv_at(j->policy, "schedulingPolicy", "minAvailable"), -1);
    int64_t min = asked > 0 ? asked : total - elastic_surplus(j);

    return (struct gang_size){ .min = min < total ? min : total, .total = total };
}

bool gang_of(struct arena *a, jv obj, struct gang_size *out)
{
    const struct job_kind *kind = job_kind_of(obj);

    if (!kind)
        return false;
    const struct job *j = job_read(a, kind, obj, NULL);
    if (job_total(j) < 1 || job_suspended(j))
        return false;
    *out = gang_size_of(j);
    return true;
}
