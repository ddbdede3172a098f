/* The few things all such objects have in common. */

#include "job/others.h"
#include "job/kind.h"

jv job_other_find(const struct job *j, const struct kube_resource *res, str name)
{
    for (size_t i = 0; i < j->seen->n_others; i++)
        if (j->seen->others[i].res == res && str_eq(meta_name(j->seen->others[i].obj), name))
            return j->seen->others[i].obj;
    return JV_ABSENT;
}

bool job_owns(const struct job *j, jv obj)
{
    return j->uid.n && str_eq(jv_str(jv_get(meta_controller(obj), S("uid")), S("")), j->uid);
}

jv job_other_meta(struct arena *a, const struct job *j, str name, const str *app)
{
    jv labels = jobj(a, { "app", app ? jstr(a, *app) : JV_ABSENT },
                     { LABEL_OPERATOR, jstr(a, str_of(j->kind->planner.controller)) },
                     { LABEL_JOB, jstr(a, j->name) });

    return jobj(a, { "name", jstr(a, name) }, { "namespace", jstr(a, j->ns) }, { "labels", labels },
                { "ownerReferences", jarr(a, j->owner) });
}

struct plan_step *job_other_step(const struct job *j, struct plan *p, enum plan_kind kind,
                                 unsigned stage, const struct kube_resource *res, str name)
{
    struct plan_step *s = plan_add(p, kind, stage, res);

    s->ns = j->ns;
    s->name = name;
    return s;
}
