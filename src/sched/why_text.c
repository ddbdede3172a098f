/* Why something waits, as a sentence and as JSON. */

#include "sched/why_internal.h"

#define NEVER "; never fits"

enum { REASONS_SAID = 3, MORE_LACKS_SAID = 2 };

/* ---- nodes */

/* "this machine has", "the 3 nodes have", "the 2 of 5 nodes that it may use have" */
static str nodes_have(struct arena *a, const struct why *why)
{
    const char *have = why->usable == 1 ? "has" : "have";

    if (why->nodes == 1)
        return S("this machine has");
    if (why->usable == why->nodes)
        return arena_printf(a, "the %lld nodes have", (long long)why->nodes);
    return arena_printf(a, "the %lld of %lld nodes that it may use %s", (long long)why->usable,
                        (long long)why->nodes, have);
}

static void add_reasons(struct arena *a, struct buf *b, const struct why *why)
{
    for (size_t i = 0; i < why->n_reasons && i < REASONS_SAID; i++) {
        const struct why_reason *r = &why->reasons[i];
        buf_add(b, i ? S(", ") : S(""));
        if (why->nodes > 1)
            buf_printf(b, "%lld ", (long long)r->nodes);
        int64_t n = why->nodes > 1 ? r->nodes : 1;
        if (why->labels.n && why_reason_is_label(r->text))
            buf_printf(b, "%s not have the labels %" PRI_STR, n == 1 ? "does" : "do",
                       STR_ARG(why->labels));
        else
            buf_printf(b, "%" PRI_STR, STR_ARG(why_reason_text(a, r->text, n)));
    }
    if (why->n_reasons > REASONS_SAID)
        buf_printf(b, " and %zu more reasons", why->n_reasons - REASONS_SAID);
}

static void say_nodes(struct arena *a, struct buf *b, const struct why *why)
{
    if (why->nodes == 1)
        buf_add(b, S("cannot run on this machine: it "));
    else
        buf_printf(b, "cannot run on any of the %lld nodes: ", (long long)why->nodes);
    add_reasons(a, b, why);
}

/* ---- resources */

void why_say_holders(struct arena *a, struct buf *b, str resource, const struct why_holder *all,
                     size_t n_all)
{
    size_t n = n_all < WHY_HOLDERS ? n_all : WHY_HOLDERS;

    for (size_t i = 0; i < n; i++) {
        const struct why_holder *h = &all[i];
        buf_printf(b, "%s%" PRI_STR, i ? ", " : "; held by ", STR_ARG(h->kind));
        if (h->ns.n)
            buf_printf(b, " %" PRI_STR "/%" PRI_STR, STR_ARG(h->ns), STR_ARG(h->name));
        else
            buf_printf(b, ": %" PRI_STR, STR_ARG(h->name));
        buf_printf(b, " (%" PRI_STR ")", STR_ARG(amount_text(a, resource, h->n)));
    }
    if (n_all > n)
        buf_printf(b, " and %zu more", n_all - n);
}

static void say_lack(struct arena *a, struct buf *b, const struct why *why)
{
    const struct why_lack *l = &why->lacks[0];
    str need = resource_text(a, l->resource, l->need);
    str has = l->has ? amount_text(a, l->resource, l->has) : S("none");
    str left = amount_text(a, l->resource, l->free);

    if (l->scope == WHY_PER_NODE)
        buf_printf(b, "needs %" PRI_STR " on one node, the most a node has is %" PRI_STR,
                   STR_ARG(need), STR_ARG(has));
    else
        buf_printf(b, "needs %" PRI_STR ", %" PRI_STR " %" PRI_STR, STR_ARG(need),
                   STR_ARG(nodes_have(a, why)), STR_ARG(has));
    if (why->partial || !l->has)
        return;
    if (l->scope == WHY_PER_NODE)
        buf_printf(b, ", the most free is %" PRI_STR, STR_ARG(left));
    else
        buf_printf(b, ", %" PRI_STR " free", STR_ARG(left));
    why_say_holders(a, b, l->resource, l->holders, l->n_holders);
}

static void say_lacks(struct arena *a, struct buf *b, const struct why *why)
{
    say_lack(a, b, why);
    for (size_t i = 1; i < why->n_lacks && i <= MORE_LACKS_SAID && !why->partial; i++)
        buf_printf(b, "; also needs %" PRI_STR ", %" PRI_STR " free",
                   STR_ARG(resource_text(a, why->lacks[i].resource, why->lacks[i].need)),
                   STR_ARG(amount_text(a, why->lacks[i].resource, why->lacks[i].free)));
}

/* ---- the rest */

static void say_refused(struct arena *a, struct buf *b, const struct why *why)
{
    str missing = why_missing_text(a, why->refused);

    if (str_eqz(why->refused, "pod has unbound immediate PersistentVolumeClaims"))
        missing = S("needs a PersistentVolumeClaim that has no volume yet");
    buf_add(b, missing.n ? missing : why->refused);
}

static void say_never(struct buf *b, const struct why *why)
{
    if (!why->never || (why->cause != WHY_LACKS && why->cause != WHY_PACKING))
        return;
    buf_add(b, S(NEVER));
    if (why->by_default)
        buf_printf(b,
                   ": its %lld pods start together, "
                   "--gang-scheduler-name=none starts them one by one",
                   (long long)why->min);
}

static void say(struct arena *a, struct buf *b, const struct why *why)
{
    switch (why->cause) {
    case WHY_NOTHING:
        return;
    case WHY_NO_NODES:
        buf_add(b, S("there is no node"));
        return;
    case WHY_REFUSED:
        say_refused(a, b, why);
        return;
    case WHY_MEMBERS:
        buf_printf(b, "%lld of the %lld pods that start together exist", (long long)why->pods,
                   (long long)why->min);
        return;
    case WHY_LACKS:
        say_lacks(a, b, why);
        return;
    case WHY_NODES:
        say_nodes(a, b, why);
        return;
    case WHY_PACKING:
        buf_add(b, S("enough is free in total, but not on the same nodes"));
        return;
    case WHY_BEHIND:
        buf_printf(b, "enough is free, but kept for %" PRI_STR ", which has waited longer",
                   STR_ARG(why->behind));
        return;
    }
}

str why_sentence(struct arena *a, const struct why *why)
{
    AUTO(buf) struct buf b = { 0 };

    say(a, &b, why);
    say_never(&b, why);
    return arena_str(a, buf_str(&b));
}

bool why_sentence_is_never(str sentence)
{
    return str_contains(sentence, S(NEVER));
}

/* ---- JSON */

static const char *const causes[] = {
    [WHY_NOTHING] = "None",          [WHY_NO_NODES] = "NoNodes", [WHY_REFUSED] = "Claim",
    [WHY_MEMBERS] = "MissingPods",   [WHY_LACKS] = "Resources",  [WHY_NODES] = "Nodes",
    [WHY_PACKING] = "Fragmentation", [WHY_BEHIND] = "Queue",
};

static jv holder_json(struct arena *a, str resource, const struct why_holder *h)
{
    return jobj(a, { "kind", jstr(a, h->kind) }, { "namespace", jstr(a, h->ns) },
                { "name", jstr(a, h->name) }, { "amount", jstr(a, amount_text(a, resource, h->n)) },
                { "pods", jint(a, h->pods) });
}

static jv lack_json(struct arena *a, const struct why *why, const struct why_lack *l)
{
    static const char *const scopes[] = { "Total", "Node" };
    struct jbuild holders = jb_arr(a);
    jv left = why->partial ? JV_ABSENT : jstr(a, amount_text(a, l->resource, l->free));

    for (size_t i = 0; i < l->n_holders; i++)
        jb_push(&holders, holder_json(a, l->resource, &l->holders[i]));
    return jobj(a, { "resource", jstr(a, l->resource) },
                { "scope", jstr(a, str_of(scopes[l->scope])) },
                { "need", jstr(a, amount_text(a, l->resource, l->need)) },
                { "has", jstr(a, amount_text(a, l->resource, l->has)) }, { "free", left },
                { "never", jbool(l->never) }, { "holders", jb_done(&holders) });
}

static jv reasons_json(struct arena *a, const struct why *why)
{
    struct jbuild b = jb_arr(a);

    for (size_t i = 0; i < why->n_reasons; i++)
        jb_push(&b, jobj(a, { "nodes", jint(a, why->reasons[i].nodes) },
                         { "reason", jstr(a, why->reasons[i].text) }));
    return jb_done(&b);
}

jv why_json(struct arena *a, const struct why *why)
{
    struct jbuild lacks = jb_arr(a);

    for (size_t i = 0; i < why->n_lacks; i++)
        jb_push(&lacks, lack_json(a, why, &why->lacks[i]));
    return jobj(
        a, { "cause", jstr(a, str_of(causes[why->cause])) },
        { "sentence", jstr(a, why_sentence(a, why)) }, { "never", jbool(why->never) },
        { "pods", jint(a, why->pods) }, { "min", jint(a, why->min) }, { "lacks", jb_done(&lacks) },
        { "nodes", jobj(a, { "total", jint(a, why->nodes) }, { "usable", jint(a, why->usable) },
                        { "reasons", reasons_json(a, why) }) });
}
