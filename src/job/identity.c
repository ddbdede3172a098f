/* What the children of a job are called, labelled and owned by. */

#include "job/kind.h"

#include <inttypes.h>

/* A slash may stand in a type nobody knows; names and label values have none. */
static str without_slashes(struct arena *a, str s)
{
    if (str_find(s, '/') < 0)
        return s;
    char *p = arena_alloc(a, s.n + 1);
    for (size_t i = 0; i < s.n; i++)
        p[i] = s.p[i] == '/' ? '-' : s.p[i];
    p[s.n] = 0;
    return (str){ p, s.n };
}

str job_child_name(struct arena *a, const struct job *j, const struct job_role *r, int64_t index)
{
    str name = r->row && r->row->single
                   ? arena_printf(a, "%" PRI_STR "-%" PRI_STR, STR_ARG(j->name), STR_ARG(r->label))
                   : arena_printf(a, "%" PRI_STR "-%" PRI_STR "-%" PRId64, STR_ARG(j->name),
                                  STR_ARG(r->label), index);

    return without_slashes(a, name);
}

jv job_child_labels(struct arena *a, const struct job *j, const struct job_role *r, int64_t index)
{
    bool single = r->row && r->row->single;

    return jobj(a, { LABEL_OPERATOR, jstr(a, str_of(j->kind->planner.controller)) },
                { LABEL_JOB, jstr(a, without_slashes(a, j->name)) },
                { LABEL_ROLE, jstr(a, r->label) },
                { LABEL_INDEX, single ? JV_ABSENT : jstr(a, arena_printf(a, "%" PRId64, index)) });
}

jv job_owner_ref(struct arena *a, const struct job *j)
{
    const struct kube_resource *res = j->kind->planner.res;

    return jobj(a, { "apiVersion", jstr(a, arena_printf(a, "%s/%s", res->group, res->version)) },
                { "kind", jstr(a, str_of(res->kind)) }, { "name", jstr(a, j->name) },
                { "uid", jstr(a, j->uid) }, { "controller", JV_TRUE },
                { "blockOwnerDeletion", JV_TRUE });
}

jv job_container_with_env(struct arena *a, jv container, const jv *env, size_t n)
{
    jv old = jv_get(container, S("env"));
    struct jbuild b = jv_is(old, JV_ARR) ? jb_from(a, old) : jb_arr(a);

    for (size_t i = 0; i < n; i++)
        jb_push(&b, env[i]);
    return jv_with_key(a, container, S("env"), jb_done(&b));
}
