/* A value and what it was before, walked down together. Elements of lists find their old selves by
 * their keys, and members by their names, through a map where there are many. */

#include "crd/check.h"

enum { SHORT_LIST = 16 };

/* The keys of an element as one text. */
static str identity(struct buf *b, const struct schema *s, jv element)
{
    buf_clear(b);
    for (const char *const *k = s->list_keys; *k; k++) {
        jv key = jv_get(element, str_of(*k));
        if (jv_exists(key))
            json_print(b, key);
        buf_addc(b, ',');
    }
    return buf_str(b);
}

void old_list_init(struct old_list *l, const struct pair *p)
{
    AUTO(buf) struct buf b = { 0 };

    *l = (struct old_list){ .pair = p };
    if (!p || !p->schema || jv_len(p->old) <= SHORT_LIST)
        return;
    for (struct jv_iter it = jv_iter(p->old); jv_is(p->old, JV_OBJ) && jv_next(&it);)
        map_put(&l->by_keys, it.key, (void *)it.i);
    if (jv_is(p->old, JV_OBJ) || p->schema->list != LIST_MAP)
        return;
    l->a = arena_new();
    for (size_t i = jv_len(p->old); i-- > 0;) /* of several the first stays */
        if (jv_is(jv_index(p->old, i), JV_OBJ))
            map_put(&l->by_keys, arena_str(l->a, identity(&b, p->schema, jv_index(p->old, i))),
                    (void *)(i + 1));
}

void old_list_done(struct old_list *l)
{
    map_done(&l->by_keys);
    arena_free(l->a);
}

static bool same_keys(const struct schema *s, jv x, jv y)
{
    bool same = jv_is(x, JV_OBJ);

    for (const char *const *k = s->list_keys; same && *k; k++)
        same = jv_equal(jv_get(x, str_of(*k)), jv_get(y, str_of(*k)));
    return same;
}

jv old_list_find(const struct old_list *l, jv element)
{
    const struct pair *p = l->pair;

    if (!p || !p->schema || p->schema->list != LIST_MAP || !jv_is(element, JV_OBJ))
        return JV_ABSENT;
    if (l->a) {
        AUTO(buf) struct buf b = { 0 };
        size_t i = (size_t)map_get(&l->by_keys, identity(&b, p->schema, element));
        return i ? jv_index(p->old, i - 1) : JV_ABSENT;
    }
    JV_EACH (it, p->old)
        if (same_keys(p->schema, it.value, element))
            return it.value;
    return JV_ABSENT;
}

static const struct schema *member_schema(const struct schema *s, str key)
{
    const struct schema *prop = s->rules ? rules_prop(s->rules, key) : NULL;

    return prop || !s->rules ? prop : s->rules->more;
}

jv old_list_get(const struct old_list *l, str key)
{
    jv old = l->pair ? l->pair->old : JV_ABSENT;

    if (!l->by_keys.n)
        return jv_get(old, key);
    size_t i = (size_t)map_get(&l->by_keys, key);
    return i ? (jv){ old.node->u.items + 2 * i - 1 } : JV_ABSENT;
}

bool pair_key(const struct old_list *l, str key, jv now, struct pair *out)
{
    const struct pair *up = l->pair;

    if (!up || !up->schema || !jv_is(up->old, JV_OBJ))
        return false;
    *out = (struct pair){ member_schema(up->schema, key), now, old_list_get(l, key) };
    return out->schema && jv_exists(out->old);
}

bool pair_index(const struct old_list *l, size_t i, struct pair *out)
{
    const struct pair *up = l->pair;

    if (!up || !up->schema || !up->schema->rules || !up->schema->rules->items)
        return false;
    jv now = jv_index(up->now, i);
    *out = (struct pair){ up->schema->rules->items, now, old_list_find(l, now) };
    return jv_exists(out->old);
}

static bool kids_unchanged(const struct pair *p)
{
    struct old_list old;
    struct pair child;
    bool same = true;

    old_list_init(&old, p);
    for (struct jv_iter it = jv_iter(p->now); same && jv_next(&it);)
        same = (jv_is(p->now, JV_OBJ) ? pair_key(&old, it.key, it.value, &child)
                                      : pair_index(&old, it.i - 1, &child)) &&
               pair_unchanged(&child);
    old_list_done(&old);
    return same;
}

bool pair_unchanged(const struct pair *p)
{
    bool lists = jv_is(p->now, JV_ARR) && jv_is(p->old, JV_ARR) && p->schema->list == LIST_MAP;

    if (jv_is_null(p->now) || jv_is_null(p->old))
        return jv_is_null(p->now) && jv_is_null(p->old);
    if (lists || (jv_is(p->now, JV_OBJ) && jv_is(p->old, JV_OBJ)))
        return jv_len(p->now) == jv_len(p->old) && kids_unchanged(p);
    return jv_equal(p->now, p->old);
}
