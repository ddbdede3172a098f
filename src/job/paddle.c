/* PaddleJob: collective (workers only; they meet at worker 0) or with parameter servers (masters;
 * all meet at master 0). */

#include "job/elastic.h"
#include "job/env.h"
#include "job/kind.h"

#include <inttypes.h>

static const struct kube_resource paddlejobs = { "kubeflow.org", "v1", "paddlejobs", "PaddleJob",
                                                 false };

static const struct schema_field own_rows[] = {
    { S_INIT("elasticPolicy"), &paddle_elastic, FIELD_POINTER, "Accepted, and without effect." },
};
static const struct schema own = { .type = SCHEMA_OBJECT,
                                   .fields = own_rows,
                                   .n_fields = COUNT(own_rows) };

static jv paddle_add_env(struct arena *a, const struct job *j, const struct job_role *r,
                         int64_t index, jv spec)
{
    const struct job_role *meeting = job_leader(j);
    bool has_master = meeting && str_eqz(meeting->type, "Master");
    int64_t port = meeting ? job_port(j, meeting) : j->kind->port;
    struct env e = { .a = a };

    env_add(&e, "PYTHONUNBUFFERED", S("1"));
    env_add(&e, "PADDLE_JOB_ID", j->name);
    env_int(&e, "PADDLE_NNODES", job_total(j));
    /* Where all meet must know the address as its own, and its name is not yet known there. */
    if (r == meeting && index == 0) {
        env_field(&e, "POD_IP_DUMMY", "status.podIP");
        env_add(&e, "PADDLE_MASTER", arena_printf(a, "$(POD_IP_DUMMY):%" PRId64, port));
    } else if (meeting) {
        str host = job_child_name(a, j, meeting, 0);
        env_add(&e, "PADDLE_MASTER", arena_printf(a, "%" PRI_STR ":%" PRId64, STR_ARG(host), port));
    }
    if (has_master)
        env_add(&e, r == meeting ? "PADDLE_SERVER_NUM" : "PADDLE_TRAINER_NUM", S("1"));
    return env_into_all(&e, spec);
}

const struct job_kind paddle_job = {
    .planner = {
        .res = &paddlejobs,
        .controller = "paddlejob-controller",
        .framework = "paddle",
        .main_container = "paddle",
        .plan = job_plan,
        .slim = job_slim,
    },
    .singular = "paddlejob",
    .specs = "paddleReplicaSpecs",
    .container = "paddle",
    .container_told = "\"paddle\"",
    .port_name = "master",
    .port = 36543,
    .restart_policy = RESTART_ON_FAILURE,
    .own = &own,
    .roles = { { .name = "Master", .replicas = 1, .leads = true },
               { .name = "Worker", .replicas = 1, .leads = true } },
    .rules = { rule_name, rule_managed_by_kept, rule_managed_by, rule_map, rule_types,
               rule_containers },
    .fold_case = true,
    .scale = true,
    .selector = true,
    .deleted_reason = "SuccessfulDeletePod",
    .undeleted_reason = "FailedDeletePod",
    .pod_spec = paddle_add_env,
};
