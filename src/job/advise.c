/* Advice for who writes a job: what is taken as it stands, but mostly is a slip. */

#include "base/time.h"
#include "job/kind.h"
#include "job/stall.h"
#include "job/whole_restart.h"

#include <inttypes.h>

/* A Kubernetes Job would try again, and so many think this one does. */
static str advise_on_limit(const struct job *j)
{
    if (jv_int(jv_get(j->policy, S("backoffLimit")), 0) <= 0 || !j->n_roles ||
        job_on_stall(j) == ON_STALL_RESTART)
        return STR_NONE;
    for (size_t i = 0; i < j->n_roles; i++)
        if (j->roles[i].policy != RESTART_NEVER)
            return STR_NONE;
    return S("spec.runPolicy.backoffLimit: without effect: with restartPolicy Never the first "
             "failure ends the job");
}

/* A gang scheduler takes the number as it stands, and waits for pods that nobody makes. */
static str advise_on_gang(struct arena *a, const struct job *j)
{
    int64_t total = job_total(j);
    int64_t min = jv_int(jv_at(j->policy, "schedulingPolicy", "minAvailable"), 0);

    if (min >= 0 && (min <= total || jv_is(jv_get(j->spec, S("elasticPolicy")), JV_OBJ)))
        return STR_NONE;
    return arena_printf(a,
                        "spec.runPolicy.schedulingPolicy.minAvailable: %" PRId64 " of %" PRId64
                        " replicas: with a gang scheduler the job never starts",
                        min, total);
}

/* at: the field that the metadata are in. */
static str advise_on_annotations(struct arena *a, jv annotations, str at)
{
    str after = jv_str(jv_get(annotations, S(POD_STALL_AFTER)), S("0"));
    str how = jv_str(jv_get(annotations, S(POD_ON_STALL)), S("fail"));
    int64_t ns;

    if (duration_parse(after, &ns, NULL) < 0 || ns < 0)
        return arena_printf(a,
                            "%" PRI_STR "metadata.annotations[" POD_STALL_AFTER
                            "]: without effect: '%" PRI_STR "' is not a time such as 90s or 5m",
                            STR_ARG(at), STR_ARG(after));
    if (!str_eqz(how, "fail") && !str_eqz(how, "restart"))
        return arena_printf(a,
                            "%" PRI_STR "metadata.annotations[" POD_ON_STALL
                            "]: without effect: '%" PRI_STR "' is neither fail nor restart",
                            STR_ARG(at), STR_ARG(how));
    return STR_NONE;
}

static str advise_on_stall(struct arena *a, const struct job *j)
{
    str advice = advise_on_annotations(a, meta_annotations(j->obj), S(""));

    for (size_t i = 0; !advice.n && i < j->n_roles; i++)
        advice = advise_on_annotations(a, meta_annotations(j->roles[i].template),
                                       arena_printf(a, "spec.%s[%" PRI_STR "].template.",
                                                    j->kind->specs, STR_ARG(j->roles[i].key)));
    return advice;
}

str job_advise(struct arena *a, const struct job_kind *kind, jv obj)
{
    const struct job *j = job_read(a, kind, obj, NULL);
    str own = advise_on_gang(a, j);

    if (!own.n && kind->advise)
        own = kind->advise(j);
    if (!own.n)
        own = advise_on_stall(a, j);
    if (!own.n)
        own = whole_restart_advise(j);
    return own.n ? own : advise_on_limit(j);
}
