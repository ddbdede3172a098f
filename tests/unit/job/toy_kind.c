/* RelayJob: a kind that nobody else has, to show what one takes. One starter fires; runners carry a
 * baton in the order of their numbers, as many laps as spec.laps says. */

#include "job/env.h"
#include "job/kind.h"

static const struct kube_resource relayjobs = { "example.com", "v1", "relayjobs", "RelayJob",
                                                false };

static const struct schema_field own_rows[] = {
    { S_INIT("laps"), &schema_int32, FIELD_POINTER,
      "How often the baton goes round; 1 by default." },
};
static const struct schema own = { .type = SCHEMA_OBJECT,
                                   .fields = own_rows,
                                   .n_fields = COUNT(own_rows) };

static jv relay_add_env(struct arena *a, const struct job *j, const struct job_role *r,
                        int64_t index, jv spec)
{
    const struct job_role *starter = job_leader(j), *runners = job_role_find(j, S("runner"));
    struct env e = { .a = a };

    if (starter)
        env_add(&e, "RELAY_STARTER", job_child_name(a, j, starter, 0));
    env_int(&e, "RELAY_PORT", job_port(j, r));
    env_int(&e, "RELAY_LAPS", jv_int(jv_get(j->spec, S("laps")), 1));
    if (r == runners) {
        env_int(&e, "RELAY_NUMBER", index);
        env_add(&e, "RELAY_NEXT", job_child_name(a, j, r, (index + 1) % r->replicas));
    }
    return env_into_all(&e, spec);
}

static void rule_laps(struct check *c)
{
    struct path at = path_field(&c->spec_path, S("laps"));
    jv now = jv_get(c->spec, S("laps"));

    if (jv_int(now, 1) < 1 && check_is_new(c, now, jv_get(c->old_spec, S("laps"))))
        problem_invalid(c->ps, &at, now, "must be at least 1");
}

extern const struct job_kind relay_job;
const struct job_kind relay_job = {
    .planner = {
        .res = &relayjobs,
        .controller = "relayjob-controller",
        .framework = "relay",
        .main_container = "relay",
        .plan = job_plan,
        .slim = job_slim,
    },
    .singular = "relayjob",
    .specs = "relayReplicaSpecs",
    .container = "relay",
    .port_name = "relay",
    .port = 4400,
    .restart_policy = RESTART_ON_FAILURE,
    .own = &own,
    .roles = { { .name = "Starter", .replicas = 1, .leads = true, .needed = true, .one = true },
               { .name = "Runner", .replicas = 4 } },
    .rules = { rule_name, rule_managed_by_kept, rule_managed_by, rule_map, rule_types,
               rule_containers, rule_counts, rule_needed, rule_laps },
    .fold_case = true,
    .deleted_reason = "SuccessfulDeleteJob",
    .undeleted_reason = "FailedDeleteJob",
    .pod_spec = relay_add_env,
};
