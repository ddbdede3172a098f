/* Field sets: order, algebra and paths. fieldset_json.c reads and writes them. */

#include "kube/fieldset.h"
#include "base/vec.h"
#include "kube/goprint.h"

#include <stdlib.h>

/* Numbers first, by value whatever their form, then strings, booleans, lists, maps, null. */
static int rank(jv v)
{
    static const int ranks[] = { [JV_NONE] = 6, [JV_NULL] = 5, [JV_BOOL] = 2, [JV_INT] = 0,
                                 [JV_NUM] = 0,  [JV_STR] = 1,  [JV_ARR] = 3,  [JV_OBJ] = 4 };

    return ranks[jv_type(v)];
}

static int sign(int64_t x, int64_t y)
{
    return (x > y) - (x < y);
}

static int value_cmp(jv x, jv y)
{
    if (rank(x) != rank(y))
        return sign(rank(x), rank(y));
    if (jv_is(x, JV_STR))
        return str_cmp(jv_str(x, STR_NONE), jv_str(y, STR_NONE));
    if (jv_is(x, JV_BOOL))
        return sign(jv_bool(x, false), jv_bool(y, false));
    if (jv_is(x, JV_INT) && jv_is(y, JV_INT))
        return sign(jv_int(x, 0), jv_int(y, 0));
    if (rank(x) == 0) {
        double a = jv_double(x, 0);
        double b = jv_double(y, 0);
        return (a > b) - (a < b);
    }
    for (size_t i = 0;; i++) { /* lists and maps: no key of ours, but of whoever sends them */
        if (i >= jv_len(x) || i >= jv_len(y))
            return sign((int64_t)jv_len(x), (int64_t)jv_len(y));
        const struct jnode *a = x.node->u.items + (jv_is(x, JV_OBJ) ? 2 * i : i);
        const struct jnode *b = y.node->u.items + (jv_is(y, JV_OBJ) ? 2 * i : i);
        int c = jv_is(x, JV_OBJ) ? str_cmp((str){ a->u.text, a->n }, (str){ b->u.text, b->n }) : 0;
        if (!c)
            c = value_cmp((jv){ jv_is(x, JV_OBJ) ? a + 1 : a },
                          (jv){ jv_is(y, JV_OBJ) ? b + 1 : b });
        if (c)
            return c;
    }
}

int field_cmp(const struct field_element *x, const struct field_element *y)
{
    if (x->kind != y->kind)
        return sign(x->kind, y->kind);
    switch (x->kind) {
    case FIELD_NAME:
        return str_cmp(x->name, y->name);
    case FIELD_KEY:
    case FIELD_VALUE:
        return value_cmp(x->value, y->value);
    case FIELD_INDEX:
        return sign(x->index, y->index);
    }
    return 0;
}

void field_add(struct field_builder *b, struct field_element el, bool member, struct fieldset sub)
{
    if (!member && !sub.n)
        return;
    vec_room_in(b->a, b);
    b->unsorted = b->unsorted || (b->n && field_cmp(&b->at[b->n - 1].el, &el) >= 0);
    b->at[b->n++] = (struct field_node){ el, member, sub };
}

static int by_element(const void *x, const void *y)
{
    const struct field_node *a = x;
    const struct field_node *b = y;

    return field_cmp(&a->el, &b->el);
}

static void sort_nodes(struct field_node *at, size_t n)
{
    if (n > 24) {
        qsort(at, n, sizeof(*at), by_element);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        struct field_node node = at[i];
        size_t j = i;
        for (; j && field_cmp(&at[j - 1].el, &node.el) > 0; j--)
            at[j] = at[j - 1];
        at[j] = node;
    }
}

struct fieldset field_done(struct field_builder *b)
{
    if (b->unsorted) {
        size_t n = 0;
        sort_nodes(b->at, b->n);
        for (size_t i = 0; i < b->n; i++) {
            if (n && field_cmp(&b->at[n - 1].el, &b->at[i].el) == 0) {
                b->at[n - 1].member |= b->at[i].member;
                b->at[n - 1].sub = fieldset_union(b->a, b->at[n - 1].sub, b->at[i].sub);
            } else {
                b->at[n++] = b->at[i];
            }
        }
        b->n = n;
    }
    return (struct fieldset){ b->at, b->n };
}

bool fieldset_equal(struct fieldset x, struct fieldset y)
{
    if (x.n != y.n)
        return false;
    for (size_t i = 0; x.at != y.at && i < x.n; i++)
        if (x.at[i].member != y.at[i].member || field_cmp(&x.at[i].el, &y.at[i].el) != 0 ||
            !fieldset_equal(x.at[i].sub, y.at[i].sub))
            return false;
    return true;
}

struct fieldset fieldset_union(struct arena *a, struct fieldset x, struct fieldset y)
{
    struct field_builder b = { .a = a };

    if (!x.n || x.at == y.at)
        return y;
    if (!y.n)
        return x;
    for (size_t i = 0, j = 0; i < x.n || j < y.n;) {
        int c = i == x.n ? 1 : j == y.n ? -1 : field_cmp(&x.at[i].el, &y.at[j].el);
        if (c < 0) {
            field_add(&b, x.at[i].el, x.at[i].member, x.at[i].sub);
        } else if (c > 0) {
            field_add(&b, y.at[j].el, y.at[j].member, y.at[j].sub);
        } else {
            field_add(&b, x.at[i].el, x.at[i].member || y.at[j].member,
                      fieldset_union(a, x.at[i].sub, y.at[j].sub));
        }
        i += c <= 0;
        j += c >= 0;
    }
    return field_done(&b);
}

struct fieldset fieldset_intersection(struct arena *a, struct fieldset x, struct fieldset y)
{
    struct field_builder b = { .a = a };

    for (size_t i = 0, j = 0; i < x.n && j < y.n;) {
        int c = field_cmp(&x.at[i].el, &y.at[j].el);
        if (c == 0)
            field_add(&b, x.at[i].el, x.at[i].member && y.at[j].member,
                      fieldset_intersection(a, x.at[i].sub, y.at[j].sub));
        i += c <= 0;
        j += c >= 0;
    }
    return field_done(&b);
}

static struct fieldset difference(struct arena *a, struct fieldset x, struct fieldset y, bool deep)
{
    struct field_builder b = { .a = a };

    if (!x.n || !y.n)
        return x;
    for (size_t i = 0, j = 0; i < x.n;) {
        int c = j == y.n ? -1 : field_cmp(&x.at[i].el, &y.at[j].el);
        if (c < 0)
            field_add(&b, x.at[i].el, x.at[i].member, x.at[i].sub);
        else if (c == 0 && !(deep && y.at[j].member))
            field_add(&b, x.at[i].el, x.at[i].member && !y.at[j].member,
                      difference(a, x.at[i].sub, y.at[j].sub, deep));
        i += c <= 0;
        j += c >= 0;
    }
    return field_done(&b);
}

struct fieldset fieldset_difference(struct arena *a, struct fieldset x, struct fieldset y)
{
    return difference(a, x, y, false);
}

struct fieldset fieldset_difference_deep(struct arena *a, struct fieldset x, struct fieldset y)
{
    return difference(a, x, y, true);
}

const struct field_node *fieldset_find(struct fieldset s, const struct field_element *el)
{
    size_t from = 0;
    size_t to = s.n;

    while (from < to) {
        size_t mid = from + (to - from) / 2;
        int c = field_cmp(&s.at[mid].el, el);
        if (c == 0)
            return &s.at[mid];
        if (c < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return NULL;
}

struct fieldset fieldset_path(struct arena *a, str dotted)
{
    struct field_builder b = { .a = a };
    str name = str_cut(&dotted, '.');
    struct fieldset sub = { 0 };

    if (dotted.p)
        sub = fieldset_path(a, dotted);
    field_add(&b, field_named(name), !sub.n, sub);
    return field_done(&b);
}

static void print_value(struct buf *b, jv v)
{
    if (jv_is(v, JV_STR))
        json_print_str(b, jv_str(v, STR_NONE));
    else if (jv_is_null(v))
        buf_add(b, S("null"));
    else
        goprint_value(b, v);
}

void field_print(struct buf *b, const struct field_element *el)
{
    switch (el->kind) {
    case FIELD_NAME:
        buf_addc(b, '.');
        buf_add(b, el->name);
        break;
    case FIELD_KEY:
        JV_EACH (it, el->value) {
            buf_add(b, it.i == 1 ? S("[") : S(","));
            buf_add(b, it.key);
            buf_addc(b, '=');
            print_value(b, it.value);
        }
        buf_addc(b, ']');
        break;
    case FIELD_VALUE:
        buf_add(b, S("[="));
        print_value(b, el->value);
        buf_addc(b, ']');
        break;
    case FIELD_INDEX:
        buf_printf(b, "[%lld]", (long long)el->index);
        break;
    }
}

static void each(struct arena *a, struct fieldset s, struct buf *path,
                 void (*f)(void *ctx, str path), void *ctx)
{
    size_t n = path->n;

    for (int longer = 0; longer < 2; longer++) {
        for (size_t i = 0; i < s.n; i++) {
            if (longer ? !s.at[i].sub.n : !s.at[i].member)
                continue;
            field_print(path, &s.at[i].el);
            if (longer)
                each(a, s.at[i].sub, path, f, ctx);
            else
                f(ctx, arena_str(a, buf_str(path)));
            path->n = n;
        }
    }
}

void fieldset_each(struct arena *a, struct fieldset s, void (*f)(void *ctx, str path), void *ctx)
{
    AUTO(buf) struct buf path = { 0 };

    each(a, s, &path, f, ctx);
}
