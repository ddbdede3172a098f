/* The answer of `muster why`: as text, and as JSON. */

#include "app/why_internal.h"

#include "base/time.h"
#include "cli/table.h"

#include <inttypes.h>

enum { HOLDERS_SHOWN = 10, PODS_SHOWN = 20 };

static const char *const states[] = { [STATE_WAITS] = "Waiting",
                                      [STATE_RUNS] = "Running",
                                      [STATE_ENDED] = "Ended",
                                      [STATE_SUSPENDED] = "Suspended",
                                      [STATE_DELETED] = "Deleted" };

static void add_heading(struct buf *b, const char *name)
{
    buf_printf(b, "\n%s:\n", name);
}

/* ---- resources and who holds them */

static void add_lacks(struct why_page *p, struct buf *b)
{
    struct table t;

    if (!p->why.n_lacks)
        return;
    table_init(&t, p->a, "RESOURCE|NEEDS|HAS|FREE|WHERE");
    t.indent = 2;
    for (size_t i = 0; i < p->why.n_lacks; i++) {
        const struct why_lack *l = &p->why.lacks[i];
        str cells[] = { l->resource, amount_text(p->a, l->resource, l->need),
                        amount_text(p->a, l->resource, l->has),
                        p->partial ? S("?") : amount_text(p->a, l->resource, l->free),
                        l->scope == WHY_PER_NODE ? S("the best node")
                                                 : S("all nodes that it may use") };
        table_add(&t, cells);
    }
    add_heading(b, "Resources");
    table_print(&t, b);
}

static void add_holders(struct why_page *p, struct buf *b)
{
    struct table t;
    size_t more = 0;

    table_init(&t, p->a, "HOLDER|RESOURCE|AMOUNT|PODS|AGE");
    t.indent = 2;
    for (size_t i = 0; i < p->why.n_lacks; i++) {
        const struct why_lack *l = &p->why.lacks[i];
        for (size_t k = 0; k < l->n_holders; k++) {
            const struct why_holder *h = &l->holders[k];
            int64_t age = p->now_ms - h->since_ms;
            str cells[] = { arena_printf(p->a, "%" PRI_STR " %" PRI_STR "/%" PRI_STR,
                                         STR_ARG(h->kind), STR_ARG(h->ns), STR_ARG(h->name)),
                            l->resource, amount_text(p->a, l->resource, h->n),
                            arena_printf(p->a, "%" PRId64, h->pods),
                            age_text(p->a, age > 0 ? age : 0) };
            if (k < HOLDERS_SHOWN)
                table_add(&t, cells);
            else
                more++;
        }
    }
    if (!t.n)
        return;
    add_heading(b, "Held by");
    table_print(&t, b);
    if (more)
        buf_printf(b, "  and %zu more\n", more);
}

static void add_nodes(struct why_page *p, struct buf *b)
{
    if (!p->placed || !p->why.n_reasons)
        return;
    add_heading(b, "Nodes");
    if (p->why.usable)
        buf_printf(b, "  %" PRId64 " of %" PRId64 " can be used\n", p->why.usable, p->why.nodes);
    for (size_t i = 0; i < p->why.n_reasons; i++)
        buf_printf(b, "  %" PRId64 " %" PRI_STR "\n", p->why.reasons[i].nodes,
                   STR_ARG(why_reason_text(p->a, p->why.reasons[i].text, p->why.reasons[i].nodes)));
}

static void add_group(struct why_page *p, struct buf *b)
{
    if (!why_group_waits(p->group))
        return;
    add_heading(b, "PodGroup");
    buf_printf(b, "  %" PRI_STR "\n", STR_ARG(why_group_text(p)));
}

static void add_queue(struct why_page *p, struct buf *b)
{
    if (!p->n_before)
        return;
    add_heading(b, "Before it in the queue");
    for (size_t i = 0; i < p->n_before && i < HOLDERS_SHOWN; i++)
        buf_printf(b, "  %" PRI_STR " %" PRI_STR "/%" PRI_STR "\n", STR_ARG(p->before[i].kind),
                   STR_ARG(p->before[i].ns), STR_ARG(p->before[i].name));
    if (p->n_before > HOLDERS_SHOWN)
        buf_printf(b, "  and %zu more\n", p->n_before - HOLDERS_SHOWN);
}

/* ---- pods, help, and what is not known */

static void add_pods(struct why_page *p, struct buf *b)
{
    if (p->n_pods < 2 || !p->n_waits)
        return;
    add_heading(b, "Pods that do not run");
    notes_print(p->a, b, p->waits, p->n_waits, PODS_SHOWN);
}

static void add_help(struct why_page *p, struct buf *b)
{
    if (p->state != STATE_WAITS && p->state != STATE_SUSPENDED)
        return;
    if (!p->n_helps && !p->advice.n && !(p->placed && p->why.never))
        return;
    add_heading(b, "What would help");
    if (p->advice.n)
        buf_printf(b, "  - %" PRI_STR "\n", STR_ARG(p->advice));
    for (size_t i = 0; i < p->n_helps; i++)
        buf_printf(b, "  - %" PRI_STR "\n", STR_ARG(why_help_text(p->a, &p->helps[i])));
    if (!p->n_helps && !p->advice.n)
        buf_add(b, S("  nothing on these nodes: other nodes, or other requests\n"));
}

static void add_unknown(struct why_page *p, struct buf *b)
{
    if (!p->n_unknown)
        return;
    add_heading(b, "Not known");
    for (size_t i = 0; i < p->n_unknown; i++)
        buf_printf(b, "  %" PRI_STR "\n", STR_ARG(p->unknown[i]));
}

/* Lines with nothing of a cluster's control characters in them. */
static str plain_lines(struct arena *a, str text)
{
    AUTO(buf) struct buf b = { 0 };

    while (text.n) {
        buf_add(&b, text_plain(a, str_cut(&text, '\n')));
        buf_addc(&b, '\n');
    }
    return arena_str(a, buf_str(&b));
}

str why_text(struct why_page *p)
{
    AUTO(buf) struct buf b = { 0 };
    const char *verb = p->state == STATE_WAITS ? "waits: " : "is ";

    if (p->state == STATE_ENDED)
        verb = "has ";
    buf_printf(&b, "%" PRI_STR " %s%" PRI_STR "\n", STR_ARG(p->title), verb, STR_ARG(p->sentence));
    if (p->state == STATE_WAITS && p->placed) {
        add_lacks(p, &b);
        add_holders(p, &b);
        add_nodes(p, &b);
    }
    if (p->state == STATE_WAITS) {
        add_group(p, &b);
        add_queue(p, &b);
    }
    add_pods(p, &b);
    add_help(p, &b);
    add_unknown(p, &b);
    return plain_lines(p->a, buf_str(&b));
}

/* ---- JSON */

static jv pods_json(struct why_page *p)
{
    struct jbuild b = jb_arr(p->a);

    for (size_t i = 0; i < p->n_waits; i++)
        jb_push(&b, jobj(p->a, { "name", jstr(p->a, p->waits[i].name) },
                         { "message", jstr(p->a, p->waits[i].text) }));
    return jb_done(&b);
}

static jv help_json(struct why_page *p)
{
    struct jbuild b = jb_arr(p->a);

    if (p->advice.n)
        jb_push(&b, jobj(p->a, { "text", jstr(p->a, p->advice) }, { "steps", JV_EMPTY_ARR }));
    for (size_t i = 0; i < p->n_helps; i++)
        jb_push(&b, why_help_json(p->a, &p->helps[i]));
    return jb_done(&b);
}

static jv queue_json(struct why_page *p)
{
    struct jbuild b = jb_arr(p->a);

    for (size_t i = 0; i < p->n_before; i++)
        jb_push(&b, jobj(p->a, { "kind", jstr(p->a, p->before[i].kind) },
                         { "namespace", jstr(p->a, p->before[i].ns) },
                         { "name", jstr(p->a, p->before[i].name) }));
    return jobj(p->a, { "position", jint(p->a, (int64_t)p->n_before + 1) },
                { "before", jb_done(&b) });
}

static jv unknown_json(struct why_page *p)
{
    struct jbuild b = jb_arr(p->a);

    for (size_t i = 0; i < p->n_unknown; i++)
        jb_push(&b, jstr(p->a, p->unknown[i]));
    return jb_done(&b);
}

jv why_page_json(struct why_page *p)
{
    struct arena *a = p->a;
    bool waits = p->state == STATE_WAITS;

    return jobj(
        a, { "object", jstr(a, p->title) }, { "namespace", jstr(a, meta_namespace(p->obj)) },
        { "state", jstr(a, str_of(states[p->state])) }, { "sentence", jstr(a, p->sentence) },
        { "pods",
          jobj(a, { "wanted", jint(a, p->wanted) }, { "running", jint(a, (int64_t)p->n_running) },
               { "waiting", pods_json(p) }) },
        { "scheduling", waits && p->placed ? why_json(a, &p->why) : JV_ABSENT },
        { "group", waits && why_group_waits(p->group) ? why_group_json(p) : JV_ABSENT },
        { "queue", waits && p->placed ? queue_json(p) : JV_ABSENT }, { "help", help_json(p) },
        { "unknown", unknown_json(p) });
}
