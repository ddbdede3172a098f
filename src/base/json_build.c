/* Making JSON values: new ones, and changed ones that share what did not change. */

#include "base/json.h"

static jv node_new(struct arena *a, struct jnode node)
{
    struct jnode *n = arena_alloc(a, sizeof(*n));

    *n = node;
    return (jv){ n };
}

static struct jnode str_node(str s)
{
    return (struct jnode){ .type = JV_STR, .n = (uint32_t)s.n, .u.text = s.p };
}

jv jstr(struct arena *a, str s)
{
    return node_new(a, str_node(s));
}

jv jint(struct arena *a, int64_t i)
{
    return node_new(a, (struct jnode){ .type = JV_INT, .u.i = i });
}

jv jbool(bool b)
{
    return b ? JV_TRUE : JV_FALSE;
}

jv jnum(struct arena *a, str text)
{
    int64_t i;

    if (str_to_int(text, &i) && !str_eq(text, S("-0")))
        return jint(a, i);
    return node_new(a, (struct jnode){ .type = JV_NUM, .n = (uint32_t)text.n, .u.text = text.p });
}

jv jobj_n(struct arena *a, const struct jpair *pairs, size_t n)
{
    struct jnode *items = arena_alloc(a, n * 2 * sizeof(*items));
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        if (!jv_exists(pairs[i].value))
            continue;
        items[used * 2] = str_node(str_of(pairs[i].key));
        items[used * 2 + 1] = *pairs[i].value.node;
        used++;
    }
    return node_new(a, (struct jnode){ .type = JV_OBJ, .n = (uint32_t)used, .u.items = items });
}

jv jarr_n(struct arena *a, const jv *from, size_t n)
{
    struct jnode *items = arena_alloc(a, n * sizeof(*items));
    uint32_t used = 0;

    for (size_t i = 0; i < n; i++)
        if (jv_exists(from[i]))
            items[used++] = *from[i].node;
    return node_new(a, (struct jnode){ .type = JV_ARR, .n = used, .u.items = items });
}

struct jbuild jb_obj(struct arena *a)
{
    return (struct jbuild){ .a = a, .is_obj = true };
}

struct jbuild jb_arr(struct arena *a)
{
    return (struct jbuild){ .a = a };
}

static void reserve(struct jbuild *b, uint32_t n)
{
    if (b->nodes && b->n + n <= b->cap)
        return;
    uint32_t cap = b->cap ? b->cap * 2 : 8;
    while (cap < b->n + n)
        cap *= 2;
    struct jnode *nodes = arena_alloc(b->a, cap * sizeof(*nodes));
    if (b->n)
        memcpy(nodes, b->nodes, b->n * sizeof(*nodes));
    b->nodes = nodes;
    b->cap = cap;
}

struct jbuild jb_from(struct arena *a, jv v)
{
    struct jbuild b = { .a = a, .is_obj = !jv_is(v, JV_ARR) };
    uint32_t n = (uint32_t)jv_len(v) * (b.is_obj ? 2 : 1);

    reserve(&b, n + 2);
    if (n)
        memcpy(b.nodes, v.node->u.items, n * sizeof(*b.nodes));
    b.n = n;
    return b;
}

static uint32_t find(const struct jbuild *b, str key)
{
    uint32_t i = 0;

    while (i < b->n && !str_eq((str){ b->nodes[i].u.text, b->nodes[i].n }, key))
        i += 2;
    return i;
}

void jb_set(struct jbuild *b, str key, jv value)
{
    uint32_t i = find(b, key);

    if (i == b->n) {
        jb_add(b, key, value);
    } else if (jv_exists(value)) {
        b->nodes[i + 1] = *value.node;
    } else {
        memmove(b->nodes + i, b->nodes + i + 2, (b->n - i - 2) * sizeof(*b->nodes));
        b->n -= 2;
    }
}

void jb_add(struct jbuild *b, str key, jv value)
{
    if (!jv_exists(value))
        return;
    reserve(b, 2);
    b->nodes[b->n] = str_node(key);
    b->nodes[b->n + 1] = *value.node;
    b->n += 2;
}

void jb_push(struct jbuild *b, jv value)
{
    if (!jv_exists(value))
        return;
    reserve(b, 1);
    b->nodes[b->n++] = *value.node;
}

jv jb_get(const struct jbuild *b, str key)
{
    uint32_t i = find(b, key);

    return i < b->n ? (jv){ b->nodes + i + 1 } : JV_ABSENT;
}

void jb_child(struct jbuild *b, struct arena *a, const struct jv_iter *it, jv now)
{
    bool is_obj = jv_is(it->of, JV_OBJ);

    if (!b->a && now.node == it->value.node)
        return;
    if (!b->a) {
        *b = is_obj ? jb_obj(a) : jb_arr(a);
        for (struct jv_iter k = jv_iter(it->of); k.i + 1 < it->i && jv_next(&k);) {
            if (is_obj)
                jb_add(b, k.key, k.value);
            else
                jb_push(b, k.value);
        }
    }
    if (is_obj)
        jb_add(b, it->key, now);
    else if (jv_exists(now))
        jb_push(b, now);
}

jv jb_done(struct jbuild *b)
{
    struct jnode node = { .type = b->is_obj ? JV_OBJ : JV_ARR, .n = b->is_obj ? b->n / 2 : b->n };

    node.u.items = b->nodes;
    b->cap = b->n; /* a later change copies, so what was handed out stays as it is */
    if (b->n) {
        struct jnode *own = arena_alloc(b->a, b->n * sizeof(*own));
        memcpy(own, b->nodes, b->n * sizeof(*own));
        node.u.items = own;
    }
    return node_new(b->a, node);
}

jv jv_with_key(struct arena *a, jv obj, str key, jv value)
{
    struct jbuild b = jb_from(a, jv_is(obj, JV_OBJ) ? obj : JV_EMPTY_OBJ);

    jb_set(&b, key, value);
    return jb_done(&b);
}

jv jv_with_path(struct arena *a, jv v, jv value, const char *const *steps)
{
    if (!*steps)
        return value;
    str key = str_of(*steps);
    jv child = jv_get(v, key);
    if (!jv_exists(value) && !jv_exists(child))
        return v; /* nothing to remove: share all of it */
    return jv_with_key(a, v, key, jv_with_path(a, child, value, steps + 1));
}

jv jv_with_index(struct arena *a, jv arr, size_t i, jv value)
{
    struct jbuild b = jb_from(a, jv_is(arr, JV_ARR) ? arr : JV_EMPTY_ARR);

    if (i < b.n && jv_exists(value)) {
        b.nodes[i] = *value.node;
    } else if (i < b.n) {
        memmove(b.nodes + i, b.nodes + i + 1, (b.n - i - 1) * sizeof(*b.nodes));
        b.n--;
    } else {
        jb_push(&b, value);
    }
    return jb_done(&b);
}

static struct jnode copy(struct arena *a, const struct jnode *from)
{
    struct jnode to = *from;
    size_t n = from->type == JV_OBJ ? (size_t)from->n * 2 : from->n;

    if (from->type == JV_STR || from->type == JV_NUM) {
        to.u.text = arena_str(a, (str){ from->u.text, from->n }).p;
    } else if (from->type == JV_OBJ || from->type == JV_ARR) {
        struct jnode *items = arena_alloc(a, n * sizeof(*items));
        for (size_t i = 0; i < n; i++)
            items[i] = copy(a, &from->u.items[i]);
        to.u.items = items;
    }
    return to;
}

jv jv_copy(struct arena *a, jv v)
{
    return jv_exists(v) ? node_new(a, copy(a, v.node)) : v;
}

/* ---- tightly */

struct tight {
    struct jnode *nodes;
    char *text;
};

static void measure(const struct jnode *from, size_t *nodes, size_t *text)
{
    size_t n = from->type == JV_OBJ ? (size_t)from->n * 2 : from->n;

    if (from->type == JV_STR || from->type == JV_NUM)
        *text += n + 1;
    if (from->type != JV_OBJ && from->type != JV_ARR)
        return;
    *nodes += n;
    for (size_t i = 0; i < n; i++)
        measure(&from->u.items[i], nodes, text);
}

static struct jnode pack(struct tight *t, const struct jnode *from)
{
    struct jnode to = *from;
    size_t n = from->type == JV_OBJ ? (size_t)from->n * 2 : from->n;

    if (from->type == JV_STR || from->type == JV_NUM) {
        if (n)
            memcpy(t->text, from->u.text, n);
        t->text[n] = 0;
        to.u.text = t->text;
        t->text += n + 1;
    } else if (from->type == JV_OBJ || from->type == JV_ARR) {
        struct jnode *items = t->nodes;
        t->nodes += n;
        for (size_t i = 0; i < n; i++)
            items[i] = pack(t, &from->u.items[i]);
        to.u.items = items;
    }
    return to;
}

struct jdoc *jdoc_copy(jv v)
{
    size_t nodes = 1, text = 0;

    if (!jv_exists(v))
        return jdoc_of(arena_new(), v);
    measure(v.node, &nodes, &text);
    struct arena *a = arena_new_for(nodes * sizeof(struct jnode) + text);
    struct jnode *root = arena_alloc(a, nodes * sizeof(struct jnode) + text);
    struct tight t = { .nodes = root + 1, .text = (char *)(root + nodes) };
    *root = pack(&t, v.node);
    return jdoc_of(a, (jv){ root });
}
