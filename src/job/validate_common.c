/* The rules every kind has, after its own: amounts, policies, names and sizes. */

#include "job/kind.h"

static void check_amount(struct check *c, const struct path *at, jv v)
{
    check_value_type(c, at, v, JV_INT);
    nonnegative_check(c->ps, at, v);
}

/* What no schema lets through is no part of the sum below: it would be told with a number that
 * nobody wrote. */
static void check_count(struct check *c, const struct path *at, jv n)
{
    check_amount(c, at, n);
    if (jv_int(n, 0) > INT32_MAX)
        problem_invalid(c->ps, at, n, "should be less than or equal to %d", MANY_REPLICAS);
}

static void check_replicas(struct check *c)
{
    static const char *const policies[] = { "Always", "ExitCode", "Never", "OnFailure", NULL };

    for (size_t i = 0; i < c->n_keys; i++) {
        jv now = jv_get(c->map, c->keys[i]), before = jv_get(c->old_map, c->keys[i]);
        struct path type = path_key(&c->map_path, c->keys[i]);
        struct path replicas = path_field(&type, S("replicas"));
        struct path policy = path_field(&type, S("restartPolicy"));
        jv n = jv_get(now, S("replicas")), text = jv_get(now, S("restartPolicy"));
        enum restart_policy known;
        if (check_is_new(c, n, jv_get(before, S("replicas"))))
            check_count(c, &replicas, n);
        check_value_type(c, &policy, text, JV_STR);
        if (check_is_new(c, text, jv_get(before, S("restartPolicy"))) && jv_str(text, S("")).n &&
            !restart_policy_read(jv_str(text, S("")), &known))
            problem_not_supported(c->ps, &policy, text, policies);
    }
}

static void check_clean_policy(struct check *c, const struct path *in, jv now, jv before)
{
    static const char *const policies[] = { "All", "None", "Running", NULL };
    struct path at = path_field(in, S("cleanPodPolicy"));
    str text = jv_str(now, S(""));

    check_value_type(c, &at, now, JV_STR);
    if (text.n == 0 || !check_is_new(c, now, before))
        return;
    for (size_t i = 0; policies[i]; i++)
        if (str_eqz(text, policies[i]))
            return;
    problem_not_supported(c->ps, &at, now, policies);
}

struct sizes {
    int64_t total;
    str longest; /* name of a child */
};

static struct sizes sizes_of(struct arena *a, const struct job_kind *kind, jv obj)
{
    const struct job *j = job_read(a, kind, obj, NULL);
    int64_t elastic = jv_int(jv_at(j->spec, "elasticPolicy", "maxReplicas"), 0);
    struct sizes s = { 0 };

    for (size_t i = 0; i < j->n_roles; i++) {
        const struct job_role *r = &j->roles[i];
        int64_t most = r->replicas > 1 ? r->replicas : 1;
        if (str_eqz(r->type, "Worker") && elastic > most && elastic <= MANY_REPLICAS)
            most = elastic;
        str name = job_child_name(a, j, r, most - 1);
        if (name.n > s.longest.n)
            s.longest = name;
        s.total += r->replicas_known ? r->replicas : 0;
    }
    return s;
}

static void check_sizes(struct check *c)
{
    enum { MANY_NAME_BYTES = 63 };
    struct path meta = path_field(NULL, S("metadata"));
    struct path at = path_field(&meta, S("name"));
    struct arena *a = c->ps->a;
    struct sizes now = sizes_of(a, c->kind, c->obj);
    struct sizes before = jv_exists(c->old) ? sizes_of(a, c->kind, c->old) : (struct sizes){ 0 };

    if (!c->kind->no_services && now.longest.n > MANY_NAME_BYTES &&
        now.longest.n > before.longest.n)
        problem_invalid(c->ps, &at, jstr(a, meta_name(c->obj)),
                        "should match: the name \"%" PRI_STR
                        "\" derived from it must be no more than 63 characters",
                        STR_ARG(now.longest));
    if (now.total > MANY_REPLICAS && now.total > before.total)
        problem_invalid(c->ps, &c->map_path, jint(a, now.total),
                        "must ask for at most %d replicas in all", MANY_REPLICAS);
}

static void check_limits(struct check *c)
{
    static const char *const members[] = { "backoffLimit", "ttlSecondsAfterFinished",
                                           "activeDeadlineSeconds" };

    for (size_t i = 0; i < COUNT(members); i++) {
        struct path at = path_field(&c->policy_path, str_of(members[i]));
        jv now = jv_get(c->policy, str_of(members[i]));
        if (check_is_new(c, now, jv_get(c->old_policy, str_of(members[i]))))
            check_amount(c, &at, now);
    }
}

void check_common(struct check *c)
{
    struct path suspend = path_field(&c->policy_path, S("suspend"));

    check_replicas(c);
    check_value_type(c, &suspend, jv_get(c->policy, S("suspend")), JV_BOOL);
    check_clean_policy(c, &c->policy_path, jv_get(c->policy, S("cleanPodPolicy")),
                       jv_get(c->old_policy, S("cleanPodPolicy")));
    if (c->kind->clean_in_spec)
        check_clean_policy(c, &c->spec_path, jv_get(c->spec, S("cleanPodPolicy")),
                           jv_get(c->old_spec, S("cleanPodPolicy")));
    check_sizes(c);
    check_limits(c);
}
