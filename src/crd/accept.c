/* What becomes of a definition once it is stored: its names are accepted or in conflict, and it is
 * established. Kubernetes leaves this to controllers; here it is one step. */

#include "base/time.h"
#include "crd/define.h"
#include "crd/gotext.h"
#include "kube/meta.h"

/* ---- the approval that groups of the Kubernetes community need */

static bool is_protected(str group)
{
    static const char *const domains[] = { "k8s.io", "kubernetes.io" };

    for (size_t i = 0; i < COUNT(domains); i++) {
        str domain = str_of(domains[i]);
        if (str_eq(group, domain) ||
            (str_ends(group, domain) && group.p[group.n - domain.n - 1] == '.'))
            return true;
    }
    return false;
}

static bool is_url(str s)
{
    ptrdiff_t colon = str_find(s, ':');
    str rest = str_sub(s, (size_t)(colon + 1), s.n);

    return colon > 0 && format_uri(s) && str_starts(rest, S("//")) && rest.n > 2 &&
           rest.p[2] != '/';
}

enum approval approval_of(struct arena *a, jv crd, str *words)
{
    str given = text_of(meta_annotations(crd), API_APPROVED);

    *words = S("");
    if (!is_protected(jv_str(jv_at(crd, "spec", "group"), S(""))))
        return APPROVAL_NOT_NEEDED;
    if (!given.n) {
        *words = S("protected groups must have approval annotation \"" API_APPROVED
                   "\", see https://github.com/kubernetes/enhancements/pull/1111");
        return APPROVAL_MISSING;
    }
    if (str_starts(given, S("unapproved"))) {
        *words = arena_printf(a, "not approved: %" PRI_STR, STR_ARG(go_quote(a, given)));
        return APPROVAL_BYPASSED;
    }
    if (is_url(given)) {
        *words = arena_printf(a, "approved in %" PRI_STR, STR_ARG(given));
        return APPROVAL_GIVEN;
    }
    *words = S("protected groups must have approval annotation \"" API_APPROVED
               "\" with either a URL or a reason starting with \"unapproved\", see "
               "https://github.com/kubernetes/enhancements/pull/1111");
    return APPROVAL_INVALID;
}

/* ---- conditions */

struct condition {
    const char *type;
    const char *status;
    const char *reason;
    str message;
};

/* Sets it in the list; the time moves only with the status. */
static jv with_condition(struct arena *a, jv list, struct condition c, int64_t now_ms)
{
    jv time = jstr(a, time_text(a, now_ms));
    size_t at = jv_len(list);

    JV_EACH (it, list)
        if (str_eqz(text_of(it.value, "type"), c.type)) {
            at = it.i - 1;
            if (str_eqz(text_of(it.value, "status"), c.status))
                time = jv_at(it.value, "lastTransitionTime");
        }
    return jv_with_index(
        a, jv_is(list, JV_ARR) ? list : JV_EMPTY_ARR, at,
        jobj(a, { "type", jstr(a, str_of(c.type)) }, { "status", jstr(a, str_of(c.status)) },
             { "lastTransitionTime", time }, { "reason", jstr(a, str_of(c.reason)) },
             { "message", jstr(a, c.message) }));
}

/* ---- names */

/* Whether another definition of the group has the name: of resources, or of kinds. */
static bool is_used(jv crd, jv others, str name, bool kind)
{
    JV_EACH (it, others) {
        jv names = jv_at(it.value, "status", "acceptedNames");
        if (!jv_equal(jv_at(it.value, "spec", "group"), jv_at(crd, "spec", "group")) ||
            str_eq(meta_name(it.value), meta_name(crd)))
            continue;
        if (str_eq(name, text_of(names, kind ? "kind" : "plural")) ||
            str_eq(name, text_of(names, kind ? "listKind" : "singular")))
            return true;
        for (struct jv_iter s = jv_iter(jv_at(names, "shortNames")); !kind && jv_next(&s);)
            if (str_eq(name, jv_str(s.value, S(""))))
                return true;
    }
    return false;
}

static str in_use(struct arena *a, str name)
{
    return arena_printf(a, "%" PRI_STR " is already in use", STR_ARG(go_quote(a, name)));
}

/* The short names that are taken, as one text; empty: none. */
static str short_conflicts(struct arena *a, jv crd, jv others, jv wanted, jv accepted)
{
    AUTO(buf) struct buf b = { 0 };
    size_t n = 0;

    JV_EACH (it, wanted) {
        str name = jv_str(it.value, S(""));
        bool ours = false;
        JV_EACH (s, accepted)
            ours = ours || str_eq(name, jv_str(s.value, S("")));
        if (ours || !is_used(crd, others, name, false))
            continue;
        if (n++)
            buf_add(&b, S(", "));
        buf_add(&b, in_use(a, name));
    }
    if (n > 1)
        return arena_printf(a, "[%" PRI_STR "]", STR_ARG(buf_str(&b)));
    return arena_str(a, buf_str(&b));
}

/* The accepted names; *c tells of the last conflict, if any. */
static jv accept_names(struct arena *a, jv crd, jv others, struct condition *c)
{
    static const struct {
        const char *key;
        const char *reason;
        bool kind;
    } rows[] = {
        { "plural", "PluralConflict", false },         { "singular", "SingularConflict", false },
        { "shortNames", "ShortNamesConflict", false }, { "kind", "KindConflict", true },
        { "listKind", "ListKindConflict", true },
    };
    jv wanted = jv_at(crd, "spec", "names");
    jv had = jv_at(crd, "status", "acceptedNames");
    struct jbuild b = jb_obj(a);

    *c = (struct condition){ "NamesAccepted", "True", "NoConflicts", S("no conflicts found") };
    for (size_t i = 0; i < COUNT(rows); i++) {
        str key = str_of(rows[i].key);
        jv name = jv_get(wanted, key);
        jv before = jv_get(had, key);
        str words = S("");
        if (jv_is(name, JV_ARR))
            words = short_conflicts(a, crd, others, name, before);
        else if (jv_is(name, JV_STR) && !jv_equal(name, before) &&
                 is_used(crd, others, jv_str(name, S("")), rows[i].kind))
            words = in_use(a, jv_str(name, S("")));
        if (words.n)
            *c = (struct condition){ "NamesAccepted", "False", rows[i].reason, words };
        jb_add(&b, key, words.n ? before : name);
    }
    jb_add(&b, S("categories"), jv_at(wanted, "categories"));
    if (!jv_exists(jb_get(&b, S("plural"))))
        jb_add(&b, S("plural"), jstrz(a, ""));
    if (!jv_exists(jb_get(&b, S("kind"))))
        jb_add(&b, S("kind"), jstrz(a, ""));
    return jb_done(&b);
}

static jv with_approval(struct arena *a, jv crd, jv conditions, int64_t now_ms)
{
    static const struct {
        const char *status;
        const char *reason;
    } rows[] = {
        [APPROVAL_MISSING] = { "False", "MissingAnnotation" },
        [APPROVAL_INVALID] = { "False", "InvalidAnnotation" },
        [APPROVAL_GIVEN] = { "True", "ApprovedAnnotation" },
        [APPROVAL_BYPASSED] = { "False", "UnapprovedAnnotation" },
    };
    str words;
    enum approval approval = approval_of(a, crd, &words);

    if (approval == APPROVAL_NOT_NEEDED)
        return conditions;
    struct condition c = { "KubernetesAPIApprovalPolicyConformant", rows[approval].status,
                           rows[approval].reason, words };
    return with_condition(a, conditions, c, now_ms);
}

jv crd_accept(struct arena *a, jv crd, jv others, int64_t now_ms)
{
    struct condition names;
    struct condition established = { "Established", "True", "InitialNamesAccepted",
                                     S("the initial names have been accepted") };
    jv accepted = accept_names(a, crd, others, &names);
    jv conditions = jv_at(crd, "status", "conditions");
    bool before = meta_condition_is(crd, S("Established"), S("True"));

    if (!before && !str_eqz(S("True"), names.status)) {
        established.status = "False";
        established.reason = "NotAccepted";
        established.message = S("not all names are accepted");
    }
    conditions = with_approval(a, crd, conditions, now_ms);
    conditions = with_condition(a, conditions, names, now_ms);
    conditions = with_condition(a, conditions, established, now_ms);
    crd = jv_with(a, crd, conditions, "status", "conditions");
    return jv_with(a, crd, accepted, "status", "acceptedNames");
}
