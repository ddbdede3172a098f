/* Namespace and Node. */

#include "builtin/edit.h"
#include "builtin/hooks.h"
#include "builtin/pod.h"
#include "builtin/resources.h"
#include "kube/ip.h"

/* ---- Namespace */

#define NAME_LABEL "kubernetes.io/metadata.name"

static jv with_name_label(struct arena *a, jv obj)
{
    str name = meta_name(obj);

    if (!name.n || str_eq(FIELD_STR(meta_labels(obj), NAME_LABEL), name))
        return obj;
    return jv_with(a, obj, jstr(a, name), "metadata", "labels", NAME_LABEL);
}

static jv active(struct arena *a, jv status)
{
    struct edit e = edit(a, status);

    edit_default(&e, S("phase"), LSTR("Active"));
    return edit_done(&e);
}

jv namespace_defaults(const struct kind_ctx *c, jv obj)
{
    return edit_member(c->a, with_name_label(c->a, obj), S("status"), active);
}

jv namespace_prepare(const struct kind_ctx *c, jv obj, jv old)
{
    struct edit e = edit(c->a, with_name_label(c->a, obj));
    jv finalizers = FIELD(FIELD(obj, "spec"), "finalizers");

    if (jv_exists(old)) {
        edit_set(&e, S("spec"), FIELD(old, "spec"));
        edit_set(&e, S("status"), FIELD(old, "status"));
        return edit_done(&e);
    }
    if (!str_list_has(finalizers, S("kubernetes")))
        finalizers = jv_with_index(c->a, finalizers, jv_len(finalizers), LSTR("kubernetes"));
    edit_set(&e, S("spec"), jv_with(c->a, FIELD(obj, "spec"), finalizers, "finalizers"));
    edit_set(&e, S("status"), jobj(c->a, { "phase", LSTR("Active") }));
    return edit_done(&e);
}

void namespace_validate(struct problems *ps, jv obj)
{
    static const char *const standard[] = { "kubernetes", "orphan", "foregroundDeletion", NULL };
    const struct path *p = AT(ROOT("spec"), "finalizers");

    JV_EACH (it, FIELD(FIELD(obj, "spec"), "finalizers")) {
        str name = jv_str(it.value, S(""));
        name_check(ps, p, name, name_qualified);
        if (str_find(name, '/') < 0 && !one_of(name, standard))
            problem_invalid(ps, p, it.value,
                            "name is neither a standard finalizer name nor is it fully qualified");
    }
}

void namespace_validate_status(struct problems *ps, jv obj, jv old)
{
    jv phase = FIELD(FIELD(obj, "status"), "phase");
    const struct path *p = AT(ROOT("status"), "Phase");

    (void)old;
    if (!meta_being_deleted(obj)) {
        if (!str_eq(jv_str(phase, S("")), S("Active")))
            problem_invalid(ps, p, shown(ps->a, phase),
                            "may only be 'Active' if `deletionTimestamp` is empty");
    } else if (!str_eq(jv_str(phase, S("")), S("Terminating"))) {
        problem_invalid(ps, p, shown(ps->a, phase),
                        "may only be 'Terminating' if `deletionTimestamp` is not empty");
    }
}

/* ---- Node */

jv node_defaults(const struct kind_ctx *c, jv obj)
{
    struct edit spec = edit(c->a, FIELD(obj, "spec"));
    struct edit e = edit(c->a, obj);
    jv cidrs = FIELD(FIELD(obj, "spec"), "podCIDRs");
    jv cidr = FIELD(FIELD(obj, "spec"), "podCIDR");

    if (jv_str(cidr, S("")).n && !jv_equal(jv_index(cidrs, 0), cidr))
        edit_set(&spec, S("podCIDRs"), jarr(c->a, cidr));
    else if (jv_len(cidrs) && !jv_equal(jv_index(cidrs, 0), cidr))
        edit_set(&spec, S("podCIDR"), jv_index(cidrs, 0));
    edit_set(&e, S("spec"), edit_done(&spec));
    jv status = FIELD(obj, "status");
    if (jv_len(FIELD(status, "capacity")) && !jv_len(FIELD(status, "allocatable")))
        edit_set(&e, S("status"), jv_with(c->a, status, FIELD(status, "capacity"), "allocatable"));
    return edit_done(&e);
}

jv node_prepare(const struct kind_ctx *c, jv obj, jv old)
{
    struct edit e = edit(c->a, obj);

    if (jv_exists(old))
        edit_set(&e, S("status"), FIELD(old, "status"));
    return edit_done(&e);
}

static jv taint_shown(struct arena *a, jv taint)
{
    jv added = FIELD(taint, "timeAdded");

    return jobj(a, { "Key", jstr(a, FIELD_STR(taint, "key")) },
                { "Value", jstr(a, FIELD_STR(taint, "value")) },
                { "Effect", jstr(a, FIELD_STR(taint, "effect")) },
                { "TimeAdded", jv_is_null(added) ? JV_NULL_V : added });
}

enum { LOOK_BACK = 512 }; /* more taints or addresses than any node has */

static bool tainted_before(jv taints, size_t n, jv taint)
{
    for (size_t i = n > LOOK_BACK ? n - LOOK_BACK : 0; i < n; i++) {
        jv other = jv_index(taints, i);
        if (str_eq(FIELD_STR(other, "key"), FIELD_STR(taint, "key")) &&
            str_eq(FIELD_STR(other, "effect"), FIELD_STR(taint, "effect")))
            return true;
    }
    return false;
}

static void taints_check(struct problems *ps, const struct path *p, jv taints)
{
    JV_EACH (it, taints) {
        const struct path *q = EACH_AT(p, it);
        str value = FIELD_STR(it.value, "value");
        struct name_errors e = name_label_value(value);
        label_key_check(ps, AT(q, "key"), FIELD_STR(it.value, "key"));
        if (e.n)
            problem_invalid(ps, AT(q, "value"), jstr(ps->a, value), "%" PRI_STR,
                            STR_ARG(name_join(ps->a, &e, ";")));
        taint_effect_check(ps, AT(q, "effect"), FIELD(it.value, "effect"), false);
        if (tainted_before(taints, it.i - 1, it.value))
            problem_add(ps, PROBLEM_DUPLICATE, q, taint_shown(ps->a, it.value),
                        "taints must be unique by key and effect pair");
    }
}

static void amounts_check(struct problems *ps, const struct path *p, jv list)
{
    JV_EACH (it, list)
        resource_amount_check(ps, ATS(p, it.key), it.key, it.value);
}

static void pod_cidrs_check(struct problems *ps, const struct path *p, jv cidrs)
{
    struct cidr at[2] = { 0 };
    bool is_bad = false;

    JV_EACH (it, cidrs)
        cidr_check_legacy(ps, EACH_AT(p, it), jv_str(it.value, S("")));
    if (jv_len(cidrs) < 2)
        return;
    for (size_t i = 0; !is_bad && i < jv_len(cidrs); i++) {
        str text = jv_str(jv_index(cidrs, i), S(""));
        is_bad = !cidr_parse(text, &at[i % 2]);
        if (is_bad)
            problem_add(ps, PROBLEM_INTERNAL, p, JV_ABSENT,
                        "invalid PodCIDRs. failed to check with dual stack with error:invalid "
                        "CIDR[%zu]: <nil> (invalid CIDR address: %" PRI_STR ")",
                        i, STR_ARG(text));
    }
    if (is_bad || jv_len(cidrs) > 2 || at[0].ip.is4 == at[1].ip.is4)
        problem_invalid(ps, p, cidrs, "may specify no more than one CIDR for each IP family");
}

void node_validate(struct problems *ps, jv obj)
{
    jv spec = FIELD(obj, "spec");
    jv status = FIELD(obj, "status");

    taints_check(ps, AT(ROOT("metadata"), "taints"), FIELD(spec, "taints"));
    amounts_check(ps, AT(ROOT("status"), "capacity"), FIELD(status, "capacity"));
    amounts_check(ps, AT(ROOT("status"), "allocatable"), FIELD(status, "allocatable"));
    pod_cidrs_check(ps, AT(ROOT("spec"), "podCIDRs"), FIELD(spec, "podCIDRs"));
}

static void addresses_check(struct problems *ps, const struct path *p, jv addresses)
{
    JV_EACH (it, addresses)
        for (size_t i = it.i > LOOK_BACK ? it.i - LOOK_BACK : 0; i + 1 < it.i; i++)
            if (jv_equal_semantic(jv_index(addresses, i), it.value)) {
                problem_duplicate(ps, EACH_AT(p, it),
                                  jobj(ps->a, { "Type", jstr(ps->a, FIELD_STR(it.value, "type")) },
                                       { "Address", jstr(ps->a, FIELD_STR(it.value, "address")) }));
                break;
            }
}

void node_validate_update(struct problems *ps, jv obj, jv old)
{
    static const char *const once[] = { "podCIDRs", "providerID" };
    static const char *const shown_as[] = { "podCIDR", "providerID" };
    jv spec = FIELD(obj, "spec");
    jv before = FIELD(old, "spec");

    addresses_check(ps, AT(ROOT("status"), "addresses"), FIELD(FIELD(obj, "status"), "addresses"));
    for (size_t i = 0; i < COUNT(once); i++) {
        jv was = jv_get(before, str_of(once[i]));
        if ((jv_len(was) || jv_str(was, S("")).n) && !jv_equal(was, jv_get(spec, str_of(once[i]))))
            problem_forbidden(ps, ATZ(ROOT("spec"), once[i]),
                              "node updates may not change %s except from \"\" to valid",
                              shown_as[i]);
    }
}

void node_validate_status(struct problems *ps, jv obj, jv old)
{
    node_validate(ps, obj);
    node_validate_update(ps, obj, old);
}
