/* What would help, as text and as JSON. */

#include "sched/why_help.h"

/* Steps of one answer are all of one kind. */
static void say_ends(struct buf *b, const struct why_help *h)
{
    for (size_t i = 0; i < h->n; i++)
        buf_printf(b, "%s%" PRI_STR " %" PRI_STR "/%" PRI_STR,
                   !i             ? "wait for "
                   : i + 1 < h->n ? ", "
                                  : " and ",
                   STR_ARG(h->steps[i].kind), STR_ARG(h->steps[i].ns), STR_ARG(h->steps[i].name));
    buf_add(b, h->n == 1 ? S(" to end, or delete it") : S(" to end, or delete them"));
}

static void say_step(struct arena *a, struct buf *b, const struct help_step *s)
{
    str to = amount_text(a, s->resource, s->to);

    switch (s->what) {
    case HELP_END:
        return;
    case HELP_LOWER:
        if (s->to)
            buf_printf(b, "lower %" PRI_STR " to %" PRI_STR " in each pod", STR_ARG(s->resource),
                       STR_ARG(to));
        else
            buf_printf(b, "remove %" PRI_STR " from each pod", STR_ARG(s->resource));
        return;
    case HELP_UNSELECT:
        buf_add(b, S("remove nodeSelector and node affinity from its pods"));
        return;
    case HELP_TOLERATE:
        buf_printf(b, "let its pods tolerate the taint %" PRI_STR, STR_ARG(s->key));
        return;
    case HELP_UNCORDON:
        buf_printf(b, "uncordon the node %" PRI_STR, STR_ARG(s->node));
        return;
    case HELP_ADD:
        buf_printf(b, "let the machine offer %" PRI_STR ": muster resources %" PRI_STR "=%" PRI_STR,
                   STR_ARG(resource_text(a, s->resource, s->to)), STR_ARG(s->resource),
                   STR_ARG(to));
        return;
    }
}

str why_help_text(struct arena *a, const struct why_help *h)
{
    AUTO(buf) struct buf b = { 0 };

    if (h->n && h->steps[0].what == HELP_END)
        say_ends(&b, h);
    else
        for (size_t i = 0; i < h->n; i++) {
            buf_add(&b, i ? S(" and ") : S(""));
            say_step(a, &b, &h->steps[i]);
        }
    return arena_str(a, buf_str(&b));
}

static jv text_or_none(struct arena *a, str s)
{
    return s.n ? jstr(a, s) : JV_ABSENT;
}

static jv step_json(struct arena *a, const struct help_step *s)
{
    static const char *const names[] = {
        [HELP_END] = "End",           [HELP_LOWER] = "Lower",       [HELP_UNSELECT] = "Unselect",
        [HELP_TOLERATE] = "Tolerate", [HELP_UNCORDON] = "Uncordon", [HELP_ADD] = "Offer"
    };
    jv to = s->resource.n ? jstr(a, amount_text(a, s->resource, s->to)) : JV_ABSENT;

    return jobj(a, { "do", jstr(a, str_of(names[s->what])) }, { "kind", text_or_none(a, s->kind) },
                { "namespace", text_or_none(a, s->ns) }, { "name", text_or_none(a, s->name) },
                { "resource", text_or_none(a, s->resource) }, { "to", to },
                { "key", text_or_none(a, s->key) }, { "node", text_or_none(a, s->node) });
}

jv why_help_json(struct arena *a, const struct why_help *h)
{
    struct jbuild steps = jb_arr(a);

    for (size_t i = 0; i < h->n; i++)
        jb_push(&steps, step_json(a, &h->steps[i]));
    return jobj(a, { "text", jstr(a, why_help_text(a, h)) }, { "steps", jb_done(&steps) });
}
