/* Deleting pods and services: all a job has, or what the end of it leaves over. */

#include "base/map.h"
#include "job/classify.h"
#include "job/steps.h"

/* A limit stops what still runs under any policy; pods that ended follow the policy. */
static bool pod_goes(const struct job *j, const struct sweep *s, const struct seen_pod *pod)
{
    enum clean_policy policy = s->all ? CLEAN_ALL : job_clean_policy(j);

    if (!job_owns_pod(j, pod))
        return false;
    if (policy == CLEAN_ALL)
        return true;
    if (s->by_limit && pod->phase != POD_SUCCEEDED && pod->phase != POD_FAILED)
        return true;
    return policy == CLEAN_RUNNING && (pod->phase == POD_RUNNING || pod->phase == POD_PENDING);
}

static str next_role(const struct observed *seen, size_t pod, size_t svc)
{
    if (pod == seen->n_pods)
        return seen->services[svc].role;
    if (svc == seen->n_services || str_cmp(seen->pods[pod].role, seen->services[svc].role) <= 0)
        return seen->pods[pod].role;
    return seen->services[svc].role;
}

void job_sweep(const struct job *j, struct plan *p, struct sweep s)
{
    const struct observed *seen = j->seen;
    bool all = s.all || job_clean_policy(j) == CLEAN_ALL;
    struct map going = { 0 }; /* by name; those that are leaving already, too */
    size_t pod = 0, svc = 0;

    for (size_t i = 0; !all && i < seen->n_pods; i++)
        if (pod_goes(j, &s, &seen->pods[i]))
            map_put(&going, seen->pods[i].name, p);
    while (pod < seen->n_pods || svc < seen->n_services) {
        str role = next_role(seen, pod, svc);
        for (; pod < seen->n_pods && str_eq(seen->pods[pod].role, role); pod++)
            if (!seen->pods[pod].leaving && pod_goes(j, &s, &seen->pods[pod]))
                job_delete_pod(j, p, s.pods_stage, &seen->pods[pod]);
        for (; svc < seen->n_services && str_eq(seen->services[svc].role, role); svc++)
            if (!seen->services[svc].leaving && job_owns_service(j, &seen->services[svc]) &&
                (all || map_get(&going, seen->services[svc].name)))
                job_delete_service(j, p, s.services_stage, &seen->services[svc]);
    }
    map_done(&going);
}
