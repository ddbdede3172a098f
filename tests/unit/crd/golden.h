/* Answers recorded from a real kube-apiserver v1.34: tests/golden/crd/NAME.json, whose folder is
 * the first argument of a test. */
#pragma once

#include "crd/crd.h"
#include "slurp.h"

__attribute__((unused)) static struct jdoc *golden_read(const char *folder, const char *name)
{
    AUTO(arena) struct arena *a = arena_new();

    return slurp_json(arena_printf(a, "%s/%s.json", folder, name).p);
}

static int golden_by_text(const void *x, const void *y)
{
    const str *a = x;
    const str *b = y;

    return str_cmp(*a, *b);
}

static str golden_join(struct arena *a, str *lines, size_t n)
{
    AUTO(buf) struct buf b = { 0 };

    if (n)
        qsort(lines, n, sizeof(*lines), golden_by_text);
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "\n#   %" PRI_STR, STR_ARG(lines[i]));
    return arena_str(a, buf_str(&b));
}

/* Problems and recorded causes as sorted lines: Go reports properties in random order. */
__attribute__((unused)) static str golden_problems(struct arena *a, const struct problems *ps)
{
    str *lines = ARENA_ARRAY(a, str, ps->n + 1);

    for (size_t i = 0; i < ps->n; i++)
        lines[i] = arena_printf(a, "%" PRI_STR " | %s | %" PRI_STR, STR_ARG(ps->at[i].field),
                                problem_reason(ps->at[i].type), STR_ARG(ps->at[i].message));
    return golden_join(a, lines, ps->n);
}

__attribute__((unused)) static str golden_causes(struct arena *a, jv causes)
{
    str *lines = ARENA_ARRAY(a, str, jv_len(causes) + 1);
    size_t n = 0;

    JV_EACH (it, causes) {
        str field = jv_str(jv_at(it.value, "field"), S(""));
        str reason = jv_str(jv_at(it.value, "reason"), S(""));
        str message = jv_str(jv_at(it.value, "message"), S(""));
        lines[n++] = arena_printf(a, "%" PRI_STR " | %" PRI_STR " | %" PRI_STR, STR_ARG(field),
                                  STR_ARG(reason), STR_ARG(message));
    }
    return golden_join(a, lines, n);
}
