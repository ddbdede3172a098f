/* The table of kinds, in the order they are shown. */

#include "job/kinds.h"

extern const struct job_kind jax_job, mpi_job, paddle_job, pytorch_job, tf_job, xgboost_job;

static const struct job_kind *const kinds[] = {
    &tf_job, &pytorch_job, &xgboost_job, &mpi_job, &paddle_job, &jax_job,
};

const struct job_kind *job_kind_at(size_t i)
{
    return i < COUNT(kinds) ? kinds[i] : NULL;
}

const struct planner *job_planner(size_t i)
{
    return i < COUNT(kinds) ? &kinds[i]->planner : NULL;
}

const struct job_kind *job_kind_find(str kind)
{
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (str_eq_nocase(str_of(kinds[i]->planner.res->kind), kind))
            return kinds[i];
    return NULL;
}

const struct job_kind *job_kind_of(jv obj)
{
    str version = jv_str(jv_get(obj, S("apiVersion")), S(""));
    str group = str_cut(&version, '/');
    str kind = jv_str(jv_get(obj, S("kind")), S(""));

    for (size_t i = 0; i < COUNT(kinds); i++)
        if (str_eqz(kind, kinds[i]->planner.res->kind) &&
            str_eqz(group, kinds[i]->planner.res->group))
            return kinds[i];
    return NULL;
}
