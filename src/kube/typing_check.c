/* Whether an applied object fits its schema, in structured-merge-diff's words. */

#include "kube/goprint.h"
#include "kube/typing.h"

#include <stdlib.h>

struct check {
    struct arena *a;
    struct buf path;
    struct buf errors; /* one a line, each indented */
    size_t n;
};

static void complain(struct check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void complain(struct check *c, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    str text = arena_vprintf(c->a, fmt, ap);
    va_end(ap);
    if (c->n++)
        buf_add(&c->errors, S("\n  "));
    buf_add(&c->errors, buf_str(&c->path));
    if (c->path.n)
        buf_add(&c->errors, S(": "));
    buf_add(&c->errors, text);
}

/* Go's %#v of a decoded value. */
static void go_syntax(struct buf *b, jv v)
{
    if (jv_is(v, JV_STR)) {
        json_print_str(b, jv_str(v, STR_NONE));
    } else if (jv_is(v, JV_OBJ) || jv_is(v, JV_ARR)) {
        buf_printf(b, "%s{", goprint_type(v));
        JV_EACH (it, v) {
            if (it.i > 1)
                buf_add(b, S(", "));
            if (jv_is(v, JV_OBJ)) {
                json_print_str(b, it.key);
                buf_addc(b, ':');
            }
            go_syntax(b, it.value);
        }
        buf_addc(b, '}');
    } else {
        goprint_value(b, v);
    }
}

static bool is_scalar(jv v)
{
    return jv_exists(v) && !jv_is(v, JV_OBJ) && !jv_is(v, JV_ARR) && !jv_is_null(v);
}

static void check_scalar(struct check *c, const struct schema *s, jv v)
{
    AUTO(buf) struct buf b = { 0 };

    switch (s->type) {
    case SCHEMA_STRING:
    case SCHEMA_BYTES:
    case SCHEMA_DURATION:
        if (jv_is(v, JV_STR))
            return;
        go_syntax(&b, v);
        complain(c, "expected string, got &value.valueUnstructured{Value:%" PRI_STR "}",
                 STR_ARG(buf_str(&b)));
        return;
    case SCHEMA_BOOL:
        if (!jv_is(v, JV_BOOL))
            complain(c, "expected boolean, got &{%" PRI_STR "}", STR_ARG(goprint_text(c->a, v)));
        return;
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_NUMBER:
        if (!jv_is(v, JV_INT) && !jv_is(v, JV_NUM))
            complain(c, "expected numeric (int or float), got %s", goprint_type(v));
        return;
    case SCHEMA_INT_OR_STRING:
    case SCHEMA_QUANTITY:
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
        if (!is_scalar(v))
            complain(c, "expected any scalar, got &{%" PRI_STR "}", STR_ARG(goprint_text(c->a, v)));
        return;
    case SCHEMA_ANY:
    case SCHEMA_OBJECT:
    case SCHEMA_MAP:
    case SCHEMA_LIST:
        return;
    }
}

static void check_value(struct check *c, const struct schema *s, jv v);

static int by_element(const void *x, const void *y)
{
    const struct typed_item *a = x;
    const struct typed_item *b = y;
    int order = field_cmp(&a->el, &b->el);

    return order ? order : (a->place > b->place) - (a->place < b->place);
}

static void check_named_list(struct check *c, const struct schema *s, jv v)
{
    struct typed_item *items = arena_alloc(c->a, (jv_len(v) + 1) * sizeof(*items));
    bool *again = ARENA_ARRAY(c->a, bool, jv_len(v) + 1);
    size_t n = 0;
    const char *why = NULL;

    for (struct jv_iter it = jv_iter(v); !why && jv_next(&it);) {
        why = typing_element(c->a, s, it.value, &items[n].el);
        items[n].v = it.value;
        items[n].place = n;
        n += !why;
    }
    struct typed_item *sorted = arena_alloc(c->a, (n + 1) * sizeof(*sorted));
    memcpy(sorted, items, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), by_element);
    for (size_t i = 1; i < n; i++)
        again[sorted[i].place] = field_cmp(&sorted[i - 1].el, &sorted[i].el) == 0;
    for (size_t i = 0; i < n; i++) {
        AUTO(buf) struct buf name = { 0 };
        size_t len = c->path.n;
        field_print(&name, &items[i].el);
        if (again[i])
            complain(c, "duplicate entries for key %" PRI_STR, STR_ARG(buf_str(&name)));
        buf_add(&c->path, buf_str(&name));
        check_value(c, s->items, items[i].v);
        c->path.n = len;
    }
    if (why)
        complain(c, "element %zu: %s", n, why);
}

static void check_list(struct check *c, const struct schema *s, jv v)
{
    if (!jv_is(v, JV_ARR)) {
        complain(c, "expected list, got &{%" PRI_STR "}", STR_ARG(goprint_text(c->a, v)));
        return;
    }
    if (typing_is_list(s)) {
        check_named_list(c, s, v);
        return;
    }
    JV_EACH (it, v) {
        size_t len = c->path.n;
        buf_printf(&c->path, "[%zu]", it.i - 1);
        check_value(c, s->items, it.value);
        c->path.n = len;
    }
}

static void check_map(struct check *c, const struct schema *s, jv v)
{
    size_t hint = 0;

    if (!jv_is(v, JV_OBJ)) {
        complain(c, "expected map, got &{%" PRI_STR "}", STR_ARG(goprint_text(c->a, v)));
        return;
    }
    JV_EACH (it, v) {
        size_t len = c->path.n;
        const struct schema *m = typing_member(s, it.key, &hint);
        struct field_element el = field_named(it.key);
        field_print(&c->path, &el);
        if (m)
            check_value(c, m, it.value);
        else
            complain(c, "field not declared in schema");
        c->path.n = len;
        if (!m)
            return; /* the first one ends the look at this map, as there */
    }
}

static void check_value(struct check *c, const struct schema *s, jv v)
{
    if (!s || s->type == SCHEMA_ANY || jv_is_null(v))
        return;
    if (s->type == SCHEMA_LIST)
        check_list(c, s, v);
    else if (s->type == SCHEMA_OBJECT || s->type == SCHEMA_MAP)
        check_map(c, s, v);
    else
        check_scalar(c, s, v);
}

int typing_check(struct arena *a, const struct schema *s, jv v, str *why)
{
    struct check c = { .a = a };

    check_value(&c, s, v);
    if (c.n == 1)
        *why = arena_str(a, buf_str(&c.errors));
    else if (c.n)
        *why = arena_cat(a, S("errors:\n  "), buf_str(&c.errors));
    buf_done(&c.path);
    buf_done(&c.errors);
    return c.n ? -1 : 0;
}
