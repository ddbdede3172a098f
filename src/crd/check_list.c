/* Lists that are sets or maps: no element twice. */

#include "base/map.h"
#include "crd/rules.h"

/* What tells an element apart, as text: Go compares scalars by value and the rest as JSON. */
static str identity(struct arena *a, jv key)
{
    return json_text(a, key);
}

/* The second appearance of each element; later ones are not told. */
static void check_unique(struct problems *ps, const struct path *p, const jv *keys, const jv *shown,
                         size_t n)
{
    static const char once;
    static const char twice;
    struct map seen = { 0 };

    for (size_t i = 0; i < n; i++) {
        str id = identity(ps->a, keys[i]);
        const char *before = map_get(&seen, id);
        if (before == &once) {
            problem_duplicate(ps, ATI(p, i), shown[i]);
        }
        map_put(&seen, id, (void *)(uintptr_t)(before ? &twice : &once));
    }
    map_done(&seen);
}

static void check_map(struct problems *ps, const struct schema *s, const struct path *p, jv v)
{
    size_t n = jv_len(v);
    jv *keys = ARENA_ARRAY(ps->a, jv, n);

    for (size_t i = 0; i < n; i++) {
        jv element = jv_index(v, i);
        struct jbuild b = jb_obj(ps->a);
        if (!jv_is(element, JV_OBJ) && !jv_is(element, JV_NULL)) {
            problem_invalid(ps, ATI(p, i), element,
                            "must be an object for an array of list-type map");
            return;
        }
        for (const char *const *k = s->list_keys; *k; k++)
            jb_set(&b, str_of(*k), jv_get(element, str_of(*k)));
        keys[i] = jb_done(&b);
    }
    check_unique(ps, p, keys, keys, n);
}

static void check_set(struct problems *ps, const struct path *p, jv v)
{
    size_t n = jv_len(v);
    jv *keys = ARENA_ARRAY(ps->a, jv, n);

    for (size_t i = 0; i < n; i++)
        keys[i] = jv_index(v, i);
    check_unique(ps, p, keys, keys, n);
}

void check_lists(struct problems *ps, const struct schema *s, const struct path *p, jv v)
{
    const struct crd_rules *r = s->rules;

    if (!r || !(r->below & BELOW_LIST))
        return;
    if (jv_is(v, JV_ARR)) {
        if (s->list == LIST_SET)
            check_set(ps, p, v);
        else if (s->list == LIST_MAP)
            check_map(ps, s, p, v);
        for (size_t i = 0; r->items && i < jv_len(v); i++) {
            struct path at = path_index(p, i);
            check_lists(ps, r->items, &at, jv_index(v, i));
        }
    }
    for (struct jv_iter it = jv_iter(v); jv_is(v, JV_OBJ) && jv_next(&it);) {
        const struct schema *prop = rules_prop(r, it.key);
        struct path at = prop ? path_field(p, it.key) : path_key(p, it.key);
        if (prop || r->more)
            check_lists(ps, prop ? prop : r->more, &at, it.value);
    }
}
