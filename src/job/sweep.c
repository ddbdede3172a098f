/* Deleting pods and services: all a job has, or what the end of it leaves over. */

#include "base/map.h"
#include "job/classify.h"
#include "job/steps.h"

/* Beyond the replicas asked for. Such a pod goes under any policy while it has not ended: nobody
 * wants it. */
static bool is_surplus(const struct job *j, str role, int64_t index)
{
    const struct job_role *r = job_role_find(j, role);

    return r && r->replicas_known && index >= r->replicas;
}

/* A limit stops what still runs under any policy; pods that ended follow the policy. */
static bool pod_goes(const struct job *j, const struct sweep *s, const struct seen_pod *pod)
{
    enum clean_policy policy = s->all ? CLEAN_ALL : job_clean_policy(j);

    if (!job_owns_pod(j, pod))
        return false;
    if (policy == CLEAN_ALL)
        return true;
    bool ended = pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED;
    if (!ended && (s->by_limit || is_surplus(j, pod->role, pod->index)))
        return true;
    return policy == CLEAN_RUNNING && (pod->phase == POD_RUNNING || pod->phase == POD_PENDING);
}

/* As its pod does; one without goes if it is surplus. */
static bool service_goes(const struct job *j, const struct sweep *s, const struct map *pods,
                         const struct seen_service *svc)
{
    const struct seen_pod *pod = map_get(pods, svc->name);

    if (!job_owns_service(j, svc))
        return false;
    if (s->all || job_clean_policy(j) == CLEAN_ALL)
        return true;
    return pod ? pod_goes(j, s, pod) : is_surplus(j, svc->role, svc->index);
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
    struct map pods = { 0 }; /* by name */
    size_t pod = 0, svc = 0;

    for (size_t i = 0; seen->n_services && i < seen->n_pods; i++)
        if (job_owns_pod(j, &seen->pods[i]))
            map_put(&pods, seen->pods[i].name, (void *)(uintptr_t)&seen->pods[i]);
    while (pod < seen->n_pods || svc < seen->n_services) {
        str role = next_role(seen, pod, svc);
        for (; pod < seen->n_pods && str_eq(seen->pods[pod].role, role); pod++)
            if (!seen->pods[pod].leaving && pod_goes(j, &s, &seen->pods[pod]))
                job_delete_pod(j, p, s.pods_stage, &seen->pods[pod]);
        for (; svc < seen->n_services && str_eq(seen->services[svc].role, role); svc++)
            if (!seen->services[svc].leaving && service_goes(j, &s, &pods, &seen->services[svc]))
                job_delete_service(j, p, s.services_stage, &seen->services[svc]);
    }
    map_done(&pods);
}
