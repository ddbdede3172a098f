/* Advice for who writes a job: what is taken as it stands, but mostly is a slip. */

#include "job/kind.h"

/* A Kubernetes Job would try again, and so many think this one does. */
static str advise_on_limit(const struct job *j)
{
    if (jv_int(jv_get(j->policy, S("backoffLimit")), 0) <= 0 || !j->n_roles)
        return STR_NONE;
    for (size_t i = 0; i < j->n_roles; i++)
        if (j->roles[i].policy != RESTART_NEVER)
            return STR_NONE;
    return S("spec.runPolicy.backoffLimit: without effect: with restartPolicy Never the first "
             "failure ends the job");
}

str job_advise(struct arena *a, const struct job_kind *kind, jv obj)
{
    const struct job *j = job_read(a, kind, obj, NULL);
    str own = kind->advise ? kind->advise(j) : STR_NONE;

    return own.n ? own : advise_on_limit(j);
}
