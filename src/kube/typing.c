/* Schema look-up along an object, naming of list elements, and the fields that an object has. */

#include "kube/typing.h"

#include <stdlib.h>

static const struct schema any = { .type = SCHEMA_ANY };

static const struct schema_field *typing_field(const struct schema *s, str name, size_t *hint)
{
    if (!s || s->type != SCHEMA_OBJECT)
        return NULL;
    for (size_t i = 0, at = *hint; i < s->n_fields; i++, at++) {
        if (at >= s->n_fields)
            at = 0;
        if (str_eq(s->fields[at].name, name)) {
            *hint = at + 1;
            return &s->fields[at];
        }
    }
    return NULL;
}

const struct schema *typing_member(const struct schema *s, str name, size_t *hint)
{
    if (!s || s->type == SCHEMA_ANY)
        return s;
    if (s->type == SCHEMA_MAP)
        return s->items;
    const struct schema_field *f = typing_field(s, name, hint);
    if (f)
        return f->schema;
    if (s->items)
        return s->items;
    return s->preserve_unknown ? &any : NULL;
}

bool typing_is_list(const struct schema *s)
{
    return s && s->type == SCHEMA_LIST && s->list != LIST_ATOMIC;
}

enum typing typing_of(const struct schema *s, jv v)
{
    if (!jv_len(v))
        return TYPING_LEAF;
    if (jv_is(v, JV_ARR))
        return typing_is_list(s) ? TYPING_LIST : TYPING_LEAF;
    if (s && s->type != SCHEMA_ANY && s->type != SCHEMA_OBJECT && s->type != SCHEMA_MAP)
        return TYPING_LEAF;
    return s && s->map_atomic ? TYPING_LEAF : TYPING_MAP;
}

/* The zero value of a field that Go always writes; absent: it writes none, or null. */
static jv zero_of(const struct schema_field *f)
{
    static const struct jnode zero = { .type = JV_INT };
    static const struct jnode empty = { .type = JV_STR };

    if (!(f->flags & FIELD_KEEP_EMPTY) || (f->flags & FIELD_POINTER))
        return JV_ABSENT;
    switch (f->schema->type) {
    case SCHEMA_STRING:
        return (jv){ &empty };
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_NUMBER:
    case SCHEMA_INT_OR_STRING:
        return (jv){ &zero };
    case SCHEMA_BOOL:
        return JV_FALSE;
    case SCHEMA_ANY:
    case SCHEMA_OBJECT:
    case SCHEMA_MAP:
    case SCHEMA_LIST:
    case SCHEMA_QUANTITY:
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
    case SCHEMA_DURATION:
    case SCHEMA_BYTES:
        break;
    }
    return JV_ABSENT;
}

/* What stands for a key field that an element leaves out: OpenAPI's default, which for fields that
 * Go always writes is their zero value. */
static jv key_default(const struct schema *element, str key)
{
    size_t hint = 0;
    const struct schema_field *f = typing_field(element, key, &hint);

    if (!f)
        return JV_ABSENT;
    return jv_exists(f->schema->dflt) ? f->schema->dflt : zero_of(f);
}

static const char *key_element(struct arena *a, const struct schema *s, jv child,
                               struct field_element *out)
{
    struct jbuild b = jb_obj(a);
    str last = STR_NONE;
    bool left = true;

    if (jv_is_null(child))
        return "associative list with keys may not have a null element";
    if (!jv_is(child, JV_OBJ))
        return "associative list with keys may not have non-map elements";
    while (left) { /* one or two keys: by name, the smallest after the last */
        str next = STR_NONE;
        for (const char *const *k = s->list_keys; k && *k; k++)
            if ((!last.p || str_cmp(str_of(*k), last) > 0) &&
                (!next.p || str_cmp(str_of(*k), next) < 0))
                next = str_of(*k);
        left = next.p != NULL;
        if (!left)
            break;
        jv v = jv_get(child, next);
        jb_add(&b, next, jv_exists(v) ? v : key_default(s->items, next));
        last = next;
    }
    if (!b.n) {
        str keys = STR_NONE;
        for (const char *const *k = s->list_keys; k && *k; k++)
            keys = arena_printf(a, "%" PRI_STR "%s\"%s\"", STR_ARG(keys), keys.n ? " " : "", *k);
        return arena_printf(a,
                            "associative list with keys has an element that omits all key fields "
                            "[%" PRI_STR "] (and doesn't have default values for any key fields)",
                            STR_ARG(keys))
            .p;
    }
    *out = (struct field_element){ .kind = FIELD_KEY, .value = jb_done(&b) };
    return NULL;
}

const char *typing_element(struct arena *a, const struct schema *s, jv child,
                           struct field_element *out)
{
    if (s->list == LIST_MAP)
        return key_element(a, s, child, out);
    if (jv_is(child, JV_OBJ))
        return "associative list without keys has an element that's a map type";
    if (jv_is(child, JV_ARR))
        return "not supported: associative list with lists as elements";
    if (jv_is_null(child))
        return "associative list without keys has an element that's an explicit null";
    *out = (struct field_element){ .kind = FIELD_VALUE, .value = child };
    return NULL;
}

static int by_name(const void *x, const void *y)
{
    const struct typed_item *a = x;
    const struct typed_item *b = y;
    int c = field_cmp(&a->el, &b->el);

    return c ? c : (a->place > b->place) - (a->place < b->place);
}

struct typed_item *typing_items(struct arena *a, const struct schema *s, jv list, bool sorted,
                                size_t *n)
{
    struct typed_item *items = arena_alloc(a, (jv_len(list) + 1) * sizeof(*items));

    *n = 0;
    JV_EACH (it, list) {
        struct typed_item *to = &items[*n];
        if (!typing_element(a, s, it.value, &to->el)) {
            to->v = it.value;
            to->place = it.i - 1;
            ++*n;
        }
    }
    if (sorted && *n > 1)
        qsort(items, *n, sizeof(*items), by_name);
    return items;
}

static bool fields_of(struct arena *a, const struct schema *s, jv v, struct fieldset *sub);

static struct fieldset list_fields(struct arena *a, const struct schema *s, jv v)
{
    struct field_builder b = { .a = a };
    size_t n;
    struct typed_item *items = typing_items(a, s, v, true, &n);

    for (size_t i = 0, j; i < n; i = j) {
        struct fieldset sub = { 0 };
        for (j = i + 1; j < n && field_cmp(&items[i].el, &items[j].el) == 0;)
            j++;
        if (j == i + 1)
            fields_of(a, s->items, items[i].v, &sub);
        field_add(&b, items[i].el, true, sub);
    }
    return field_done(&b);
}

static struct fieldset map_fields(struct arena *a, const struct schema *s, jv v)
{
    struct field_builder b = { .a = a };
    size_t hint = 0;

    JV_EACH (it, v) {
        struct fieldset sub = { 0 };
        const struct schema_field *f = typing_field(s, it.key, &hint);
        bool self = fields_of(a, f ? f->schema : typing_member(s, it.key, &hint), it.value, &sub);
        bool empty = jv_is_null(it.value) || (jv_is(it.value, JV_OBJ) && !jv_len(it.value));
        field_add(&b, field_named(it.key), self || empty || !f, sub);
    }
    return field_done(&b);
}

/* Whether the path to v itself is one of its fields, and what is below. */
static bool fields_of(struct arena *a, const struct schema *s, jv v, struct fieldset *sub)
{
    bool is_map = !s || s->type == SCHEMA_ANY ? jv_is(v, JV_OBJ)
                                              : s->type == SCHEMA_OBJECT || s->type == SCHEMA_MAP;

    if (is_map && !(s && s->map_atomic)) {
        *sub = map_fields(a, s, v);
        return false;
    }
    if (typing_is_list(s)) {
        *sub = list_fields(a, s, v);
        return false;
    }
    return true;
}

struct fieldset typing_fields(struct arena *a, const struct schema *s, jv v)
{
    struct fieldset out = { 0 };

    fields_of(a, s, v, &out);
    return out;
}

/* What is below v when nothing was there before, but for zero values where fresh is set. */
static struct fieldset all_of(struct arena *a, const struct schema *s, jv v, bool fresh)
{
    struct field_builder b = { .a = a };
    size_t hint = 0;

    switch (typing_of(s, v)) {
    case TYPING_LEAF:
        break;
    case TYPING_LIST: {
        size_t n;
        struct typed_item *items = typing_items(a, s, v, true, &n);
        for (size_t i = 0, j; i < n; i = j) {
            for (j = i + 1; j < n && field_cmp(&items[i].el, &items[j].el) == 0;)
                j++;
            struct fieldset none = { 0 };
            field_add(&b, items[i].el, true,
                      j == i + 1 ? all_of(a, s->items, items[i].v, false) : none);
        }
        break;
    }
    case TYPING_MAP:
        JV_EACH (it, v) {
            const struct schema_field *f = typing_field(s, it.key, &hint);
            const struct schema *m = f ? f->schema : typing_member(s, it.key, &hint);
            bool zero = fresh && f && (f->flags & FIELD_KEEP_EMPTY);
            bool self = !zero;
            if (zero && typing_of(m, it.value) == TYPING_LEAF)
                self = !jv_is_null(it.value) && !jv_equal(it.value, zero_of(f)) &&
                       !(m->type == SCHEMA_OBJECT && !jv_len(it.value));
            field_add(&b, field_named(it.key), self, all_of(a, m, it.value, zero));
        }
        break;
    }
    return field_done(&b);
}

struct fieldset typing_created(struct arena *a, const struct schema *s, jv v)
{
    return all_of(a, s, v, true);
}

struct fieldset typing_named(struct arena *a, const struct schema *s, struct fieldset set)
{
    struct field_builder b = { .a = a };
    size_t hint = 0;

    for (size_t i = 0; i < set.n; i++) {
        const struct field_node *n = &set.at[i];
        const struct schema *m = NULL;
        bool named = false;
        if (n->el.kind == FIELD_NAME) {
            named = n->sub.n && typing_field(s, n->el.name, &hint);
            m = typing_member(s, n->el.name, &hint);
        } else if (n->el.kind == FIELD_KEY && s && s->type == SCHEMA_LIST) {
            m = s->items;
        }
        field_add(&b, n->el, n->member || named, typing_named(a, m, n->sub));
    }
    return field_done(&b);
}
