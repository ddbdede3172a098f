/* Job: its spec and its status. */

#include "builtin/hooks.h"
#include "builtin/job.h"

#include <inttypes.h>

enum {
    MAX_PARALLEL = 100000,
    MAX_FAILED = 100000,
    MANY_COMPLETIONS = 100000,
    MAX_WITH_MANY = 10000,
    MAX_RULES = 20,
    MAX_EXIT_CODES = 255,
    MAX_MANAGED_BY = 63,
    MAX_INDEXES = 64 * 1024,
};

static const char *const actions[] = { "Count", "FailIndex", "FailJob", "Ignore", NULL };
static const char *const operators[] = { "In", "NotIn", NULL };
static const char *const statuses[] = { "False", "True", "Unknown", NULL };

/* ---- indexes */

static int index_of(struct arena *a, str text, int64_t completions, int64_t *out, str *why)
{
    str digits = text.n && text.p[0] == '+' ? str_sub(text, 1, text.n) : text;

    if (!str_to_int(digits, out)) {
        *why = arena_printf(a, "cannot convert string to integer for index: \"%" PRI_STR "\"",
                            STR_ARG(text));
        return -1;
    }
    if (*out >= completions) {
        *why = arena_printf(a, "too large index: \"%" PRI_STR "\"", STR_ARG(text));
        return -1;
    }
    return 0;
}

static int interval(struct arena *a, str text, int64_t completions, int64_t *x, int64_t *y,
                    str *why)
{
    str rest = text;
    str first = str_cut(&rest, '-');

    if (rest.p && str_find(rest, '-') >= 0) {
        *why = arena_printf(a,
                            "the fragment \"%" PRI_STR
                            "\" violates the requirement that an index interval can have at most "
                            "two parts separated by '-'",
                            STR_ARG(text));
        return -1;
    }
    if (index_of(a, first, completions, x, why) < 0)
        return -1;
    *y = *x;
    if (!rest.p)
        return 0;
    if (index_of(a, rest, completions, y, why) < 0)
        return -1;
    if (*x < *y)
        return 0;
    *why =
        arena_printf(a, "non-increasing order, previous: %" PRId64 ", current: %" PRId64, *x, *y);
    return -1;
}

/* "0-3,7": 0, and the number of indexes in *total; -1: what is wrong in *why. */
static int indexes_parse(struct arena *a, str text, int64_t completions, int64_t *total, str *why)
{
    int64_t last = INT64_MIN;

    *total = 0;
    for (str rest = text; text.n && rest.p;) {
        int64_t x;
        int64_t y;
        if (interval(a, str_cut(&rest, ','), completions, &x, &y, why) < 0)
            return -1;
        if (last >= x) {
            *why = arena_printf(a, "non-increasing order, previous: %" PRId64 ", current: %" PRId64,
                                last, x);
            return -1;
        }
        *total += y - x + 1;
        last = y;
    }
    return 0;
}

/* ---- spec */

static void at_most(struct problems *ps, const struct path *p, jv v, int64_t max, const char *when)
{
    if (jv_int(v, 0) > max)
        problem_invalid(ps, p, v, "must be less than or equal to %" PRId64 "%s", max, when);
}

static void indexed_check(struct problems *ps, const struct path *p, jv spec)
{
    static const char many[] =
        " when completions are above 100000 and used with backoff limit per index";
    jv completions = FIELD(spec, "completions");
    jv failed = FIELD(spec, "maxFailedIndexes");

    if (jv_is_null(completions))
        problem_required(ps, AT(p, "completions"), "when completion mode is Indexed");
    at_most(ps, AT(p, "parallelism"), FIELD(spec, "parallelism"), MAX_PARALLEL,
            " when completion mode is Indexed");
    if (!jv_is_null(completions) && jv_int(failed, 0) > jv_int(completions, 0))
        problem_invalid(ps, AT(p, "maxFailedIndexes"), failed,
                        "must be less than or equal to completions");
    at_most(ps, AT(p, "maxFailedIndexes"), failed, MAX_FAILED, "");
    if (jv_int(completions, 0) <= MANY_COMPLETIONS ||
        jv_is_null(FIELD(spec, "backoffLimitPerIndex")))
        return;
    if (jv_is_null(failed))
        problem_required(ps, AT(p, "maxFailedIndexes"),
                         "must be specified when completions is above %d", MANY_COMPLETIONS);
    at_most(ps, AT(p, "parallelism"), FIELD(spec, "parallelism"), MAX_WITH_MANY, many);
    at_most(ps, AT(p, "maxFailedIndexes"), failed, MAX_WITH_MANY, many);
}

static bool has_container(jv spec, str name)
{
    jv pod = FIELD(FIELD(spec, "template"), "spec");
    jv containers = FIELD(pod, "containers");
    jv init = FIELD(pod, "initContainers");

    return seen_before(containers, jv_len(containers), S("name"), name) ||
           seen_before(init, jv_len(init), S("name"), name);
}

static void exit_codes_check(struct problems *ps, const struct path *p, jv spec, jv v)
{
    jv values = FIELD(v, "values");
    bool ordered = true;
    str op = FIELD_STR(v, "operator");

    if (!op.n)
        problem_required(ps, AT(p, "operator"), "valid values: [\"In\" \"NotIn\"]");
    else
        enum_check(ps, AT(p, "operator"), FIELD(v, "operator"), operators);
    if (!jv_is_null(FIELD(v, "containerName")) &&
        !has_container(spec, FIELD_STR(v, "containerName")))
        problem_invalid(ps, AT(p, "containerName"), FIELD(v, "containerName"),
                        "must be one of the container or initContainer names in the pod template");
    if (!jv_len(values))
        problem_invalid(ps, AT(p, "values"), JV_ABSENT, "at least one value is required");
    else if (jv_len(values) > MAX_EXIT_CODES)
        too_many(ps, AT(p, "values"), jv_len(values), MAX_EXIT_CODES);
    JV_EACH (it, values) {
        const struct path *q = ATI(AT(p, "values"), it.i - 1);
        if (str_eq(op, S("In")) && jv_int(it.value, 0) == 0)
            problem_invalid(ps, q, it.value, "must not be 0 for the In operator");
        for (size_t i = 0; i + 1 < it.i && i < MAX_EXIT_CODES; i++) {
            if (jv_equal(jv_index(values, i), it.value)) {
                problem_duplicate(ps, q, it.value);
                break;
            }
        }
        if (it.i > 1 && jv_int(jv_index(values, it.i - 2), 0) > jv_int(it.value, 0))
            ordered = false;
    }
    if (!ordered)
        problem_invalid(ps, AT(p, "values"), values, "must be ordered");
}

static void pod_conditions_check(struct problems *ps, const struct path *p, jv list)
{
    if (jv_len(list) > MAX_RULES)
        too_many(ps, p, jv_len(list), MAX_RULES);
    JV_EACH (it, list) {
        const struct path *q = EACH_AT(p, it);
        name_check(ps, AT(q, "type"), FIELD_STR(it.value, "type"), name_qualified);
        if (!FIELD_STR(it.value, "status").n)
            problem_required(ps, AT(q, "status"), "valid values: [\"False\" \"True\" \"Unknown\"]");
        else
            enum_check(ps, AT(q, "status"), FIELD(it.value, "status"), statuses);
    }
}

static void failure_rule_check(struct problems *ps, const struct path *p, jv spec, jv rule)
{
    str action = FIELD_STR(rule, "action");
    jv codes = FIELD(rule, "onExitCodes");
    jv conditions = FIELD(rule, "onPodConditions");

    if (!action.n)
        problem_required(ps, AT(p, "action"),
                         "valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]");
    else if (!str_eq(action, S("FailIndex")))
        enum_check(ps, AT(p, "action"), FIELD(rule, "action"), actions);
    else if (jv_is_null(FIELD(spec, "backoffLimitPerIndex")))
        problem_invalid(ps, AT(p, "action"), FIELD(rule, "action"),
                        "requires the backoffLimitPerIndex to be set");
    if (!jv_is_null(codes))
        exit_codes_check(ps, AT(p, "onExitCodes"), spec, codes);
    pod_conditions_check(ps, AT(p, "onPodConditions"), conditions);
    if (!jv_is_null(codes) && jv_len(conditions))
        problem_add_bare(ps, PROBLEM_INVALID, p,
                         "specifying both OnExitCodes and OnPodConditions is not supported");
    if (jv_is_null(codes) && !jv_len(conditions))
        problem_add_bare(ps, PROBLEM_INVALID, p,
                         "specifying one of OnExitCodes and OnPodConditions is required");
}

static void failure_policy_check(struct problems *ps, const struct path *p, jv spec)
{
    jv rules = FIELD(FIELD(spec, "podFailurePolicy"), "rules");
    const struct path *q = AT(p, "rules");

    if (jv_len(rules) > MAX_RULES)
        too_many(ps, q, jv_len(rules), MAX_RULES);
    JV_EACH (it, rules)
        failure_rule_check(ps, EACH_AT(q, it), spec, it.value);
}

static void success_rule_check(struct problems *ps, const struct path *p, jv spec, jv rule)
{
    int64_t completions = FIELD_INT(spec, "completions");
    jv indexes = FIELD(rule, "succeededIndexes");
    jv count = FIELD(rule, "succeededCount");
    int64_t total = 0;
    str why;

    if (jv_is_null(count) && jv_is_null(indexes))
        problem_required(ps, p,
                         "at least one of succeededCount or succeededIndexes must be "
                         "specified");
    if (jv_str(indexes, S("")).n > MAX_INDEXES)
        too_long(ps, AT(p, "succeededIndexes"), MAX_INDEXES);
    if (!jv_is_null(indexes) &&
        indexes_parse(ps->a, jv_str(indexes, S("")), completions, &total, &why) < 0)
        problem_invalid(ps, AT(p, "succeededIndexes"), indexes,
                        "error parsing succeededIndexes: %" PRI_STR, STR_ARG(why));
    if (jv_is_null(count))
        return;
    nonnegative_check(ps, AT(p, "succeededCount"), count);
    if (jv_int(count, 0) > completions)
        problem_invalid(ps, AT(p, "succeededCount"), count,
                        "must be less than or equal to %" PRId64
                        " (the number of specified completions)",
                        completions);
    if (!jv_is_null(indexes) && jv_int(count, 0) > total)
        problem_invalid(ps, AT(p, "succeededCount"), count,
                        "must be less than or equal to %" PRId64
                        " (the number of indexes in the specified succeededIndexes field)",
                        total);
}

static void success_policy_check(struct problems *ps, const struct path *p, jv spec)
{
    jv rules = FIELD(FIELD(spec, "successPolicy"), "rules");
    const struct path *q = AT(p, "rules");

    if (!jv_len(rules))
        problem_required(ps, q,
                         "at least one rules must be specified when the successPolicy is "
                         "specified");
    if (jv_len(rules) > MAX_RULES)
        too_many(ps, q, jv_len(rules), MAX_RULES);
    JV_EACH (it, rules)
        success_rule_check(ps, EACH_AT(q, it), spec, it.value);
}

static void managed_by_check(struct problems *ps, const struct path *p, jv v)
{
    if (jv_is_null(v))
        return;
    domain_path_check(ps, p, v);
    if (jv_str(v, S("")).n > MAX_MANAGED_BY)
        too_long(ps, p, MAX_MANAGED_BY);
}

static void completion_mode_check(struct problems *ps, const struct path *p, jv spec)
{
    static const char *const modes[] = { "NonIndexed", "Indexed", NULL };
    static const char *const only_indexed[] = { "backoffLimitPerIndex", "maxFailedIndexes" };
    jv mode = FIELD(spec, "completionMode");

    enum_optional(ps, AT(p, "completionMode"), mode, modes);
    if (str_eq(jv_str(mode, S("")), S("Indexed"))) {
        indexed_check(ps, p, spec);
        return;
    }
    if (!jv_is_null(mode) && !str_eq(jv_str(mode, S("")), S("NonIndexed")))
        return;
    for (size_t i = 0; i < COUNT(only_indexed); i++) {
        jv v = jv_get(spec, str_of(only_indexed[i]));
        if (!jv_is_null(v))
            problem_invalid(ps, ATZ(p, only_indexed[i]), v, "requires indexed completion mode");
    }
}

static void replacement_check(struct problems *ps, const struct path *p, jv spec)
{
    static const char *const failed[] = { "Failed", NULL };
    static const char *const policies[] = { "Failed", "TerminatingOrFailed", NULL };

    enum_optional(ps, p, FIELD(spec, "podReplacementPolicy"),
                  jv_is_null(FIELD(spec, "podFailurePolicy")) ? policies : failed);
}

static void restart_policy_check(struct problems *ps, const struct path *p, jv spec)
{
    static const char *const policies[] = { "OnFailure", "Never", NULL };
    jv policy = FIELD(FIELD(FIELD(spec, "template"), "spec"), "restartPolicy");
    str text = jv_str(policy, S(""));

    if (!text.n || str_eq(text, S("Always")))
        problem_required(ps, p, "valid values: \"OnFailure\", \"Never\"");
    else if (enum_check(ps, p, policy, policies) && !jv_is_null(FIELD(spec, "podFailurePolicy")) &&
             !str_eq(text, S("Never")))
        problem_invalid(ps, p, policy,
                        "only \"Never\" is supported when podFailurePolicy is specified");
}

static jv success_policy_shown(struct arena *a, jv policy)
{
    struct jbuild rules = jb_arr(a);

    JV_EACH (it, FIELD(policy, "rules")) {
        jv indexes = FIELD(it.value, "succeededIndexes");
        jv count = FIELD(it.value, "succeededCount");
        jb_push(&rules, jobj(a, { "SucceededIndexes", jv_is_null(indexes) ? JV_NULL_V : indexes },
                             { "SucceededCount", jv_is_null(count) ? JV_NULL_V : count }));
    }
    return jobj(a, { "Rules", jv_len(FIELD(policy, "rules")) ? jb_done(&rules) : JV_NULL_V });
}

void job_spec_check(struct problems *ps, const struct path *p, jv spec)
{
    static const char *const counts[] = { "parallelism",
                                          "completions",
                                          "activeDeadlineSeconds",
                                          "backoffLimit",
                                          "ttlSecondsAfterFinished",
                                          "backoffLimitPerIndex",
                                          "maxFailedIndexes",
                                          NULL };

    counts_check(ps, p, spec, counts);
    if (!jv_is_null(FIELD(spec, "maxFailedIndexes")) &&
        jv_is_null(FIELD(spec, "backoffLimitPerIndex")))
        problem_required(ps, AT(p, "backoffLimitPerIndex"), "when maxFailedIndexes is specified");
    managed_by_check(ps, AT(p, "managedBy"), FIELD(spec, "managedBy"));
    completion_mode_check(ps, p, spec);
    if (!jv_is_null(FIELD(spec, "podFailurePolicy")))
        failure_policy_check(ps, AT(p, "podFailurePolicy"), spec);
    if (!jv_is_null(FIELD(spec, "successPolicy"))) {
        if (str_eq(FIELD_STR(spec, "completionMode"), S("Indexed")))
            success_policy_check(ps, AT(p, "successPolicy"), spec);
        else
            problem_invalid(ps, AT(p, "successPolicy"),
                            success_policy_shown(ps->a, FIELD(spec, "successPolicy")),
                            "requires indexed completion mode");
    }
    replacement_check(ps, AT(p, "podReplacementPolicy"), spec);
    pod_template_check(ps, AT(p, "template"), FIELD(spec, "template"));
    restart_policy_check(ps, AT(AT(AT(p, "template"), "spec"), "restartPolicy"), spec);
}

/* ---- status */

void job_validate_status(struct problems *ps, jv obj, jv old)
{
    static const char *const counts[] = { "active", "succeeded",   "failed",
                                          "ready",  "terminating", NULL };
    static const char *const final[] = { "Failed", "Complete", "FailureTarget" };
    jv status = FIELD(obj, "status");
    jv before = FIELD(old, "status");
    const struct path *p = ROOT("status");
    bool complete = meta_condition_is(obj, S("Complete"), S("True"));
    bool failed = meta_condition_is(obj, S("Failed"), S("True"));

    counts_check(ps, p, status, counts);
    if (complete && failed)
        problem_add_bare(ps, PROBLEM_INVALID, AT(p, "conditions"),
                         "cannot set Complete=True and Failed=true conditions");
    if (complete && !jv_is_null(FIELD(status, "startTime")) &&
        jv_is_null(FIELD(status, "completionTime")))
        problem_required(ps, AT(p, "completionTime"),
                         "completionTime is required for Complete "
                         "jobs");
    if (!complete && !jv_is_null(FIELD(status, "completionTime")))
        problem_invalid(ps, AT(p, "completionTime"), FIELD(status, "completionTime"),
                        "cannot set completionTime when there is no Complete=True condition");
    if ((complete || failed) && FIELD_INT(status, "active") > 0)
        problem_invalid(ps, AT(p, "active"), FIELD(status, "active"),
                        "active>0 is invalid for finished job");
    if ((complete || failed) && jv_is_null(FIELD(status, "startTime")))
        problem_required(ps, AT(p, "startTime"), "startTime is required for finished job");
    if (FIELD_INT(status, "ready") > FIELD_INT(status, "active"))
        problem_invalid(ps, AT(p, "ready"), FIELD(status, "ready"),
                        "cannot set more ready pods than active");
    for (size_t i = 0; i < COUNT(final); i++)
        if (meta_condition_is(old, str_of(final[i]), S("True")) &&
            !meta_condition_is(obj, str_of(final[i]), S("True")))
            problem_add_bare(ps, PROBLEM_INVALID, AT(p, "conditions"),
                             "cannot disable the terminal %s=True condition", final[i]);
    if (FIELD_INT(status, "failed") < FIELD_INT(before, "failed"))
        problem_invalid(ps, AT(p, "failed"), LINT(FIELD_INT(status, "failed")),
                        "cannot decrease the failed counter");
    if (FIELD_INT(status, "succeeded") < FIELD_INT(before, "succeeded"))
        problem_invalid(ps, AT(p, "succeeded"), LINT(FIELD_INT(status, "succeeded")),
                        "cannot decrease the succeeded counter");
}
