/* Reading JSON values, comparing them, and documents that own their memory. */

#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static const struct jnode null_node = { .type = JV_NULL };
static const struct jnode true_node = { .type = JV_BOOL, .u.i = 1 };
static const struct jnode false_node = { .type = JV_BOOL };
static const struct jnode obj_node = { .type = JV_OBJ };
static const struct jnode arr_node = { .type = JV_ARR };

const jv JV_ABSENT = { NULL };
const jv JV_NULL_V = { &null_node };
const jv JV_TRUE = { &true_node };
const jv JV_FALSE = { &false_node };
const jv JV_EMPTY_OBJ = { &obj_node };
const jv JV_EMPTY_ARR = { &arr_node };

jv jv_get(jv obj, str key)
{
    if (!jv_is(obj, JV_OBJ))
        return JV_ABSENT;
    const struct jnode *k = obj.node->u.items;
    for (uint32_t i = 0; i < obj.node->n; i++, k += 2)
        if (k->n == key.n && (key.n == 0 || memcmp(k->u.text, key.p, key.n) == 0))
            return (jv){ k + 1 };
    return JV_ABSENT;
}

jv jv_path(jv v, const char *const *steps)
{
    for (; *steps && v.node; steps++)
        v = jv_get(v, str_of(*steps));
    return v;
}

jv jv_index(jv arr, size_t i)
{
    return jv_is(arr, JV_ARR) && i < arr.node->n ? (jv){ arr.node->u.items + i } : JV_ABSENT;
}

size_t jv_len(jv v)
{
    return jv_is(v, JV_ARR) || jv_is(v, JV_OBJ) ? v.node->n : 0;
}

int64_t jv_int(jv v, int64_t fallback)
{
    return jv_is(v, JV_INT) ? v.node->u.i : fallback;
}

bool jv_bool(jv v, bool fallback)
{
    return jv_is(v, JV_BOOL) ? v.node->u.i != 0 : fallback;
}

str jv_str(jv v, str fallback)
{
    return jv_is(v, JV_STR) ? (str){ v.node->u.text, v.node->n } : fallback;
}

double jv_double(jv v, double fallback)
{
    char small[64];

    if (jv_is(v, JV_INT))
        return (double)v.node->u.i;
    if (!jv_is(v, JV_NUM))
        return fallback;
    size_t n = v.node->n;
    char *text = n < sizeof(small) ? small : mem_room(n + 1); /* strtod wants a NUL at the end */
    memcpy(text, v.node->u.text, n);
    text[n] = 0;
    double d = strtod(text, NULL);
    if (text != small)
        free(text);
    return d;
}

str jv_num_text(struct arena *a, jv v)
{
    if (jv_is(v, JV_INT))
        return arena_printf(a, "%lld", (long long)v.node->u.i);
    return jv_is(v, JV_NUM) ? (str){ v.node->u.text, v.node->n } : STR_NONE;
}

bool jv_next(struct jv_iter *it)
{
    const struct jnode *of = it->of.node;

    if (!of || it->i >= of->n)
        return false;
    if (of->type == JV_OBJ) {
        const struct jnode *k = of->u.items + 2 * it->i;
        it->key = (str){ k->u.text, k->n };
        it->value = (jv){ k + 1 };
    } else if (of->type == JV_ARR) {
        it->value = (jv){ of->u.items + it->i };
    } else {
        return false;
    }
    it->i++;
    return true;
}

/* A whole number past int64; two such are equal only if written alike. */
static bool is_large(const struct jnode *v)
{
    if (v->type != JV_NUM || v->n < 19)
        return false;
    for (uint32_t i = 1; i < v->n; i++)
        if (v->u.text[i] < '0' || v->u.text[i] > '9')
            return false;
    return true;
}

static bool number_equal(const struct jnode *a, const struct jnode *b)
{
    if (a->type == JV_INT && b->type == JV_INT)
        return a->u.i == b->u.i;
    if (a->type == JV_NUM && b->type == JV_NUM &&
        str_eq((str){ a->u.text, a->n }, (str){ b->u.text, b->n }))
        return true;
    if ((is_large(a) || a->type == JV_INT) && (is_large(b) || b->type == JV_INT))
        return false;
    double x = jv_double((jv){ a }, 0);
    double y = jv_double((jv){ b }, 0);
    return x <= y && x >= y;
}

static bool is_number(jv v)
{
    return jv_is(v, JV_INT) || jv_is(v, JV_NUM);
}

/* The member of b at place i if that is its name: objects that are alike mostly have one order. */
static jv at_place(jv b, size_t i, str key)
{
    const struct jnode *k = b.node->u.items + 2 * i;

    return i < b.node->n && str_eq((str){ k->u.text, k->n }, key) ? (jv){ k + 1 } : JV_ABSENT;
}

static void fill_index(struct map *index, jv obj)
{
    for (size_t i = 0; i < obj.node->n; i++) {
        const struct jnode *k = obj.node->u.items + 2 * i;
        map_put(index, (str){ k->u.text, k->n }, (void *)(i + 1));
    }
}

/* The member of b named as the one at hand of another object. index starts as { 0 } and is filled
 * where b is large and in another order. */
static jv beside(struct map *index, jv b, const struct jv_iter *it)
{
    jv other = at_place(b, it->i - 1, it->key);

    if (jv_exists(other) || b.node->n <= 32)
        return jv_exists(other) ? other : jv_get(b, it->key);
    if (!index->n)
        fill_index(index, b);
    size_t i = (size_t)map_get(index, it->key); /* offset by one: NULL is no entry */
    return i ? (jv){ b.node->u.items + 2 * i - 1 } : JV_ABSENT;
}

/* As many members on both sides. */
static bool objects_equal(jv a, jv b)
{
    struct map index = { 0 };
    bool equal = true;

    for (struct jv_iter it = jv_iter(a); equal && jv_next(&it);)
        equal = jv_equal(it.value, beside(&index, b, &it));
    map_done(&index);
    return equal;
}

bool jv_equal(jv a, jv b)
{
    if (a.node == b.node)
        return true;
    if (!a.node || !b.node)
        return false;
    if (is_number(a) && is_number(b))
        return number_equal(a.node, b.node);
    if (jv_type(a) != jv_type(b) || a.node->n != b.node->n)
        return false;
    switch (jv_type(a)) {
    case JV_NONE:
    case JV_NULL:
        return true;
    case JV_BOOL:
        return a.node->u.i == b.node->u.i;
    case JV_STR:
        return str_eq(jv_str(a, STR_NONE), jv_str(b, STR_NONE));
    case JV_ARR:
        if (a.node->u.items == b.node->u.items)
            return true;
        for (size_t i = 0; i < a.node->n; i++)
            if (!jv_equal(jv_index(a, i), jv_index(b, i)))
                return false;
        return true;
    case JV_OBJ:
        if (a.node->u.items == b.node->u.items)
            return true;
        return objects_equal(a, b);
    case JV_INT:
    case JV_NUM:
        break; /* handled above */
    }
    return false;
}

static bool is_zero(jv v)
{
    return jv_is_null(v) ||
           ((jv_is(v, JV_OBJ) || jv_is(v, JV_ARR) || jv_is(v, JV_STR)) && !v.node->n);
}

static bool objects_equal_semantic(jv a, jv b)
{
    struct map in_b = { 0 };
    struct map in_a = { 0 };
    bool equal = true;

    for (struct jv_iter it = jv_iter(a); equal && jv_next(&it);)
        equal = jv_equal_semantic(it.value, beside(&in_b, b, &it));
    for (struct jv_iter it = jv_iter(b); equal && jv_next(&it);)
        equal = is_zero(it.value) || jv_exists(beside(&in_a, a, &it));
    map_done(&in_b);
    map_done(&in_a);
    return equal;
}

bool jv_equal_semantic(jv a, jv b)
{
    if (is_zero(a) && is_zero(b))
        return true;
    if (!a.node || !b.node)
        return false;
    if (jv_is(a, JV_OBJ) && jv_is(b, JV_OBJ)) {
        if (a.node->u.items == b.node->u.items && a.node->n == b.node->n)
            return true;
        return objects_equal_semantic(a, b);
    }
    if (jv_is(a, JV_ARR) && jv_is(b, JV_ARR)) {
        if (a.node->n != b.node->n)
            return false;
        for (size_t i = 0; i < a.node->n; i++)
            if (!jv_equal_semantic(jv_index(a, i), jv_index(b, i)))
                return false;
        return true;
    }
    return jv_equal(a, b);
}

struct jdoc {
    atomic_uint refs;
    struct arena *arena;
    jv root;
};

struct jdoc *jdoc_of(struct arena *a, jv root)
{
    struct jdoc *d = mem_room(sizeof(*d));

    atomic_init(&d->refs, 1);
    d->arena = a;
    d->root = root;
    return d;
}

struct jdoc *jdoc_parse(str text, const struct json_opts *opts, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    jv root = json_parse(a, arena_str(a, text), opts, e);

    return jv_exists(root) ? jdoc_of(TAKE(a), root) : NULL;
}

struct jdoc *jdoc_ref(struct jdoc *d)
{
    if (d)
        atomic_fetch_add_explicit(&d->refs, 1, memory_order_relaxed);
    return d;
}

void jdoc_unref(struct jdoc *d)
{
    if (d && atomic_fetch_sub_explicit(&d->refs, 1, memory_order_acq_rel) == 1) {
        arena_free(d->arena);
        free(d);
    }
}

jv jdoc_root(const struct jdoc *d)
{
    return d ? d->root : JV_ABSENT;
}
