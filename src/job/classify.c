/* Pods to classes, classes to counters. A pod that is being deleted was removed, it did not fail:
 * it counts only if it succeeded. */

#include "job/classify.h"
#include "job/kind.h"

enum { FIRST_RETRYABLE_CODE = 128 };

bool job_owns_pod(const struct job *j, const struct seen_pod *pod)
{
    return j->uid.n && str_eq(pod->owner, j->uid);
}

bool job_owns_service(const struct job *j, const struct seen_service *svc)
{
    return j->uid.n && str_eq(svc->owner, j->uid);
}

int64_t job_pod_index(const struct job_role *r, const struct seen_pod *pod)
{
    return r->row && r->row->single ? 0 : pod->index;
}

static enum pod_class class_of_failed(const struct job_role *r, const struct seen_pod *pod)
{
    if (!r->policy_known)
        return CLASS_BROKEN;
    switch (r->policy) {
    case RESTART_NEVER:
        return CLASS_PERMANENT;
    case RESTART_ON_FAILURE:
    case RESTART_ALWAYS:
        return CLASS_RESTARTABLE;
    case RESTART_EXIT_CODE:
        break;
    }
    return pod->has_exit && pod->exit_code < FIRST_RETRYABLE_CODE ? CLASS_PERMANENT
                                                                  : CLASS_RESTARTABLE;
}

static enum pod_class class_of(const struct job *j, const struct job_role *r,
                               const struct seen_pod *pod)
{
    if (r->replicas_known && job_pod_index(r, pod) >= r->replicas)
        return CLASS_SURPLUS;
    if (pod->attempt < j->attempt.n)
        return pod->leaving ? CLASS_LEAVING : CLASS_OUTDATED;
    if (pod->leaving && pod->phase != POD_SUCCEEDED)
        return CLASS_LEAVING;
    switch (pod->phase) {
    case POD_SUCCEEDED:
        return CLASS_DONE;
    case POD_FAILED:
        return class_of_failed(r, pod);
    case POD_RUNNING:
        return CLASS_ACTIVE;
    case POD_PENDING:
    case POD_UNKNOWN:
        break;
    }
    return CLASS_PENDING;
}

static void count(struct job *j, struct job_role *r, const struct seen_pod *pod,
                  enum pod_class class)
{
    switch (class) {
    case CLASS_DONE:
        r->succeeded++;
        if (r == job_leader(j) && job_pod_index(r, pod) == 0 && pod->has_exit &&
            pod->exit_code == 0)
            j->first_is_done = true;
        break;
    case CLASS_PERMANENT:
        r->n_permanent++;
        r->failed++;
        break;
    case CLASS_RESTARTABLE:
        r->n_restartable++;
        r->failed++;
        break;
    case CLASS_BROKEN:
        r->failed++;
        break;
    case CLASS_ACTIVE:
        r->active++;
        if (r->policy_known && r->policy != RESTART_NEVER)
            j->kubelet_restarts += pod->restarts;
        break;
    case CLASS_LEAVING:
        j->is_replacing |= pod->phase == POD_FAILED;
        break;
    case CLASS_FOREIGN:
    case CLASS_SURPLUS:
    case CLASS_TWIN:
    case CLASS_OUTDATED:
    case CLASS_WAITING:
    case CLASS_PENDING:
        break;
    }
}

void job_classify(struct job *j)
{
    const struct seen_pod *pods = j->seen->pods;
    size_t n = j->seen->n_pods, last = 0;
    struct job_role *last_role = NULL;
    struct job_role **roles = ARENA_ARRAY(j->a, struct job_role *, n + 1);

    j->classes = ARENA_ARRAY(j->a, enum pod_class, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct job_role *r = last_role && str_eq(last_role->label, pods[i].role)
                                 ? last_role
                                 : job_role_find(j, pods[i].role);
        if (!r || !job_owns_pod(j, &pods[i]) || job_pod_index(r, &pods[i]) < 0)
            continue;
        j->classes[i] = class_of(j, r, &pods[i]);
        roles[i] = r;
        if (last_role == r && j->classes[i] != CLASS_SURPLUS && j->classes[i] != CLASS_OUTDATED &&
            j->classes[last] != CLASS_OUTDATED &&
            job_pod_index(r, &pods[last]) == job_pod_index(r, &pods[i]))
            j->classes[i] = j->classes[last] = CLASS_TWIN;
        last = i;
        last_role = r;
    }
    for (size_t i = 0; i < n; i++)
        if (roles[i])
            count(j, roles[i], &pods[i], j->classes[i]);
}
