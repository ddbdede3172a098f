/* TFJob: parameter servers, workers, a chief (or master) and evaluators. The chief decides; without
 * one the first worker does, or all of them if asked. */

#include "job/kind.h"
#include "job/tf_config.h"

#include <inttypes.h>

static const struct kube_resource tfjobs = { "kubeflow.org", "v1", "tfjobs", "TFJob", false };

static const struct schema_field own_rows[] = {
    { S_INIT("successPolicy"), &schema_string, FIELD_POINTER,
      "When a job without a chief has succeeded: AllWorkers, or once worker 0 has (the default)." },
    { S_INIT("enableDynamicWorker"), &schema_bool, 0,
      "Whether workers may come and go: each is told only of itself and the parameter servers." },
};
static const struct schema own = { .type = SCHEMA_OBJECT,
                                   .fields = own_rows,
                                   .n_fields = COUNT(own_rows) };

static bool is_type(const struct job_role *r, const char *type)
{
    return str_eqz(r->type, type);
}

static bool is_chief(const struct job_role *r)
{
    return is_type(r, "Chief") || is_type(r, "Master");
}

static str tf_text(struct arena *a, const struct job *j, enum job_text which,
                   const struct job_role *r)
{
    switch (which) {
    case TEXT_RUNNING:
        return arena_printf(a, "TFJob %" PRI_STR "/%" PRI_STR " is running.", STR_ARG(j->ns),
                            STR_ARG(j->name));
    case TEXT_SUCCEEDED:
        return arena_printf(a, "TFJob %" PRI_STR "/%" PRI_STR " successfully completed.",
                            STR_ARG(j->ns), STR_ARG(j->name));
    case TEXT_RESTARTING:
        return arena_printf(
            a, "job %" PRI_STR " is restarting because %" PRI_STR " replica(s) failed.",
            STR_ARG(j->name), STR_ARG(r->type));
    case TEXT_FAILED:
        break;
    }
    return arena_printf(a,
                        "TFJob %" PRI_STR "/%" PRI_STR " has failed because %" PRId64 " %" PRI_STR
                        " replica(s) failed.",
                        STR_ARG(j->ns), STR_ARG(j->name), r->failed, STR_ARG(r->type));
}

static bool tf_is_done(const struct job *j)
{
    str policy = jv_str(jv_get(j->spec, S("successPolicy")), S(""));

    return !is_chief(job_leader(j)) && j->first_is_done && !str_eq(policy, S("AllWorkers"));
}

static bool tf_forgives(const struct job *j, const struct job_role *r)
{
    return is_type(r, "Worker") && r->policy == RESTART_NEVER &&
           jv_bool(jv_get(j->spec, S("enableDynamicWorker")), false);
}

static void tf_prepare(struct job *j)
{
    if (tf_is_distributed(j))
        j->kept = tf_config_prepare(j);
}

static jv tf_add_env(struct arena *a, const struct job *j, const struct job_role *r, int64_t index,
                     jv spec)
{
    jv containers = jv_get(spec, S("containers"));

    if (!tf_is_distributed(j))
        return spec;
    JV_EACH (c, containers) {
        if (!str_eqz(jv_str(jv_get(c.value, S("name")), S("")), j->kind->container))
            continue;
        jv env = jobj(a, { "name", jstrz(a, "TF_CONFIG") },
                      { "value", jstr(a, tf_config_text(a, j, r, index)) });
        jv dressed = job_container_with_env(a, c.value, &env, 1);
        return jv_with_key(a, spec, S("containers"),
                           jv_with_index(a, containers, c.i - 1, dressed));
    }
    return spec;
}

static void one_chief(struct check *c)
{
    bool both = jv_exists(jv_get(c->map, S("Chief"))) && jv_exists(jv_get(c->map, S("Master")));
    bool before =
        jv_exists(jv_get(c->old_map, S("Chief"))) && jv_exists(jv_get(c->old_map, S("Master")));

    if (both && !before)
        problem_forbidden(c->ps, &c->map_path, "must not have more than 1 Chief or Master role");
}

/* What is taken as it stands, but mostly is a slip: such a job may never end. */
static str tf_advise(const struct job *j)
{
    const char *says = job_leader(j) ? "it has no say in" : "nothing here decides";

    for (size_t i = 0; i < j->n_roles; i++)
        if (!j->roles[i].row)
            return arena_printf(j->a,
                                "spec.tfReplicaSpecs[%" PRI_STR
                                "]: not one of Chief, Evaluator, Master, PS and Worker: %s how "
                                "the job ends",
                                STR_ARG(j->roles[i].key), says);
    if (j->n_roles && !job_leader(j))
        return S("spec.tfReplicaSpecs: without Chief, Master or Worker nothing decides how the job "
                 "ends");
    return STR_NONE;
}

const struct job_kind tf_job = {
    .planner = {
        .res = &tfjobs,
        .controller = "tfjob-controller",
        .framework = "tensorflow",
        .main_container = "tensorflow",
        .plan = job_plan,
        .slim = job_slim,
    },
    .singular = "tfjob",
    .specs = "tfReplicaSpecs",
    .container = "tensorflow",
    .port_name = "tfjob-port",
    .port = 2222,
    .restart_policy = RESTART_NEVER,
    .own = &own,
    .roles = {
        { .name = "Chief", .replicas = 1, .leads = true },
        { .name = "Evaluator", .replicas = 1 },
        { .name = "Master", .replicas = 1, .leads = true, .beside = "Chief" },
        { .name = "PS", .replicas = 1, .serves = true },
        { .name = "Worker", .replicas = 1, .leads = true },
    },
    .rules = { rule_name, rule_managed_by_kept, rule_managed_by, rule_map, rule_containers,
               one_chief },
    .fold_case = true,
    .scale = true,
    .counts_exit = true,
    .legacy_labels = true,
    .deleted_reason = "SuccessfulDeleteJob",
    .undeleted_reason = "FailedDeleteJob",
    .text = tf_text,
    .is_done = tf_is_done,
    .forgives = tf_forgives,
    .prepare = tf_prepare,
    .pod_spec = tf_add_env,
    .advise = tf_advise,
};
