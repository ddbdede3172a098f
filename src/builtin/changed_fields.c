/* Walks two values in step and names the deepest fields that differ. */

#include "builtin/changed_fields.h"

#include "base/buf.h"

#include <inttypes.h>

enum { SHOWN = 8, DEPTH = 32 };

struct changed {
    struct arena *a;
    struct buf b;
    size_t n;
};

static void name(struct changed *c, str at)
{
    if (++c->n > SHOWN)
        return;
    if (c->n > 1)
        buf_add(&c->b, S(", "));
    buf_add(&c->b, at.n ? at : S("all of it"));
}

static void compare(struct changed *c, str at, jv before, jv after, int depth)
{
    bool objects = jv_is(before, JV_OBJ) && jv_is(after, JV_OBJ);
    bool lists = jv_is(before, JV_ARR) && jv_is(after, JV_ARR) && jv_len(before) == jv_len(after);

    if (jv_equal_semantic(before, after))
        return;
    if (depth == DEPTH || c->n >= SHOWN || (!objects && !lists)) {
        name(c, at);
        return;
    }
    JV_EACH (it, after) {
        str to = lists ? arena_printf(c->a, "%" PRI_STR "[%zu]", STR_ARG(at), it.i - 1)
                       : arena_printf(c->a, "%" PRI_STR "%s%" PRI_STR, STR_ARG(at), at.n ? "." : "",
                                      STR_ARG(it.key));
        compare(c, to, lists ? jv_index(before, it.i - 1) : jv_get(before, it.key), it.value,
                depth + 1);
    }
    JV_EACH (it, before)
        if (objects && !jv_exists(jv_get(after, it.key)) && !jv_is_null(it.value))
            name(c, arena_printf(c->a, "%" PRI_STR "%s%" PRI_STR, STR_ARG(at), at.n ? "." : "",
                                 STR_ARG(it.key)));
}

str changed_fields(struct arena *a, jv before, jv after)
{
    struct changed c = { .a = a };

    buf_add(&c.b, S("changed: "));
    compare(&c, STR_NONE, before, after, 0);
    if (c.n > SHOWN)
        buf_add(&c.b, S(" and more"));
    str text = arena_str(a, buf_str(&c.b));
    buf_done(&c.b);
    return text;
}
