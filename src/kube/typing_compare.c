/* Where two values of one type differ. Parts that the two share are not looked at. */

#include "kube/members.h"
#include "kube/typing.h"

enum { REMOVED, MODIFIED, ADDED, SETS };

/* Below one value: three sets being built, and whether the path to it is in them. */
struct level {
    struct field_builder sets[SETS];
};

struct found {
    bool self[SETS];
    struct fieldset sub[SETS];
};

static struct found compare(struct arena *a, const struct schema *s, jv l, jv r);

static void note(struct level *to, struct field_element el, const struct found *f)
{
    for (int i = 0; i < SETS; i++)
        field_add(&to->sets[i], el, f->self[i], f->sub[i]);
}

static bool same(jv l, jv r)
{
    return l.node == r.node ||
           (l.node && r.node && l.node->type == r.node->type && l.node->n == r.node->n &&
            l.node->u.items == r.node->u.items && jv_len(l));
}

static jv nth_value(jv obj, size_t i, str key)
{
    if (i >= jv_len(obj))
        return JV_ABSENT;
    const struct jnode *k = obj.node->u.items + 2 * i;
    return str_eq((str){ k->u.text, k->n }, key) ? (jv){ k + 1 } : JV_ABSENT;
}

static void compare_maps(struct arena *a, const struct schema *s, jv l, jv r, struct level *to)
{
    struct members left = members_of(a, l);
    struct members right = members_of(a, r);
    size_t hint = 0;

    JV_EACH (it, r) {
        jv was = nth_value(l, it.i - 1, it.key);
        if (!jv_exists(was))
            was = members_get(&left, it.key);
        if (same(was, it.value))
            continue;
        struct found f = compare(a, typing_member(s, it.key, &hint), was, it.value);
        note(to, field_named(it.key), &f);
    }
    JV_EACH (it, l) {
        if (jv_exists(nth_value(r, it.i - 1, it.key)) || jv_exists(members_get(&right, it.key)))
            continue;
        struct found f = compare(a, typing_member(s, it.key, &hint), it.value, JV_ABSENT);
        note(to, field_named(it.key), &f);
    }
}

/* An element that is there more than once has no inner life: it is its name that comes and goes. */
static struct found compare_groups(struct arena *a, const struct schema *s,
                                   const struct typed_item *l, size_t nl,
                                   const struct typed_item *r, size_t nr)
{
    struct found f = { 0 };

    if (nl <= 1 && nr <= 1)
        return compare(a, s, nl ? l->v : JV_ABSENT, nr ? r->v : JV_ABSENT);
    if (nl >= 2 && nr >= 2) {
        bool equal = nl == nr;
        for (size_t i = 0; equal && i < nl; i++)
            equal = jv_equal(l[i].v, r[i].v);
        f.self[MODIFIED] = !equal;
        return f;
    }
    if (nl >= 2) {
        if (nr)
            f = compare(a, s, JV_ABSENT, r->v);
        f.self[REMOVED] = true;
    } else {
        if (nl)
            f = compare(a, s, l->v, JV_ABSENT);
        f.self[ADDED] = true;
    }
    return f;
}

static size_t group(const struct typed_item *items, size_t from, size_t n)
{
    size_t to = from;

    while (to < n && field_cmp(&items[from].el, &items[to].el) == 0)
        to++;
    return to - from;
}

static void compare_lists(struct arena *a, const struct schema *s, jv l, jv r, struct level *to)
{
    size_t nl;
    size_t nr;
    struct typed_item *left = typing_items(a, s, l, true, &nl);
    struct typed_item *right = typing_items(a, s, r, true, &nr);

    for (size_t i = 0, j = 0; i < nl || j < nr;) {
        int c = i == nl ? 1 : j == nr ? -1 : field_cmp(&left[i].el, &right[j].el);
        size_t gl = c <= 0 ? group(left, i, nl) : 0;
        size_t gr = c >= 0 ? group(right, j, nr) : 0;
        struct found f = compare_groups(a, s->items, left + i, gl, right + j, gr);
        note(to, c <= 0 ? left[i].el : right[j].el, &f);
        i += gl;
        j += gr;
    }
}

/* Whether a container on the other side has this one's place without having had a value. */
static bool is_void(const struct schema *s, jv v, enum typing other)
{
    if (jv_is_null(v))
        return true;
    if (s && s->type != SCHEMA_ANY)
        return !jv_len(v) || other == TYPING_LEAF;
    return jv_is(v, other == TYPING_MAP ? JV_OBJ : JV_ARR) && !jv_len(v);
}

static struct found compare(struct arena *a, const struct schema *s, jv l, jv r)
{
    struct found f = { 0 };
    struct level below = { { { .a = a }, { .a = a }, { .a = a } } };
    enum typing tl = typing_of(s, l);
    enum typing tr = typing_of(s, r);

    f.self[ADDED] = !jv_exists(l);
    f.self[REMOVED] = !jv_exists(r);
    if (tl == TYPING_LEAF && tr == TYPING_LEAF) {
        f.self[MODIFIED] = jv_exists(l) && jv_exists(r) && !jv_equal(l, r);
        return f;
    }
    if (tl != tr && jv_exists(l) && jv_exists(r))
        f.self[MODIFIED] = tl == TYPING_LEAF ? !is_void(s, l, tr) : !is_void(s, r, tl);
    jv lm = tl == TYPING_MAP ? l : JV_ABSENT;
    jv rm = tr == TYPING_MAP ? r : JV_ABSENT;
    jv ll = tl == TYPING_LIST ? l : JV_ABSENT;
    jv rl = tr == TYPING_LIST ? r : JV_ABSENT;
    if (jv_exists(lm) || jv_exists(rm))
        compare_maps(a, s, lm, rm, &below);
    if (jv_exists(ll) || jv_exists(rl))
        compare_lists(a, s, ll, rl, &below);
    for (int i = 0; i < SETS; i++)
        f.sub[i] = field_done(&below.sets[i]);
    return f;
}

struct typed_diff typing_compare(struct arena *a, const struct schema *s, jv before, jv after)
{
    if (same(before, after))
        return (struct typed_diff){ 0 };
    struct found f = compare(a, s, jv_exists(before) ? before : JV_EMPTY_OBJ, after);
    return (struct typed_diff){ f.sub[REMOVED], f.sub[MODIFIED], f.sub[ADDED] };
}
