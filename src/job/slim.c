/* A finished job with only what is still read of it: how it ended, and what that leads to. */

#include "job/kinds.h"

static jv pick(struct arena *a, jv obj, const char *const *members)
{
    struct jbuild b = jb_obj(a);

    for (; *members; members++)
        if (!jv_is_null(jv_get(obj, str_of(*members))))
            jb_set(&b, str_of(*members), jv_get(obj, str_of(*members)));
    return jb_done(&b);
}

/* How many replicas of each type, as those beyond are nobody's. */
static jv counts_of(struct arena *a, jv map)
{
    static const char *const members[] = { "replicas", NULL };
    struct jbuild b = jb_obj(a);

    if (!jv_is(map, JV_OBJ) || jv_len(map) > MANY_TYPES)
        return JV_EMPTY_OBJ;
    JV_EACH (it, map)
        if (!jv_is_null(it.value))
            jb_set(&b, it.key, pick(a, it.value, members));
    return jb_done(&b);
}

jv job_slim(struct arena *a, jv job)
{
    static const char *const meta[] = { "name",
                                        "namespace",
                                        "uid",
                                        "generation",
                                        "resourceVersion",
                                        "creationTimestamp",
                                        "deletionTimestamp",
                                        NULL };
    static const char *const policy[] = { "cleanPodPolicy", "ttlSecondsAfterFinished", "suspend",
                                          "managedBy", NULL };
    static const char *const condition[] = {
        "type", "status", "reason", "message", "lastTransitionTime", NULL
    };
    const struct job_kind *kind = job_kind_of(job);
    struct jbuild ends = jb_arr(a), spec = jb_obj(a);

    jb_set(&spec, S("runPolicy"), pick(a, jv_at(job, "spec", "runPolicy"), policy));
    if (kind && kind->clean_in_spec)
        jb_set(&spec, S("cleanPodPolicy"), jv_at(job, "spec", "cleanPodPolicy"));
    if (kind)
        jb_set(&spec, str_of(kind->specs), counts_of(a, jv_at(job, "spec", kind->specs)));
    JV_EACH (c, jv_at(job, "status", "conditions")) {
        str type = jv_str(jv_get(c.value, S("type")), S(""));
        if (str_eq(type, S("Succeeded")) || str_eq(type, S("Failed")))
            jb_push(&ends, pick(a, c.value, condition));
    }
    return jobj(a, { "apiVersion", jv_get(job, S("apiVersion")) },
                { "kind", jv_get(job, S("kind")) }, { "metadata", pick(a, meta_of(job), meta) },
                { "spec", jb_done(&spec) },
                { "status", jobj(a, { "conditions", jb_done(&ends) },
                                 { "completionTime", jv_at(job, "status", "completionTime") }) });
}
