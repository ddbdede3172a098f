/* Job: defaults, its generated selector, what may change. */

#include "builtin/job.h"
#include "builtin/changed_fields.h"
#include "builtin/hooks.h"
#include "kube/selector.h"

#include <inttypes.h>

static const char *const name_labels[] = { "job-name", "batch.kubernetes.io/job-name" };
static const char *const uid_labels[] = { "controller-uid", "batch.kubernetes.io/controller-uid" };

static void default_int(struct edit *e, str key, int64_t value)
{
    if (jv_is_null(edit_get(e, key)))
        edit_set(e, key, LINT(value));
}

static void default_false(struct edit *e, str key)
{
    if (jv_is_null(edit_get(e, key)))
        edit_set(e, key, JV_FALSE);
}

static jv condition_defaults(struct arena *a, jv pattern)
{
    struct edit e = edit(a, pattern);

    edit_default(&e, S("status"), LSTR("True"));
    return edit_done(&e);
}

static jv rule_defaults(struct arena *a, jv rule)
{
    struct edit e = edit(a, rule);

    edit_each(&e, S("onPodConditions"), condition_defaults);
    return edit_done(&e);
}

static jv failure_policy_defaults(struct arena *a, jv policy)
{
    struct edit e = edit(a, policy);

    edit_each(&e, S("rules"), rule_defaults);
    return edit_done(&e);
}

/* What a template within a CronJob gets too. */
static jv common_defaults(struct arena *a, jv was)
{
    struct edit spec = edit(a, was);

    edit_in(&spec, S("podFailurePolicy"), failure_policy_defaults);
    edit_set(&spec, S("template"), pod_template_defaults(a, FIELD(was, "template")));
    return edit_done(&spec);
}

jv job_spec_defaults(struct arena *a, jv was)
{
    return common_defaults(a, was);
}

jv job_defaults(const struct kind_ctx *c, jv obj)
{
    jv was = FIELD(obj, "spec");
    struct edit spec = edit(c->a, common_defaults(c->a, was));

    if (jv_is_null(FIELD(was, "completions")) && jv_is_null(FIELD(was, "parallelism")))
        edit_set(&spec, S("completions"), LINT(1));
    default_int(&spec, S("parallelism"), 1);
    default_int(&spec, S("backoffLimit"),
                jv_is_null(FIELD(was, "backoffLimitPerIndex")) ? 6 : INT32_MAX);
    edit_default(&spec, S("completionMode"), LSTR("NonIndexed"));
    default_false(&spec, S("suspend"));
    default_false(&spec, S("manualSelector"));
    if (jv_is_null(FIELD(was, "podFailurePolicy")))
        edit_default(&spec, S("podReplacementPolicy"), LSTR("TerminatingOrFailed"));
    else
        edit_default(&spec, S("podReplacementPolicy"), LSTR("Failed"));
    return jv_with_key(c->a, obj, S("spec"), edit_done(&spec));
}

/* The pods of a job are those with its uid as a label. */
static jv with_selector(struct arena *a, jv obj)
{
    jv spec = FIELD(obj, "spec");
    struct edit labels = edit(a, meta_labels(FIELD(spec, "template")));
    struct edit match = edit(a, FIELD(FIELD(spec, "selector"), "matchLabels"));
    jv name = jstr(a, meta_name(obj));
    jv uid = jstr(a, meta_uid(obj));

    for (size_t i = 0; i < COUNT(name_labels); i++) {
        if (!jv_exists(edit_get(&labels, str_of(name_labels[i]))))
            edit_set(&labels, str_of(name_labels[i]), name);
        if (!jv_exists(edit_get(&labels, str_of(uid_labels[i]))))
            edit_set(&labels, str_of(uid_labels[i]), uid);
    }
    if (!jv_exists(edit_get(&match, str_of(uid_labels[1]))))
        edit_set(&match, str_of(uid_labels[1]), uid);
    spec = jv_with(a, spec, edit_done(&labels), "template", "metadata", "labels");
    spec = jv_with(a, spec, edit_done(&match), "selector", "matchLabels");
    return jv_with_key(a, obj, S("spec"), spec);
}

jv job_prepare(const struct kind_ctx *c, jv obj, jv old)
{
    if (!jv_exists(old) && !FIELD_BOOL(FIELD(obj, "spec"), "manualSelector"))
        obj = with_selector(c->a, obj);
    jv labels = meta_labels(FIELD(FIELD(obj, "spec"), "template"));
    if (!jv_len(meta_labels(obj)) && jv_len(labels)) /* those that were just made, too */
        obj = jv_with(c->a, obj, labels, "metadata", "labels");
    return status_is_the_servers(c, obj, old);
}

static void has_label(struct problems *ps, jv tmpl, const char *key, str want)
{
    jv labels = meta_labels(tmpl);
    jv value = jv_get(labels, str_of(key));
    const struct path *p =
        ATK(AT(AT(AT(ROOT("spec"), "template"), "metadata"), "labels"), str_of(key));

    if (!jv_exists(value))
        problem_required(ps, p, "must be '%" PRI_STR "'", STR_ARG(want));
    else if (!str_eq(jv_str(value, S("")), want))
        problem_invalid(ps, p, sorted_map(ps->a, labels), "must be '%" PRI_STR "'", STR_ARG(want));
}

static void generated_selector_check(struct problems *ps, jv obj)
{
    jv spec = FIELD(obj, "spec");
    jv tmpl = FIELD(spec, "template");
    struct edit expected = edit(ps->a, JV_EMPTY_OBJ);
    struct selector s;
    str why;

    if (FIELD_BOOL(spec, "manualSelector") || jv_is_null(FIELD(spec, "selector")))
        return;
    for (size_t i = 0; i < COUNT(name_labels); i++) {
        has_label(ps, tmpl, uid_labels[i], meta_uid(obj));
        has_label(ps, tmpl, name_labels[i], meta_name(obj));
        edit_set(&expected, str_of(uid_labels[i]), jstr(ps->a, meta_uid(obj)));
        edit_set(&expected, str_of(name_labels[i]), jstr(ps->a, meta_name(obj)));
    }
    if (selector_from_object(ps->a, FIELD(spec, "selector"), &s, &why) == 0 &&
        !selector_matches(&s, edit_done(&expected)))
        problem_invalid(ps, AT(ROOT("spec"), "selector"),
                        selector_shown(ps->a, FIELD(spec, "selector")),
                        "`selector` not auto-generated");
}

static void hostname_check(struct problems *ps, jv obj)
{
    jv spec = FIELD(obj, "spec");
    int64_t completions = FIELD_INT(spec, "completions");

    if (!str_eq(FIELD_STR(spec, "completionMode"), S("Indexed")) || completions <= 0)
        return;
    str name = meta_name(obj);
    str last = arena_printf(ps->a, "%" PRI_STR "-%" PRId64, STR_ARG(name), completions - 1);
    if (!name_ok(last, name_dns1123_label))
        problem_invalid(ps, AT(ROOT("metadata"), "name"), jstr(ps->a, name),
                        "will not able to create pod with invalid DNS label: %" PRI_STR,
                        STR_ARG(last));
}

void batch_job_validate(struct problems *ps, jv obj)
{
    jv spec = FIELD(obj, "spec");
    const struct path *p = ROOT("spec");

    if (!ps->is_update)
        generated_selector_check(ps, obj);
    job_spec_check(ps, p, spec);
    if (jv_is_null(FIELD(spec, "selector")))
        problem_required(ps, AT(p, "selector"), "%s", "");
    else
        label_selector_check(ps, AT(p, "selector"), FIELD(spec, "selector"));
    selector_matches_check(ps, AT(p, "template"), FIELD(spec, "selector"), FIELD(spec, "template"));
    if (!ps->is_update)
        hostname_check(ps, obj);
}

/* A suspended job that never ran may still be steered to other nodes. */
static jv with_free_directives(struct arena *a, jv before, jv now)
{
    static const char *const in_spec[] = { "nodeSelector", "tolerations", "schedulingGates" };

    for (size_t i = 0; i < COUNT(in_spec); i++)
        before = jv_with(a, before, jv_at(now, "spec", in_spec[i]), "spec", in_spec[i]);
    before = jv_with(a, before, jv_at(now, "spec", "affinity", "nodeAffinity"), "spec", "affinity",
                     "nodeAffinity");
    before = jv_with(a, before, meta_labels(now), "metadata", "labels");
    return jv_with(a, before, meta_annotations(now), "metadata", "annotations");
}

static void template_is_fixed(struct problems *ps, const struct path *p, jv obj, jv old)
{
    jv now = FIELD(FIELD(obj, "spec"), "template");
    jv before = FIELD(FIELD(old, "spec"), "template");

    if (FIELD_BOOL(FIELD(old, "spec"), "suspend") &&
        jv_is_null(FIELD(FIELD(old, "status"), "startTime")))
        before = with_free_directives(ps->a, before, now);
    if (!jv_equal_semantic(now, before))
        problem_invalid(ps, p, now, "field is immutable; %" PRI_STR,
                        STR_ARG(changed_fields(ps->a, before, now)));
}

void job_validate_update(struct problems *ps, jv obj, jv old)
{
    static const char *const fixed[] = { "completionMode", "podFailurePolicy",
                                         "backoffLimitPerIndex", "managedBy", "successPolicy" };
    jv spec = FIELD(obj, "spec");
    jv before = FIELD(old, "spec");
    const struct path *p = ROOT("spec");

    if (!str_eq(FIELD_STR(spec, "completionMode"), S("Indexed")))
        immutable_check(ps, AT(p, "completions"), FIELD(spec, "completions"),
                        FIELD(before, "completions"));
    else if (!jv_equal_semantic(FIELD(spec, "completions"), FIELD(before, "completions")) &&
             !jv_is_null(FIELD(spec, "completions")) &&
             FIELD_INT(spec, "completions") != FIELD_INT(spec, "parallelism"))
        problem_invalid(ps, AT(p, "completions"), FIELD(spec, "completions"),
                        "can only be modified in tandem with spec.parallelism");
    selector_is_fixed(ps, obj, old);
    template_is_fixed(ps, AT(p, "template"), obj, old);
    for (size_t i = 0; i < COUNT(fixed); i++)
        immutable_check(ps, ATZ(p, fixed[i]), jv_get(spec, str_of(fixed[i])),
                        jv_get(before, str_of(fixed[i])));
}
