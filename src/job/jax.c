/* JAXJob: workers only; worker 0 is the coordinator everyone dials, and all of them must succeed.
 */

#include "job/env.h"
#include "job/kind.h"

static const struct kube_resource jaxjobs = { "kubeflow.org", "v1", "jaxjobs", "JAXJob", false };

static jv jax_add_env(struct arena *a, const struct job *j, const struct job_role *r, int64_t index,
                      jv spec)
{
    struct env e = { .a = a };

    env_add(&e, "PYTHONUNBUFFERED", S("1"));
    env_int(&e, "COORDINATOR_PORT", job_port(j, r));
    env_add(&e, "COORDINATOR_ADDRESS", job_child_name(a, j, r, 0));
    env_int(&e, "NUM_PROCESSES", job_total(j));
    env_int(&e, "PROCESS_ID", index);
    return env_into_all(&e, spec);
}

const struct job_kind jax_job = {
    .planner = {
        .res = &jaxjobs,
        .controller = "jaxjob-controller",
        .framework = "jax",
        .main_container = "jax",
        .plan = job_plan,
        .slim = job_slim,
    },
    .singular = "jaxjob",
    .specs = "jaxReplicaSpecs",
    .container = "jax",
    .port_name = "jaxjob-port",
    .port = 6666,
    .restart_policy = RESTART_NEVER,
    .roles = { { .name = "Worker", .replicas = 1, .leads = true } },
    .rules = { rule_name, rule_managed_by_kept, rule_managed_by, rule_map, rule_types,
               rule_containers },
    .fold_case = true,
    .scale = true,
    .selector = true,
    .deleted_reason = "SuccessfulDeletePod",
    .undeleted_reason = "FailedDeletePod",
    .pod_spec = jax_add_env,
};
