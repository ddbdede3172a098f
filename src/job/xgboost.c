/* XGBoostJob: one master, which runs the tracker and decides, and workers. Serves XGBoost and
 * LightGBM alike: the latter's launchers read the addresses of all workers. */

#include "job/env.h"
#include "job/kind.h"

#include <inttypes.h>

static const struct kube_resource xgboostjobs = { "kubeflow.org", "v1", "xgboostjobs", "XGBoostJob",
                                                  false };

static str worker_addresses(struct arena *a, const struct job *j, int64_t n)
{
    AUTO(buf) struct buf b = { 0 };

    for (int64_t i = 0; i < n; i++)
        buf_printf(&b, "%s%" PRI_STR "-worker-%" PRId64, i ? "," : "", STR_ARG(j->name), i);
    return arena_str(a, buf_str(&b));
}

static void xgboost_prepare(struct job *j)
{
    str *addresses = ARENA_NEW(j->a, str);

    *addresses = worker_addresses(j->a, j, job_total(j) - 1);
    j->kept = addresses;
}

static jv xgboost_add_env(struct arena *a, const struct job *j, const struct job_role *r,
                          int64_t index, jv spec)
{
    const struct job_role *master = job_leader(j), *worker = job_role_find(j, S("worker"));
    const str *addresses = j->kept;
    struct env e = { .a = a };

    env_int(&e, "MASTER_PORT", master ? job_port(j, master) : j->kind->port);
    env_add(&e, "MASTER_ADDR", arena_printf(a, "%" PRI_STR "-master-0", STR_ARG(j->name)));
    env_int(&e, "WORLD_SIZE", job_total(j));
    env_int(&e, "RANK", r == master || !master ? index : index + master->replicas);
    env_add(&e, "PYTHONUNBUFFERED", S("1"));
    if (job_total(j) > 1) {
        env_int(&e, "WORKER_PORT", worker ? job_port(j, worker) : j->kind->port);
        env_add(&e, "WORKER_ADDRS", *addresses);
    }
    return env_into_all(&e, spec);
}

const struct job_kind xgboost_job = {
    .planner = {
        .res = &xgboostjobs,
        .controller = "xgboostjob-controller",
        .framework = "xgboost",
        .main_container = "xgboost",
        .plan = job_plan,
        .slim = job_slim,
    },
    .singular = "xgboostjob",
    .specs = "xgbReplicaSpecs",
    .container = "xgboost",
    .port_name = "xgboostjob-port",
    .port = 9999,
    .restart_policy = RESTART_NEVER,
    .roles = { { .name = "Master", .replicas = 1, .leads = true, .needed = true, .one = true },
               { .name = "Worker", .replicas = 1 } },
    .rules = { rule_name, rule_managed_by_kept, rule_managed_by, rule_map, rule_types,
               rule_containers, rule_counts, rule_needed },
    .fold_case = true,
    .runs_first = true,
    .deleted_reason = "SuccessfulDeleteJob",
    .undeleted_reason = "FailedDeleteJob",
    .prepare = xgboost_prepare,
    .pod_spec = xgboost_add_env,
};
