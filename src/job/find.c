/* Finding a kind in the table. */

#include "job/kinds.h"

const struct job_kind *job_kind_at(size_t i)
{
    for (size_t n = 0; n < i; n++)
        if (!job_kinds[n])
            return NULL;
    return job_kinds[i];
}

const struct planner *job_planner(size_t i)
{
    const struct job_kind *k = job_kind_at(i);

    return k ? &k->planner : NULL;
}

const struct job_kind *job_kind_find(str kind)
{
    for (size_t i = 0; job_kinds[i]; i++)
        if (str_eq_nocase(str_of(job_kinds[i]->planner.res->kind), kind))
            return job_kinds[i];
    return NULL;
}

const struct job_kind *job_kind_of(jv obj)
{
    str version = jv_str(jv_get(obj, S("apiVersion")), S(""));
    str group = str_cut(&version, '/');
    str kind = jv_str(jv_get(obj, S("kind")), S(""));

    for (size_t i = 0; job_kinds[i]; i++)
        if (str_eqz(kind, job_kinds[i]->planner.res->kind) &&
            str_eqz(group, job_kinds[i]->planner.res->group))
            return job_kinds[i];
    return NULL;
}
