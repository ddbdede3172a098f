/* What only PyTorchJobs must be like. */

#include "job/pytorch.h"

static jv elastic_of(jv spec)
{
    return jv_get(spec, S("elasticPolicy"));
}

void rule_elastic_worker(struct check *c)
{
    struct path at = path_key(&c->map_path, S("Worker"));
    bool lacks = jv_is(elastic_of(c->spec), JV_OBJ) && jv_is_null(jv_get(c->map, S("Worker")));
    bool lacked =
        jv_is(elastic_of(c->old_spec), JV_OBJ) && jv_is_null(jv_get(c->old_map, S("Worker")));

    if (lacks && !lacked)
        problem_required(c->ps, &at, "must be configured if elastic policy is used");
}

void rule_one_processes(struct check *c)
{
    struct path elastic = path_field(&c->spec_path, S("elasticPolicy"));
    struct path at = path_field(&elastic, S("nProcPerNode"));
    bool both = !jv_is_null(jv_get(c->spec, S("nprocPerNode"))) &&
                !jv_is_null(jv_get(elastic_of(c->spec), S("nProcPerNode")));
    bool before = !jv_is_null(jv_get(c->old_spec, S("nprocPerNode"))) &&
                  !jv_is_null(jv_get(elastic_of(c->old_spec), S("nProcPerNode")));

    if (both && !before)
        problem_forbidden(c->ps, &at, "must not be used with spec.nprocPerNode");
}

void rule_processes(struct check *c)
{
    struct path at = path_field(&c->spec_path, S("nprocPerNode"));
    jv now = jv_get(c->spec, S("nprocPerNode"));
    int64_t n = 1;

    if (str_to_int(jv_str(now, S("")), &n) && n < 1 &&
        check_is_new(c, now, jv_get(c->old_spec, S("nprocPerNode"))))
        problem_invalid(c->ps, &at, now, "must be at least 1");
}

static bool is_upside_down(jv elastic)
{
    jv min = jv_get(elastic, S("minReplicas")), max = jv_get(elastic, S("maxReplicas"));

    return jv_is(min, JV_INT) && jv_is(max, JV_INT) && jv_int(min, 0) > jv_int(max, 0);
}

void rule_bounds(struct check *c)
{
    struct path elastic = path_field(&c->spec_path, S("elasticPolicy"));
    struct path at = path_field(&elastic, S("minReplicas"));
    jv now = elastic_of(c->spec);

    if (is_upside_down(now) && check_is_new(c, now, elastic_of(c->old_spec)))
        problem_invalid(c->ps, &at, jv_get(now, S("minReplicas")),
                        "must not be greater than maxReplicas");
}
