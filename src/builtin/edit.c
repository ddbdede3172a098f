/* Copy on the first change; see edit.h. */

#include "builtin/edit.h"

struct edit edit(struct arena *a, jv obj)
{
    return (struct edit){ .a = a, .was = jv_is(obj, JV_OBJ) ? obj : JV_EMPTY_OBJ };
}

static void own(struct edit *e, uint32_t more)
{
    uint32_t have = e->nodes ? e->n : (uint32_t)jv_len(e->was);

    if (e->nodes && have + more <= e->cap)
        return;
    uint32_t cap = have + more + 8;
    struct jnode *nodes = arena_alloc(e->a, (size_t)cap * 2 * sizeof(*nodes));
    const struct jnode *from = e->nodes ? e->nodes : e->was.node->u.items;
    if (have)
        memcpy(nodes, from, (size_t)have * 2 * sizeof(*nodes));
    e->nodes = nodes;
    e->n = have;
    e->cap = cap;
}

static struct jnode *find(const struct edit *e, str key)
{
    for (uint32_t i = 0; i < e->n; i++) {
        struct jnode *k = e->nodes + (size_t)2 * i;
        if (str_eq((str){ k->u.text, k->n }, key))
            return k;
    }
    return NULL;
}

jv edit_get(const struct edit *e, str key)
{
    if (!e->nodes)
        return jv_get(e->was, key);
    struct jnode *k = find(e, key);
    return k ? (jv){ k + 1 } : JV_ABSENT;
}

void edit_set(struct edit *e, str key, jv value)
{
    jv now = edit_get(e, key);

    if (now.node == value.node)
        return;
    own(e, 1);
    struct jnode *k = find(e, key);
    if (!jv_exists(value)) {
        size_t after = e->n - (size_t)(k - e->nodes) / 2 - 1;
        memmove(k, k + 2, after * 2 * sizeof(*k));
        e->n--;
        return;
    }
    if (!k) {
        k = e->nodes + (size_t)2 * e->n++;
        *k = (struct jnode){ .type = JV_STR, .n = (uint32_t)key.n, .u.text = key.p };
    }
    k[1] = *value.node;
}

void edit_default(struct edit *e, str key, jv value)
{
    jv now = edit_get(e, key);

    if (jv_is_null(now) || (jv_is(now, JV_STR) && !now.node->n))
        edit_set(e, key, value);
}

void edit_default_zero(struct edit *e, str key, int64_t value)
{
    jv now = edit_get(e, key);

    if (jv_is_null(now) || (jv_is(now, JV_INT) && now.node->u.i == 0))
        edit_set(e, key, LINT(value));
}

void edit_in(struct edit *e, str key, edit_fn *f)
{
    jv now = edit_get(e, key);

    if (jv_is(now, JV_OBJ))
        edit_set(e, key, f(e->a, now));
}

void edit_each(struct edit *e, str key, edit_fn *f)
{
    jv now = edit_get(e, key);

    if (jv_is(now, JV_ARR))
        edit_set(e, key, edit_list(e->a, now, f));
}

static jv node_of(struct arena *a, enum jv_type type, uint32_t n, const struct jnode *items)
{
    struct jnode *node = arena_alloc(a, sizeof(*node));

    *node = (struct jnode){ .type = type, .n = n, .u.items = items };
    return (jv){ node };
}

jv edit_done(struct edit *e)
{
    if (!e->nodes)
        return e->was;
    return node_of(e->a, JV_OBJ, e->n, e->nodes);
}

jv edit_list(struct arena *a, jv list, edit_fn *f)
{
    size_t n = jv_len(list);
    struct jnode *out = NULL;

    for (size_t i = 0; i < n; i++) {
        jv was = jv_index(list, i);
        jv now = f(a, was);
        if (!out && now.node != was.node) {
            out = arena_alloc(a, n * sizeof(*out));
            memcpy(out, list.node->u.items, n * sizeof(*out));
        }
        if (out)
            out[i] = *now.node;
    }
    return out ? node_of(a, JV_ARR, (uint32_t)n, out) : list;
}

jv edit_member(struct arena *a, jv obj, str key, edit_fn *f)
{
    struct edit e = edit(a, obj);

    edit_set(&e, key, f(a, edit_get(&e, key)));
    return edit_done(&e);
}
