/* PyTorchJob: a master that decides, or workers only; with elasticPolicy torchrun's own rendezvous,
 * and an autoscaler when it names metrics. */

#include "job/pytorch.h"
#include "job/elastic.h"
#include "job/env.h"

#include <inttypes.h>

static const struct kube_resource pytorchjobs = { "kubeflow.org", "v1", "pytorchjobs", "PyTorchJob",
                                                  false };

static const struct schema_field own_rows[] = {
    { S_INIT("elasticPolicy"), &pytorch_elastic, FIELD_POINTER,
      "Lets the number of workers change while they train." },
    { S_INIT("nprocPerNode"), &schema_string, FIELD_POINTER,
      "Processes in each pod: auto (the default), cpu, gpu, or a number." },
};
static const struct schema own = { .type = SCHEMA_OBJECT,
                                   .fields = own_rows,
                                   .n_fields = COUNT(own_rows) };

static jv elastic_of(const struct job *j)
{
    return jv_get(j->spec, S("elasticPolicy"));
}

static bool is_elastic(const struct job *j)
{
    return jv_is(elastic_of(j), JV_OBJ);
}

struct pytorch_bounds pytorch_bounds(const struct job *j)
{
    const struct job_role *workers = job_role_find(j, S("worker"));
    jv min = jv_get(elastic_of(j), S("minReplicas")), max = jv_get(elastic_of(j), S("maxReplicas"));
    int64_t neither = workers ? workers->replicas : 1;

    return (struct pytorch_bounds){
        .min = jv_int(min, jv_int(max, neither)),
        .max = jv_int(max, jv_int(min, neither)),
    };
}

/* "auto" unless something is said, here or in the deprecated place. */
static str processes_of(const struct job *j)
{
    str said = jv_str(jv_get(j->spec, S("nprocPerNode")), STR_NONE);

    if (said.p)
        return said;
    return jv_is_null(jv_get(elastic_of(j), S("nProcPerNode"))) ? S("auto") : STR_NONE;
}

static void add_master(struct env *e, const struct job *j, const struct job_role *master,
                       const struct job_role *r, int64_t index)
{
    int64_t port = job_port(j, master), each = 1;
    str host = job_child_name(e->a, j, master, 0);
    int64_t rank = r == master ? index : index + 1, world;

    if (!str_to_int(processes_of(j), &each))
        each = 1;
    if (__builtin_mul_overflow(job_total(j), each, &world))
        world = INT64_MAX;
    env_int(e, "MASTER_PORT", port);
    env_int(e, "PET_MASTER_PORT", port);
    env_add(e, "MASTER_ADDR", host);
    env_add(e, "PET_MASTER_ADDR", host);
    env_int(e, "WORLD_SIZE", world);
    env_int(e, "RANK", rank);
    env_int(e, "PET_NODE_RANK", rank);
}

static str conf_text(struct arena *a, jv conf)
{
    AUTO(buf) struct buf b = { 0 };

    JV_EACH (it, conf)
        buf_printf(&b, "%s%" PRI_STR "=%" PRI_STR, b.n ? "," : "",
                   STR_ARG(jv_str(jv_get(it.value, S("key")), S(""))),
                   STR_ARG(jv_str(jv_get(it.value, S("value")), S(""))));
    return arena_str(a, buf_str(&b));
}

static void add_elastic(struct env *e, const struct job *j)
{
    const struct job_role *workers = job_role_find(j, S("worker"));
    struct pytorch_bounds bounds = pytorch_bounds(j);
    jv p = elastic_of(j), conf = jv_get(p, S("rdzvConf"));
    str host = jv_str(jv_get(p, S("rdzvHost")),
                      arena_printf(e->a, "%" PRI_STR "-worker-0", STR_ARG(j->name)));
    int64_t port = jv_int(jv_get(p, S("rdzvPort")), workers ? job_port(j, workers) : j->kind->port);

    env_add(e, "PET_RDZV_ENDPOINT",
            arena_printf(e->a, "%" PRI_STR ":%" PRId64, STR_ARG(host), port));
    env_add(e, "PET_RDZV_BACKEND", jv_str(jv_get(p, S("rdzvBackend")), S("c10d")));
    env_add(e, "PET_NNODES", arena_printf(e->a, "%" PRId64 ":%" PRId64, bounds.min, bounds.max));
    if (!jv_is_null(jv_get(p, S("maxRestarts"))))
        env_int(e, "PET_MAX_RESTARTS", jv_int(jv_get(p, S("maxRestarts")), 0));
    if (!jv_is_null(jv_get(p, S("nProcPerNode"))))
        env_int(e, "PET_NPROC_PER_NODE", jv_int(jv_get(p, S("nProcPerNode")), 1));
    if (!jv_is_null(jv_get(p, S("rdzvId"))))
        env_add(e, "PET_RDZV_ID", jv_str(jv_get(p, S("rdzvId")), S("")));
    if (jv_len(conf))
        env_add(e, "PET_RDZV_CONF", conf_text(e->a, conf));
    if (jv_bool(jv_get(p, S("standalone")), false))
        env_add(e, "PET_STANDALONE", S("1")); /* torchrun reads a number */
}

static jv pytorch_pod_spec(struct arena *a, const struct job *j, const struct job_role *r,
                           int64_t index, jv spec)
{
    const struct job_role *master = job_role_find(j, S("master"));
    struct env e = { .a = a };

    env_add(&e, "PYTHONUNBUFFERED", S("1"));
    if (master)
        add_master(&e, j, master, r, index);
    if (processes_of(j).p)
        env_add(&e, "PET_NPROC_PER_NODE", processes_of(j));
    if (is_elastic(j))
        add_elastic(&e, j);
    else
        env_int(&e, "PET_NNODES", job_total(j));
    spec = env_into_all(&e, spec);
    if (master && r != master)
        spec = pytorch_wait(a, j, r, job_child_name(a, j, master, 0), spec);
    return spec;
}

/* Workers alone are on their own: torchrun would wait for the others where nobody is. */
static str pytorch_advise(const struct job *j)
{
    const struct job_role *leader = job_leader(j);

    if (!jv_is_null(jv_at(j->spec, "elasticPolicy", "nProcPerNode")))
        return S("spec.elasticPolicy.nProcPerNode is deprecated, use spec.nprocPerNode instead");
    if (leader && str_eqz(leader->type, "Worker") && leader->replicas > 1 && !is_elastic(j))
        return S("spec.pytorchReplicaSpecs: without Master or elasticPolicy workers are not told "
                 "where to meet: they get no RANK and no MASTER_ADDR");
    return STR_NONE;
}

/* One that is done has seen the end of the training. */
static bool pytorch_is_done(const struct job *j)
{
    const struct job_role *leader = job_leader(j);

    return is_elastic(j) && str_eqz(leader->type, "Worker") && leader->succeeded > 0;
}

const struct job_kind pytorch_job = {
    .planner = {
        .res = &pytorchjobs,
        .controller = "pytorchjob-controller",
        .framework = "pytorch",
        .main_container = "pytorch",
        .owned = pytorch_owned,
        .plan = job_plan,
        .slim = job_slim,
    },
    .singular = "pytorchjob",
    .specs = "pytorchReplicaSpecs",
    .container = "pytorch",
    .port_name = "pytorchjob-port",
    .port = 23456,
    .restart_policy = RESTART_ON_FAILURE,
    .own = &own,
    .roles = { { .name = "Master", .replicas = 1, .leads = true, .one = true },
               { .name = "Worker", .replicas = 1, .leads = true, .least = 1 } },
    .rules = { rule_name, rule_managed_by_kept, rule_managed_by, rule_elastic_worker,
               rule_one_processes, rule_map, rule_types, rule_containers, rule_counts,
               rule_processes, rule_bounds },
    .fold_case = true,
    .scale = true,
    .selector = true,
    .elastic = true,
    .deleted_reason = "SuccessfulDeletePod",
    .undeleted_reason = "FailedDeletePod",
    .is_done = pytorch_is_done,
    .pod_spec = pytorch_pod_spec,
    .advise = pytorch_advise,
    .extras = pytorch_extras,
};
