/* A value and what it was before, walked down together. Elements of lists find their old selves by
 * their keys, through a map where the list is long. */

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
    if (!p || !p->schema || p->schema->list != LIST_MAP || jv_len(p->old) <= SHORT_LIST)
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

bool pair_key(const struct pair *up, str key, struct pair *out)
{
    if (!up || !up->schema)
        return false;
    *out =
        (struct pair){ member_schema(up->schema, key), jv_get(up->now, key), jv_get(up->old, key) };
    return out->schema && jv_exists(out->now) && jv_exists(out->old);
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

bool pair_unchanged(const struct pair *p)
{
    struct pair child;

    if (jv_is_null(p->now) || jv_is_null(p->old))
        return jv_is_null(p->now) && jv_is_null(p->old);
    if (jv_is(p->now, JV_OBJ) && jv_is(p->old, JV_OBJ)) {
        if (jv_len(p->now) != jv_len(p->old))
            return false;
        JV_EACH (it, p->now)
            if (!pair_key(p, it.key, &child) || !pair_unchanged(&child))
                return false;
        return true;
    }
    if (jv_is(p->now, JV_ARR) && jv_is(p->old, JV_ARR) && p->schema->list == LIST_MAP) {
        if (jv_len(p->now) != jv_len(p->old))
            return false;
        struct old_list old;
        bool same = true;
        old_list_init(&old, p);
        for (size_t i = 0; same && i < jv_len(p->now); i++)
            same = pair_index(&old, i, &child) && pair_unchanged(&child);
        old_list_done(&old);
        return same;
    }
    return jv_equal(p->now, p->old);
}
