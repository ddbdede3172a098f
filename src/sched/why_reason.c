/* kube-scheduler's reasons: found in its messages, and said in plain words. */

#include "sched/why_internal.h"

/* What follows the prefix; STR_NONE: it has another. */
static str after(str s, str prefix)
{
    return str_starts(s, prefix) ? str_sub(s, prefix.n, s.n) : STR_NONE;
}

/* ---- reading */

static int by_nodes(const void *x, const void *y)
{
    const struct why_reason *r = x, *s = y;

    if (r->nodes != s->nodes)
        return r->nodes > s->nodes ? -1 : 1;
    return str_cmp(r->text, s->text);
}

void why_reasons_sort(struct why_reason *at, size_t n)
{
    qsort(at, n, sizeof(*at), by_nodes);
}

/* "0/3 nodes are available" */
static bool is_head(str head)
{
    str n = str_cut(&head, '/');
    int64_t number;

    return str_to_int(n, &number) && str_ends(head, S(" nodes are available"));
}

size_t why_reasons_read(struct arena *a, str message, const struct why_reason **out)
{
    ptrdiff_t colon = str_find(message, ':');
    struct why_reason *at = ARENA_ARRAY(a, struct why_reason, REFUSALS_MAX);
    size_t n = 0;

    *out = at;
    if (colon < 0 || !is_head(str_sub(message, 0, (size_t)colon)))
        return 0;
    str rest = str_sub(message, (size_t)colon + 1, message.n);
    const char *end = rest.n ? memmem(rest.p, rest.n, ". ", 2) : NULL;
    if (end)
        rest = str_sub(rest, 0, (size_t)(end - rest.p));
    else if (str_ends(rest, S(".")))
        rest.n--;
    while (rest.n && n < REFUSALS_MAX) {
        str part = str_trim(str_cut(&rest, ','));
        str count = str_cut(&part, ' ');
        int64_t nodes;
        if (str_to_int(count, &nodes) && part.n)
            at[n++] = (struct why_reason){ part, nodes };
        else if (count.n && !n)
            at[n++] =
                (struct why_reason){ .text = part.n ? arena_printf(a, "%" PRI_STR " %" PRI_STR,
                                                                   STR_ARG(count), STR_ARG(part))
                                                    : count };
    }
    why_reasons_sort(at, n);
    return n;
}

/* ---- saying */

#define OTHER_LABELS "node(s) didn't match Pod's node affinity/selector"

static const struct {
    const char *reason, *one, *many;
} plain[] = {
    { "node(s) were unschedulable", "is cordoned", "are cordoned" },
    { "node(s) had untolerated taint {node.kubernetes.io/unschedulable: }", "is cordoned",
      "are cordoned" },
    { "node(s) had untolerated taint {node.kubernetes.io/not-ready: }", "is not ready",
      "are not ready" },
    { "node(s) had untolerated taint {node.kubernetes.io/unreachable: }", "is unreachable",
      "are unreachable" },
    { OTHER_LABELS, "does not match the pod's nodeSelector or node affinity",
      "do not match the pod's nodeSelector or node affinity" },
    { "node(s) didn't have free ports for the requested pod ports",
      "has the pod's host port in use", "have the pod's host port in use" },
    { "Too many pods", "has no room for another pod", "have no room for another pod" },
    { "node(s) had volume node affinity conflict", "cannot reach the pod's volume",
      "cannot reach the pod's volume" },
    { "node(s) didn't match pod topology spread constraints",
      "is excluded by the pod's topology spread constraints",
      "are excluded by the pod's topology spread constraints" },
    { "node(s) didn't match pod topology spread constraints (missing required label)",
      "lacks the label of the pod's topology spread constraints",
      "lack the label of the pod's topology spread constraints" },
    { "node(s) didn't match pod affinity rules", "has no pod that the pod's affinity asks for",
      "have no pod that the pod's affinity asks for" },
    { "node(s) didn't match pod anti-affinity rules",
      "runs a pod that the pod's anti-affinity forbids",
      "run a pod that the pod's anti-affinity forbids" },
    { "node(s) didn't satisfy existing pods anti-affinity rules",
      "runs a pod whose anti-affinity forbids this one",
      "run a pod whose anti-affinity forbids this one" },
};

/* "{a: b}" is "a=b" where taints are written by people. */
static str taint_text(struct arena *a, str braces)
{
    str rest = str_sub(braces, 0, braces.n ? braces.n - 1 : 0);
    str key = str_cut(&rest, ':'), value = str_trim(rest);

    return arena_printf(a, "%" PRI_STR "%s%" PRI_STR, STR_ARG(key), value.n ? "=" : "",
                        STR_ARG(value));
}

str why_reason_text(struct arena *a, str reason, int64_t n)
{
    str lacking = after(reason, S("Insufficient "));
    str taint = after(reason, S("node(s) had untolerated taint {"));
    const char *has = n == 1 ? "has" : "have";

    for (size_t i = 0; i < COUNT(plain); i++)
        if (str_eqz(reason, plain[i].reason))
            return str_of(n == 1 ? plain[i].one : plain[i].many);
    if (lacking.n)
        return arena_printf(a, "%s too little %" PRI_STR " free", has, STR_ARG(lacking));
    if (taint.n)
        return arena_printf(a, "%s the taint %" PRI_STR ", which the pod does not tolerate", has,
                            STR_ARG(taint_text(a, taint)));
    return arena_printf(a, "%s the reason: %" PRI_STR, has, STR_ARG(reason));
}

bool why_reason_is_room(str reason)
{
    return str_starts(reason, S("Insufficient ")) || str_eqz(reason, "Too many pods");
}

bool why_reason_is_label(str reason)
{
    return str_eqz(reason, OTHER_LABELS);
}

/* ---- objects that are not there */

str why_missing_text(struct arena *a, str message)
{
    static const struct {
        const char *word, *kind;
    } rows[] = { { "configmap \"", "ConfigMap" },
                 { "secret \"", "Secret" },
                 { "persistentvolumeclaim \"", "PersistentVolumeClaim" } };

    if (!str_contains(message, S("\" not found")))
        return STR_NONE;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *at = memmem(message.p, message.n, rows[i].word, strlen(rows[i].word));
        if (!at)
            continue;
        str rest = str_sub(message, (size_t)(at - message.p) + strlen(rows[i].word), message.n);
        str name = str_cut(&rest, '"');
        return arena_printf(a, "needs the %s %" PRI_STR ", which does not exist", rows[i].kind,
                            STR_ARG(name));
    }
    return STR_NONE;
}
