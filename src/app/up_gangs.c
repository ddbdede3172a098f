/* What the scheduler of one machine is told of jobs: how many of their pods start together. */

#include "app/up_gangs.h"

#include "base/time.h"
#include "job/gang_of.h"
#include "job/kinds.h"

enum { MANY_KINDS = 16 };

static bool has_ended(jv obj)
{
    return meta_condition_is(obj, S("Succeeded"), S("True")) ||
           meta_condition_is(obj, S("Failed"), S("True"));
}

static jv members_of(struct arena *a, const struct job *j)
{
    struct jbuild b = jb_obj(a);

    for (size_t i = 0; i < j->n_roles; i++)
        jb_set(&b, j->roles[i].label, jint(a, j->roles[i].replicas));
    return jb_done(&b);
}

/* Pure: struct binder_gangs, read. */
static jv read_job(struct arena *a, jv obj)
{
    static const char *const names[] = { "name", "namespace", "uid", "creationTimestamp" };
    const struct job_kind *kind = job_kind_of(obj);
    struct gang_size size = { 0 };
    struct jbuild meta = jb_obj(a);

    if (!kind)
        return JV_ABSENT;
    const struct job *j = job_read(a, kind, obj, NULL);
    bool stopped = job_suspended(j) || has_ended(obj) || meta_being_deleted(obj);
    if (!gang_of(a, obj, &size) && !stopped)
        return JV_ABSENT;
    for (size_t i = 0; i < COUNT(names); i++)
        jb_set(&meta, str_of(names[i]), jv_get(meta_of(obj), str_of(names[i])));
    return jobj(a, { "metadata", jb_done(&meta) }, { "kind", jstrz(a, "job") },
                { "min", jint(a, size.min) }, { "members", members_of(a, j) },
                { "stopped", jbool(stopped) });
}

struct binder_gangs up_gangs_of_jobs(struct arena *a)
{
    const struct kube_resource **kinds = ARENA_ARRAY(a, const struct kube_resource *, MANY_KINDS);
    size_t n = 0;

    for (; n < MANY_KINDS && job_kind_at(n); n++)
        kinds[n] = job_kind_at(n)->planner.res;
    return (
        struct binder_gangs){ .kinds = kinds, .n_kinds = n, .read = read_job, .by_default = true };
}
