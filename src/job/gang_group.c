/* The spec of a PodGroup: how many members must start together, and what they ask for. */

#include "job/gang_parts.h"
#include "job/kind.h"
#include "job/same.h"

#include "builtin/pod.h"
#include "builtin/pod_amounts.h"

#include <stdlib.h>

static jv policy_of(const struct job *j, const char *member)
{
    return jv_at(j->policy, "schedulingPolicy", member);
}

/* As the original has it: of an elastic job all workers, too. */
static int64_t min_member(const struct job *j)
{
    return jv_int(policy_of(j, "minAvailable"), job_total(j));
}

/* ---- minResources */

struct rank {
    const struct job_role *role;
    int64_t priority;
};

static int64_t priority_of(const struct job *j, const struct job_role *r)
{
    str name = jv_str(jv_at(r->template, "spec", "priorityClassName"), S(""));

    for (size_t i = 0; name.n && i < j->seen->n_classes; i++)
        if (str_eq(j->seen->classes[i].name, name))
            return j->seen->classes[i].value;
    return 0;
}

static int highest_first(const void *x, const void *y)
{
    const struct rank *a = x, *b = y;
    int by = (a->priority < b->priority) - (a->priority > b->priority);

    return by ? by : str_cmp(a->role->type, b->role->type);
}

static struct amounts pod_asks(const struct job *j, const struct job_role *r)
{
    jv spec = jv_get(r->template, S("spec"));
    jv pod =
        jobj(j->a, { "spec", jv_is(spec, JV_OBJ) ? pod_spec_requests(j->a, spec) : JV_ABSENT });

    return pod_amounts(j->a, pod, POD_REQUESTS, POD_OVERHEAD);
}

/* What the first minMember pods ask for, those of the highest priority first. */
static jv computed_resources(const struct job *j, int64_t left)
{
    struct rank *ranks = ARENA_ARRAY(j->a, struct rank, j->n_roles + 1);
    struct amounts sum = amounts_new(j->a);

    for (size_t i = 0; i < j->n_roles; i++)
        ranks[i] = (struct rank){ &j->roles[i], priority_of(j, &j->roles[i]) };
    qsort(ranks, j->n_roles, sizeof(*ranks), highest_first);
    for (size_t i = 0; i < j->n_roles && left > 0; i++) {
        int64_t replicas = ranks[i].role->replicas, n = replicas < left ? replicas : left;
        struct amounts each = pod_asks(j, ranks[i].role);
        amounts_add_times(&sum, &each, n);
        left -= n;
    }
    return amounts_json(j->a, &sum);
}

static jv min_resources(const struct job *j)
{
    jv given = policy_of(j, "minResources");

    return jv_is(given, JV_OBJ) ? given : computed_resources(j, min_member(j));
}

/* ---- specs */

static jv text_or_none(const struct job *j, str text)
{
    return text.n ? jstr(j->a, text) : JV_ABSENT;
}

jv gang_volcano_spec(const struct job *j, jv there)
{
    str asked = jv_str(policy_of(j, "queue"), S(""));
    str kept = jv_str(jv_at(there, "spec", "queue"), S("")); /* somebody may have moved it */
    str queue = kept.n ? kept : asked.n ? asked : S("default");

    return jobj(
        j->a, { "minMember", jint(j->a, min_member(j)) }, { "queue", jstr(j->a, queue) },
        { "priorityClassName", text_or_none(j, jv_str(policy_of(j, "priorityClass"), S(""))) },
        { "minResources", min_resources(j) });
}

jv gang_plugins_spec(const struct job *j, jv there)
{
    jv resources = min_resources(j);
    jv timeout = policy_of(j, "scheduleTimeoutSeconds");

    (void)there;
    return jobj(j->a, { "minMember", jint(j->a, min_member(j)) },
                { "minResources", jv_len(resources) ? resources : JV_ABSENT },
                { "scheduleTimeoutSeconds", jv_is(timeout, JV_INT) ? timeout : JV_ABSENT });
}

/* ---- changes */

static bool is_nothing(jv v)
{
    return jv_is_null(v) || (jv_is(v, JV_OBJ) && jv_len(v) == 0);
}

static bool is_same(jv there, jv wanted)
{
    if (is_nothing(there) || is_nothing(wanted))
        return is_nothing(there) && is_nothing(wanted);
    return json_has(there, wanted) && json_has(wanted, there);
}

/* Of an object what is not wanted goes, which a merge patch says with null. */
static jv replacement(struct arena *a, jv there, jv wanted)
{
    if (is_nothing(wanted))
        return JV_NULL_V;
    if (!jv_is(wanted, JV_OBJ))
        return wanted;
    struct jbuild b = jb_from(a, wanted);
    JV_EACH (it, there)
        if (!jv_exists(jv_get(wanted, it.key)))
            jb_set(&b, it.key, JV_NULL_V);
    return jb_done(&b);
}

/* Other fields are left to whoever set them. */
jv gang_spec_changes(struct arena *a, jv there, jv wanted)
{
    static const char *const members[] = { "minMember", "queue", "priorityClassName",
                                           "minResources", "scheduleTimeoutSeconds" };
    struct jbuild b = jb_obj(a);

    for (size_t i = 0; i < COUNT(members); i++) {
        jv old = jv_get(there, str_of(members[i])), now = jv_get(wanted, str_of(members[i]));
        if (!is_same(old, now))
            jb_add(&b, str_of(members[i]), replacement(a, old, now));
    }
    return b.n ? jb_done(&b) : JV_ABSENT;
}
