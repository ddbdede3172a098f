/* JSON Patch. The document is opened into changeable nodes only along the paths that operations
 * touch, so ten thousand operations on a large list cost no ten thousand copies of it. Where
 * kube-apiserver is laxer than the RFC (replace of a missing member, copy of one, negative and
 * padded indices, paths without a leading slash), so are we. */

#include "kube/patch_json.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/vec.h"
#include "kube/goprint.h"

#include <limits.h>

enum { INDEX_FROM = 32 }; /* members before an object gets a hash index */

struct node {
    enum { SHUT, OBJ, ARR } form;
    jv v; /* SHUT */
    /* OBJ: entries in order */
    struct entry *first;
    struct entry *last;
    struct map *index; /* NULL while small */
    /* ARR */
    struct node **at;
    size_t cap;
    size_t n; /* entries or elements */
};

struct entry {
    struct entry *prev;
    struct entry *next;
    str key;
    struct node *node;
};

struct patcher {
    struct arena *a;
    struct node *root;
    size_t copy_left; /* bytes that copy operations may still add */
    jv op;
};

/* A container and the last step of a path: where an operation happens. */
struct place {
    struct node *in;
    str key;
};

static int refuse(struct err *e)
{
    return err_set(e, ERR_INVALID,
                   "the server rejected our request due to an error in our request");
}

static struct node *shut(struct arena *a, jv v)
{
    struct node *n = ARENA_NEW(a, struct node);

    n->v = jv_exists(v) ? v : JV_NULL_V;
    return n;
}

static bool is_null(const struct node *n)
{
    return !n || (n->form == SHUT && jv_is_null(n->v));
}

static void release_map(void *m)
{
    map_done(m);
}

static void obj_index(struct arena *a, struct node *o)
{
    o->index = ARENA_NEW(a, struct map);
    arena_defer(a, release_map, o->index);
    for (struct entry *en = o->first; en; en = en->next)
        map_put(o->index, en->key, en);
}

static struct entry *obj_find(const struct node *o, str key)
{
    if (o->index)
        return map_get(o->index, key);
    for (struct entry *en = o->first; en; en = en->next)
        if (str_eq(en->key, key))
            return en;
    return NULL;
}

static void obj_append(struct arena *a, struct node *o, str key, struct node *value)
{
    struct entry *en = ARENA_NEW(a, struct entry);

    *en = (struct entry){ .prev = o->last, .key = key, .node = value };
    if (o->last)
        o->last->next = en;
    else
        o->first = en;
    o->last = en;
    o->n++;
    if (o->index)
        map_put(o->index, key, en);
    else if (o->n > INDEX_FROM)
        obj_index(a, o);
}

static void obj_remove(struct node *o, struct entry *en)
{
    if (en->prev)
        en->prev->next = en->next;
    else
        o->first = en->next;
    if (en->next)
        en->next->prev = en->prev;
    else
        o->last = en->prev;
    o->n--;
    if (o->index)
        map_remove(o->index, en->key);
}

static void arr_insert(struct arena *a, struct node *arr, size_t i, struct node *value)
{
    vec_room_in(a, arr);
    memmove(arr->at + i + 1, arr->at + i, (arr->n - i) * sizeof(struct node *));
    arr->at[i] = value;
    arr->n++;
}

/* Makes a container changeable; false for all else. */
static bool open(struct arena *a, struct node *n)
{
    if (n->form != SHUT)
        return true;
    jv v = n->v;
    if (!jv_is(v, JV_OBJ) && !jv_is(v, JV_ARR))
        return false;
    *n = (struct node){ .form = jv_is(v, JV_OBJ) ? OBJ : ARR };
    JV_EACH (it, v) {
        if (n->form == OBJ)
            obj_append(a, n, it.key, shut(a, it.value));
        else
            arr_insert(a, n, n->n, shut(a, it.value));
    }
    return true;
}

static bool too_deep(jv v, size_t depth)
{
    if (depth > LIMIT_JSON_DEPTH)
        return true;
    JV_EACH (it, v)
        if ((jv_is(it.value, JV_OBJ) || jv_is(it.value, JV_ARR)) && too_deep(it.value, depth + 1))
            return true;
    return false;
}

/* The value of a node and all below it; absent when deeper than we would ever read. */
static jv freeze(struct arena *a, const struct node *n, size_t depth)
{
    if (n->form == SHUT)
        return too_deep(n->v, depth) ? JV_ABSENT : n->v;
    if (depth > LIMIT_JSON_DEPTH)
        return JV_ABSENT;
    struct jbuild b = n->form == OBJ ? jb_obj(a) : jb_arr(a);
    for (const struct entry *en = n->first; en; en = en->next) {
        jv v = freeze(a, en->node, depth + 1);
        if (!jv_exists(v))
            return v;
        jb_add(&b, en->key, v);
    }
    for (size_t i = 0; n->form == ARR && i < n->n; i++) {
        jv v = freeze(a, n->at[i], depth + 1);
        if (!jv_exists(v))
            return v;
        jb_push(&b, v);
    }
    return jb_done(&b);
}

static bool equals(const struct node *n, jv v)
{
    if (n->form == SHUT)
        return jv_equal(n->v, v);
    if (!jv_is(v, n->form == OBJ ? JV_OBJ : JV_ARR) || jv_len(v) != n->n)
        return false;
    size_t i = 0;
    JV_EACH (it, v) {
        const struct entry *en = n->form == OBJ ? obj_find(n, it.key) : NULL;
        const struct node *mine = n->form == ARR ? n->at[i++] : en ? en->node : NULL;
        if (!mine || !equals(mine, it.value))
            return false;
    }
    return true;
}

/* As Go's Atoi reads it: a sign, leading zeros; negative counts from the end of len elements. */
static bool array_index(str key, size_t len, size_t *out)
{
    int64_t i = 0;
    bool minus = key.n && key.p[0] == '-';

    if (key.n && (minus || key.p[0] == '+'))
        key = str_sub(key, 1, key.n);
    if (!key.n)
        return false;
    for (size_t k = 0; k < key.n; k++) {
        if (key.p[k] < '0' || key.p[k] > '9' || i > INT_MAX)
            return false;
        i = i * 10 + (key.p[k] - '0');
    }
    if (minus)
        i = (int64_t)len - i;
    *out = (size_t)i;
    return i >= 0 && i < (int64_t)len;
}

/* 0 and *out (NULL: an object without that key), or -1: an array without that index. */
static int child(const struct node *in, str key, struct node **out)
{
    size_t i;

    if (in->form == OBJ) {
        const struct entry *en = obj_find(in, key);
        *out = en ? en->node : NULL;
        return 0;
    }
    if (!array_index(key, in->n, &i))
        return -1;
    *out = in->at[i];
    return 0;
}

static str unescape(struct arena *a, str step)
{
    if (str_find(step, '~') < 0)
        return step;
    char *p = arena_alloc(a, step.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < step.n; i++) {
        bool pair =
            step.p[i] == '~' && i + 1 < step.n && (step.p[i + 1] == '0' || step.p[i + 1] == '1');
        p[n++] = step.p[i];
        if (pair && step.p[i + 1] == '1')
            p[n - 1] = '/'; /* ~0 is the ~ that is there already */
        i += pair;
    }
    return (str){ p, n };
}

/* What is before the first slash does not count, as on kube-apiserver. */
static bool find(struct patcher *p, str path, struct place *out)
{
    struct node *at = p->root;

    str_cut(&path, '/');
    if (!path.p || !open(p->a, at))
        return false;
    for (;;) {
        str step = unescape(p->a, str_cut(&path, '/'));
        if (!path.p) {
            *out = (struct place){ at, step };
            return true;
        }
        if (child(at, step, &at) < 0 || is_null(at) || !open(p->a, at))
            return false;
    }
}

static int add_at(struct patcher *p, struct place to, struct node *value, struct err *e)
{
    size_t i;

    if (to.in->form == OBJ) {
        struct entry *en = obj_find(to.in, to.key);
        if (en)
            en->node = value;
        else
            obj_append(p->a, to.in, to.key, value);
        return 0;
    }
    if (str_eq(to.key, S("-")))
        i = to.in->n;
    else if (!array_index(to.key, to.in->n + 1, &i))
        return refuse(e);
    arr_insert(p->a, to.in, i, value);
    return 0;
}

static int remove_at(struct place at, struct err *e)
{
    size_t i;

    if (at.in->form == OBJ) {
        struct entry *en = obj_find(at.in, at.key);
        if (!en)
            return refuse(e);
        obj_remove(at.in, en);
        return 0;
    }
    if (!array_index(at.key, at.in->n, &i))
        return refuse(e);
    memmove(at.in->at + i, at.in->at + i + 1, (at.in->n - i - 1) * sizeof(struct node *));
    at.in->n--;
    return 0;
}

static bool place_of(struct patcher *p, const char *member, struct place *out)
{
    jv path = jv_at(p->op, member);

    return jv_is(path, JV_STR) && find(p, jv_str(path, STR_NONE), out);
}

static int op_add(struct patcher *p, struct err *e)
{
    struct place to;

    if (!place_of(p, "path", &to))
        return refuse(e);
    return add_at(p, to, shut(p->a, jv_at(p->op, "value")), e);
}

static int op_remove(struct patcher *p, struct err *e)
{
    struct place at;

    return place_of(p, "path", &at) ? remove_at(at, e) : refuse(e);
}

static int op_replace(struct patcher *p, struct err *e)
{
    jv value = jv_at(p->op, "value");
    struct place at;
    struct node *old;

    if (str_eq(jv_str(jv_at(p->op, "path"), S("none")), S(""))) {
        if (jv_is(value, JV_OBJ) || jv_is(value, JV_ARR))
            p->root = shut(p->a, value);
        return jv_exists(value) ? 0 : refuse(e); /* other values change nothing, silently */
    }
    if (!place_of(p, "path", &at) || child(at.in, at.key, &old) < 0)
        return refuse(e);
    if (at.in->form == OBJ)
        return add_at(p, at, shut(p->a, value), e);
    *old = *shut(p->a, value);
    return 0;
}

static int op_move(struct patcher *p, struct err *e)
{
    struct place from;
    struct place to;
    struct node *value;

    if (!place_of(p, "from", &from) || child(from.in, from.key, &value) < 0 ||
        remove_at(from, NULL) < 0 || !place_of(p, "path", &to))
        return refuse(e);
    return add_at(p, to, value, e);
}

static int op_copy(struct patcher *p, struct err *e)
{
    struct place from;
    struct place to;
    struct node *value;
    jv v = JV_NULL_V;

    if (!place_of(p, "from", &from) || child(from.in, from.key, &value) < 0 ||
        !place_of(p, "path", &to))
        return refuse(e);
    if (value) {
        v = freeze(p->a, value, 0);
        if (!jv_exists(v))
            return refuse(e);
        *value = *shut(p->a, v); /* so that copying it again costs nothing */
    }
    if (!json_takes(v, &p->copy_left))
        return refuse(e);
    /* Closing value may have closed the very container that we add to. */
    if (!place_of(p, "path", &to))
        return refuse(e);
    return add_at(p, to, shut(p->a, v), e);
}

static int op_test(struct patcher *p, struct err *e)
{
    jv value = jv_at(p->op, "value");
    struct node *at = p->root;
    struct place where;

    if (!str_eq(jv_str(jv_at(p->op, "path"), S("none")), S("")) &&
        (!place_of(p, "path", &where) || child(where.in, where.key, &at) < 0))
        return refuse(e);
    if (!jv_exists(value))
        return refuse(e);
    return (is_null(at) ? jv_is_null(value) : equals(at, value)) ? 0 : refuse(e);
}

static const struct {
    str name;
    int (*apply)(struct patcher *p, struct err *e);
} ops[] = {
    { S_INIT("add"), op_add },   { S_INIT("remove"), op_remove }, { S_INIT("replace"), op_replace },
    { S_INIT("move"), op_move }, { S_INIT("copy"), op_copy },     { S_INIT("test"), op_test },
};

static int check_shape(jv patch, struct err *e)
{
    static const char *const texts[] = { "op", "path", "from" };
    static const char lead[] = "error decoding patch: json: cannot unmarshal";

    if (!jv_is_null(patch) && !jv_is(patch, JV_ARR))
        return err_set(e, ERR_BAD_REQUEST, "%s %s into Go value of type []handlers.jsonPatchOp",
                       lead, goprint_json_kind(patch));
    JV_EACH (op, patch) {
        if (!jv_is_null(op.value) && !jv_is(op.value, JV_OBJ))
            return err_set(e, ERR_BAD_REQUEST, "%s %s into Go value of type handlers.jsonPatchOp",
                           lead, goprint_json_kind(op.value));
        for (size_t i = 0; i < COUNT(texts); i++) {
            jv v = jv_at(op.value, texts[i]);
            if (!jv_is_null(v) && !jv_is(v, JV_STR))
                return err_set(e, ERR_BAD_REQUEST,
                               "%s %s into Go struct field jsonPatchOp.%s of type string", lead,
                               goprint_json_kind(v), texts[i]);
        }
    }
    if (jv_len(patch) > LIMIT_JSON_PATCH_OPS)
        return err_set(e, ERR_TOO_LARGE,
                       "Request entity too large: The allowed maximum operations in a JSON patch "
                       "is %d, got %zu",
                       LIMIT_JSON_PATCH_OPS, jv_len(patch));
    return 0;
}

static int apply_op(struct patcher *p, jv op, struct err *e)
{
    str name = jv_str(jv_at(op, "op"), S(""));

    p->op = op;
    for (size_t i = 0; i < COUNT(ops); i++)
        if (str_eq(ops[i].name, name))
            return ops[i].apply(p, e);
    return refuse(e);
}

jv patch_json(struct arena *a, jv doc, jv patch, struct err *e)
{
    struct patcher p = { .a = a, .root = shut(a, doc), .copy_left = LIMIT_BODY_BYTES };

    if (check_shape(patch, e) < 0)
        return JV_ABSENT;
    JV_EACH (op, patch)
        if (apply_op(&p, op.value, e) < 0)
            return JV_ABSENT;
    jv out = freeze(a, p.root, 0);
    if (!jv_exists(out))
        refuse(e);
    return out;
}

void patch_json_unknown(struct arena *a, jv patch, const struct schema_report *report)
{
    static const char *const known[] = { "op", "path", "from", "value" };

    JV_EACH (op, patch) {
        JV_EACH (it, op.value) {
            bool ok = false;
            for (size_t i = 0; i < COUNT(known); i++)
                ok = ok || str_eqz(it.key, known[i]);
            if (!ok)
                report->on_unknown(report->ctx,
                                   arena_printf(a, "[%zu].%" PRI_STR, op.i - 1, STR_ARG(it.key)));
        }
    }
}
