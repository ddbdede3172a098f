/* Common parts of Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs; see workload.h. */

#include "builtin/workload.h"
#include "kube/selector.h"

#include <stdlib.h>

jv status_is_the_servers(const struct kind_ctx *c, jv obj, jv old)
{
    struct edit e = edit(c->a, obj);

    edit_set(&e, S("status"), jv_exists(old) ? FIELD(old, "status") : JV_EMPTY_OBJ);
    return edit_done(&e);
}

struct member {
    str key;
    jv value;
};

static int by_key(const void *x, const void *y)
{
    return str_cmp(((const struct member *)x)->key, ((const struct member *)y)->key);
}

jv sorted_map(struct arena *a, jv map)
{
    size_t n = jv_len(map);
    struct member *members = ARENA_ARRAY(a, struct member, n + 1);
    struct jbuild b = jb_obj(a);

    if (!n)
        return JV_ABSENT;
    JV_EACH (it, map)
        members[it.i - 1] = (struct member){ it.key, it.value };
    qsort(members, n, sizeof(*members), by_key);
    for (size_t i = 0; i < n; i++)
        jb_add(&b, members[i].key, members[i].value);
    return jb_done(&b);
}

bool selector_is_empty(jv selector)
{
    return !jv_is_null(selector) && !jv_len(FIELD(selector, "matchLabels")) &&
           !jv_len(FIELD(selector, "matchExpressions"));
}

jv selector_shown(struct arena *a, jv selector)
{
    jv labels = FIELD(selector, "matchLabels");

    return jv_len(labels) ? jv_with(a, selector, sorted_map(a, labels), "matchLabels") : selector;
}

void selector_is_fixed(struct problems *ps, jv obj, jv old)
{
    jv now = FIELD(FIELD(obj, "spec"), "selector");

    immutable_check(ps, AT(ROOT("spec"), "selector"), selector_shown(ps->a, now),
                    FIELD(FIELD(old, "spec"), "selector"));
}

void selector_matches_check(struct problems *ps, const struct path *template_at, jv selector,
                            jv tmpl)
{
    struct selector s;
    str why;

    if (selector_from_object(ps->a, selector, &s, &why) == 0 &&
        !selector_matches(&s, meta_labels(tmpl)))
        problem_invalid(ps, AT(AT(template_at, "metadata"), "labels"),
                        sorted_map(ps->a, meta_labels(tmpl)),
                        "`selector` does not match template `labels`");
}

void selector_check(struct problems *ps, const struct path *spec_at, jv spec, const char *what)
{
    jv selector = FIELD(spec, "selector");
    const struct path *p = AT(spec_at, "selector");

    if (jv_is_null(selector)) {
        problem_required(ps, p, "%s", "");
        return;
    }
    label_selector_check(ps, p, selector);
    if (selector_is_empty(selector))
        problem_invalid(ps, p, selector, "empty selector is invalid for %s", what);
}

void endless_template_check(struct problems *ps, const struct path *p, jv tmpl, const char *what)
{
    static const char *const always[] = { "Always", NULL };
    jv spec = FIELD(tmpl, "spec");

    enum_check(ps, AT(AT(p, "spec"), "restartPolicy"), FIELD(spec, "restartPolicy"), always);
    if (!jv_is_null(FIELD(spec, "activeDeadlineSeconds")))
        problem_forbidden(ps, AT(AT(p, "spec"), "activeDeadlineSeconds"),
                          "activeDeadlineSeconds in %s is not Supported", what);
}

void int_or_percent_check(struct problems *ps, const struct path *p, jv v)
{
    if (jv_is(v, JV_STR))
        name_check(ps, p, jv_str(v, S("")), name_percent);
    else
        nonnegative_check(ps, p, v);
}

int64_t int_or_percent(jv v)
{
    str text = jv_str(v, S(""));
    int64_t n = jv_int(v, 0);

    if (text.n && name_ok(text, name_percent) && !str_to_int(str_sub(text, 0, text.n - 1), &n))
        n = INT64_MAX;
    return n;
}

void at_most_100_percent(struct problems *ps, const struct path *p, jv v)
{
    if (jv_is(v, JV_STR) && int_or_percent(v) > 100)
        problem_invalid(ps, p, v, "must not be greater than 100%%");
}

void counts_check(struct problems *ps, const struct path *p, jv status, const char *const *fields)
{
    for (; *fields; fields++)
        nonnegative_check(ps, ATZ(p, *fields), jv_get(status, str_of(*fields)));
}

void replicas_check(struct problems *ps, const struct path *p, jv status, const char *const *parts,
                    const char *ready_name)
{
    int64_t replicas = FIELD_INT(status, "replicas");

    for (; *parts; parts++) {
        jv v = jv_get(status, str_of(*parts));
        if (jv_int(v, 0) > replicas)
            problem_invalid(ps, ATZ(p, *parts), v, "cannot be greater than status.replicas");
    }
    if (FIELD_INT(status, "availableReplicas") > FIELD_INT(status, "readyReplicas"))
        problem_invalid(ps, AT(p, "availableReplicas"), FIELD(status, "availableReplicas"),
                        "cannot be greater than %s", ready_name);
}

void collisions_check(struct problems *ps, const struct path *p, jv status, jv before)
{
    if (FIELD_INT(status, "collisionCount") < FIELD_INT(before, "collisionCount"))
        problem_invalid(ps, AT(p, "collisionCount"), LINT(FIELD_INT(status, "collisionCount")),
                        "cannot be decremented");
}
