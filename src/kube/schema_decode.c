/* Values as Go's typed decoder and encoder together would leave them, without making structs: one
 * walk over value and schema that drops, adds and rewrites members only where Go would.
 *
 * Go goes on after a value of the wrong type and tells the first such error at the end, but stops
 * at once when a type that reads itself (quantities, times) cannot: so does this. */

#include "kube/schema.h"

#include "base/limits.h"
#include "kube/schema_scalar.h"

enum step { STEP_FIELD, STEP_KEY, STEP_INDEX };

/* Where we are: a chain on the stack, read only when something is to be told. */
struct at {
    const struct at *up;
    enum step step;
    str name;
    size_t index;
    const struct schema *of; /* STEP_FIELD: the object that has the field */
};

struct decoding {
    struct arena *a;
    const struct schema_report *report;
    struct err *e;
    const struct at *opaque; /* within a type that reads itself: errors are told from there */
    bool wrong;              /* e holds the first error */
    bool stop;               /* e holds one that ends everything */
    size_t told;             /* unknown fields */
};

static jv decode(struct decoding *d, const struct schema *s, jv v, const struct at *at);

/* ---- telling */

static void print_fields(struct buf *b, const struct at *at)
{
    if (!at)
        return;
    print_fields(b, at->up);
    if (at->step == STEP_FIELD) {
        if (b->n)
            buf_addc(b, '.');
        buf_add(b, at->name);
    }
}

static void print_path(struct buf *b, const struct at *at)
{
    if (!at)
        return;
    print_path(b, at->up);
    if (at->step == STEP_INDEX) {
        buf_printf(b, "[%zu]", at->index);
    } else {
        if (b->n)
            buf_addc(b, '.');
        buf_add(b, at->name);
    }
}

static void tell_unknown(struct decoding *d, str name, const struct at *up)
{
    AUTO(buf) struct buf b = { 0 };
    struct at at = { .up = up, .step = STEP_KEY, .name = name };

    if (!d->report || !d->report->on_unknown || d->opaque || d->told++ >= LIMIT_STRICT)
        return;
    print_path(&b, &at);
    d->report->on_unknown(d->report->ctx, arena_str(d->a, buf_str(&b)));
}

static void print_go_type(struct buf *b, const struct schema *s)
{
    if (s->go_name) {
        buf_add(b, str_of(s->go_name));
    } else if ((s->type == SCHEMA_LIST || s->type == SCHEMA_MAP) && s->items) {
        buf_add(b, s->type == SCHEMA_LIST ? S("[]") : S("map[string]"));
        print_go_type(b, s->items);
    } else {
        buf_add(b, S("interface {}"));
    }
}

static const char *value_name(jv v)
{
    static const char *const names[] = {
        [JV_NONE] = "null",  [JV_NULL] = "null",  [JV_BOOL] = "bool", [JV_INT] = "number",
        [JV_NUM] = "number", [JV_STR] = "string", [JV_ARR] = "array", [JV_OBJ] = "object",
    };
    return names[jv_type(v)];
}

/* Keeps the first error, or the one that ends everything. Returns null, for what cannot be read. */
static jv fail(struct decoding *d, bool stop, const struct err *e)
{
    stop = stop || d->opaque;
    if (!d->stop && (stop || !d->wrong))
        *d->e = *e;
    d->wrong = true;
    d->stop = d->stop || stop;
    return JV_NULL_V;
}

/* v is not of the Go type s. shown: the number itself, where Go says it. */
static jv wrong_type(struct decoding *d, const struct schema *s, jv v, const struct at *at,
                     bool shown)
{
    AUTO(buf) struct buf b = { 0 };
    const struct at *from = d->opaque ? d->opaque : at;
    const struct at *field = from;
    struct err e = { 0 };

    buf_printf(&b, "json: cannot unmarshal %s", value_name(v));
    if (shown)
        buf_printf(&b, " %" PRI_STR, STR_ARG(jv_num_text(d->a, v)));
    while (field && field->step != STEP_FIELD)
        field = field->up;
    if (field) {
        AUTO(buf) struct buf path = { 0 };
        str owner = str_of(field->of->go_name);

        owner = str_sub(owner, (size_t)(str_rfind(owner, '.') + 1), owner.n);
        print_fields(&path, from);
        buf_printf(&b, " into Go struct field %" PRI_STR ".%" PRI_STR " of type ", STR_ARG(owner),
                   STR_ARG(buf_str(&path)));
    } else {
        buf_add(&b, S(" into Go value of type "));
    }
    print_go_type(&b, scalar_reads_as(s));
    err_set(&e, ERR_BAD_REQUEST, "%" PRI_STR, STR_ARG(buf_str(&b)));
    return fail(d, scalar_reads_itself(s->type), &e);
}

/* ---- what is not there */

/* What Go prints of a field that nobody set. */
static jv zero(struct decoding *d, const struct schema *s)
{
    switch (s->type) {
    case SCHEMA_STRING:
        return SCALAR_EMPTY_STR;
    case SCHEMA_BOOL:
        return JV_FALSE;
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_NUMBER:
    case SCHEMA_INT_OR_STRING:
        return SCALAR_ZERO;
    case SCHEMA_QUANTITY:
        return SCALAR_ZERO_STR;
    case SCHEMA_DURATION:
        return SCALAR_ZERO_SECONDS;
    case SCHEMA_OBJECT:
        return decode(d, s, JV_EMPTY_OBJ, NULL);
    case SCHEMA_ANY:
    case SCHEMA_MAP:
    case SCHEMA_LIST:
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
    case SCHEMA_BYTES:
        break;
    }
    return JV_NULL_V;
}

static jv zero_field(struct decoding *d, const struct schema_field *f)
{
    if (!(f->flags & FIELD_KEEP_EMPTY))
        return JV_ABSENT;
    return f->flags & FIELD_POINTER ? JV_NULL_V : zero(d, f->schema);
}

/* What becomes of a null v where Go has the zero value z: v itself if that is null as well. */
static jv for_null(jv v, jv z)
{
    return jv_is(z, JV_NULL) ? v : z;
}

static bool is_empty(jv v)
{
    switch (jv_type(v)) {
    case JV_NONE:
    case JV_NULL:
        return true;
    case JV_BOOL:
        return !jv_bool(v, false);
    case JV_INT:
        return jv_int(v, 1) == 0;
    case JV_STR:
    case JV_ARR:
    case JV_OBJ:
        return v.node->n == 0;
    case JV_NUM:
        break;
    }
    return false;
}

/* ---- objects, maps and lists: shared until the first difference */

struct change {
    struct jbuild b;
    bool made;
};

/* Starts a copy with the first n members or elements of v. */
static void change_start(struct change *c, struct arena *a, jv v, size_t n)
{
    bool is_obj = jv_is(v, JV_OBJ);

    if (c->made)
        return;
    c->made = true;
    c->b = is_obj ? jb_obj(a) : jb_arr(a);
    for (struct jv_iter it = jv_iter(v); it.i < n && jv_next(&it);) {
        if (is_obj)
            jb_add(&c->b, it.key, it.value);
        else
            jb_push(&c->b, it.value);
    }
}

/* Fields mostly come in the order of the table, so the search goes on where it last was. */
static const struct schema_field *find(const struct schema *s, str name, size_t *next)
{
    size_t n = s->n_fields;

    for (size_t k = 0, i = *next; k < n; k++, i++) {
        i = i < n ? i : 0;
        const struct schema_field *f = &s->fields[i];
        if (f->name.n == name.n && f->name.p[0] == name.p[0] &&
            memcmp(f->name.p, name.p, name.n) == 0) {
            *next = i + 1;
            return f;
        }
    }
    return NULL;
}

static jv decode_field(struct decoding *d, const struct schema *s, const struct schema_field *f,
                       jv v, const struct at *up)
{
    struct at at = { .up = up, .step = STEP_FIELD, .name = f->name, .of = s };

    if (jv_is_null(v))
        return for_null(v, zero_field(d, f));
    jv r = decode(d, f->schema, v, &at);
    if (f->flags & (FIELD_POINTER | FIELD_KEEP_EMPTY))
        return r;
    return is_empty(r) ? JV_ABSENT : r;
}

static jv decode_extra(struct decoding *d, const struct schema *s, str key, jv v,
                       const struct at *up)
{
    struct at at = { .up = up, .step = STEP_KEY, .name = key };

    if (s->items)
        return decode(d, s->items, v, &at);
    if (s->preserve_unknown)
        return v;
    tell_unknown(d, key, up);
    return JV_ABSENT;
}

/* Fields that Go prints although v does not have them. seen: one bit a field, the first 64. */
static void add_missing(struct decoding *d, const struct schema *s, jv v, uint64_t seen,
                        struct change *c)
{
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct schema_field *f = &s->fields[i];
        if (!(f->flags & FIELD_KEEP_EMPTY))
            continue;
        if (i < 64 ? seen >> i & 1 : jv_exists(jv_get(v, f->name)))
            continue;
        change_start(c, d->a, v, jv_len(v));
        jb_add(&c->b, f->name, zero_field(d, f));
    }
}

static jv decode_object(struct decoding *d, const struct schema *s, jv v, const struct at *at)
{
    struct change c = { .made = false };
    uint64_t seen = 0;
    size_t next = 0;

    for (struct jv_iter it = jv_iter(v); jv_next(&it) && !d->stop;) {
        const struct schema_field *f = find(s, it.key, &next);
        jv r = f ? decode_field(d, s, f, it.value, at) : decode_extra(d, s, it.key, it.value, at);

        if (f && f - s->fields < 64)
            seen |= (uint64_t)1 << (f - s->fields);
        if (r.node != it.value.node)
            change_start(&c, d->a, v, it.i - 1);
        if (c.made && jv_exists(r))
            jb_add(&c.b, it.key, r);
    }
    add_missing(d, s, v, seen, &c);
    return c.made ? jb_done(&c.b) : v;
}

static jv decode_member(struct decoding *d, const struct schema *s, jv v, const struct at *at)
{
    return jv_is_null(v) ? for_null(v, zero(d, s)) : decode(d, s, v, at);
}

static jv decode_map(struct decoding *d, const struct schema *s, jv v, const struct at *up)
{
    struct change c = { .made = false };

    for (struct jv_iter it = jv_iter(v); jv_next(&it) && !d->stop;) {
        struct at at = { .up = up, .step = STEP_KEY, .name = it.key };
        jv r = decode_member(d, s->items, it.value, &at);

        if (r.node != it.value.node)
            change_start(&c, d->a, v, it.i - 1);
        if (c.made)
            jb_add(&c.b, it.key, r);
    }
    return c.made ? jb_done(&c.b) : v;
}

static jv decode_list(struct decoding *d, const struct schema *s, jv v, const struct at *up)
{
    struct change c = { .made = false };

    for (struct jv_iter it = jv_iter(v); jv_next(&it) && !d->stop;) {
        struct at at = { .up = up, .step = STEP_INDEX, .index = it.i - 1 };
        jv r = decode_member(d, s->items, it.value, &at);

        if (r.node != it.value.node)
            change_start(&c, d->a, v, it.i - 1);
        if (c.made)
            jb_push(&c.b, r);
    }
    return c.made ? jb_done(&c.b) : v;
}

/* A type that reads itself: what is unknown inside goes without a word, errors end everything. */
static jv decode_any(struct decoding *d, const struct schema *s, jv v, const struct at *at)
{
    static const struct at nowhere = { .step = STEP_KEY };
    const struct at *outer = d->opaque;

    if (!s->items || !(jv_is(v, JV_OBJ) || jv_is(v, JV_ARR)))
        return v;
    d->opaque = outer ? outer : at ? at : &nowhere;
    if (jv_is(v, JV_OBJ)) {
        v = decode(d, s->items, v, at);
    } else {
        struct change c = { .made = false };
        for (struct jv_iter it = jv_iter(v); jv_next(&it) && !d->stop;) {
            jv r = jv_is(it.value, JV_OBJ) ? decode(d, s->items, it.value, at) : it.value;
            if (r.node != it.value.node)
                change_start(&c, d->a, v, it.i - 1);
            if (c.made)
                jb_push(&c.b, r);
        }
        v = c.made ? jb_done(&c.b) : v;
    }
    d->opaque = outer;
    return v;
}

static jv decode_scalar(struct decoding *d, const struct schema *s, jv v, const struct at *at)
{
    struct err e = { 0 };
    jv out = v;

    switch (scalar_decode(d->a, s->type, v, &out, &e)) {
    case SCALAR_FINE:
        return out;
    case SCALAR_WRONG_TYPE:
        return wrong_type(d, s, v, at, false);
    case SCALAR_WRONG_NUMBER:
        return wrong_type(d, s, v, at, true);
    case SCALAR_WRONG_BYTE:
        return wrong_type(d, &scalar_byte, out, at, jv_is(out, JV_INT) || jv_is(out, JV_NUM));
    case SCALAR_BAD_TEXT:
        break;
    }
    return fail(d, scalar_reads_itself(s->type), &e);
}

static jv decode(struct decoding *d, const struct schema *s, jv v, const struct at *at)
{
    enum jv_type t = jv_type(v);

    switch (s->type) {
    case SCHEMA_ANY:
        return decode_any(d, s, v, at);
    case SCHEMA_OBJECT:
        return t == JV_OBJ ? decode_object(d, s, v, at) : wrong_type(d, s, v, at, false);
    case SCHEMA_MAP:
        return t == JV_OBJ ? decode_map(d, s, v, at) : wrong_type(d, s, v, at, false);
    case SCHEMA_LIST:
        return t == JV_ARR ? decode_list(d, s, v, at) : wrong_type(d, s, v, at, false);
    case SCHEMA_STRING:
        return t == JV_STR ? v : wrong_type(d, s, v, at, false);
    case SCHEMA_BOOL:
        return t == JV_BOOL ? v : wrong_type(d, s, v, at, false);
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_NUMBER:
    case SCHEMA_INT_OR_STRING:
    case SCHEMA_QUANTITY:
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
    case SCHEMA_DURATION:
    case SCHEMA_BYTES:
        break;
    }
    return decode_scalar(d, s, v, at);
}

jv schema_decode(struct arena *a, const struct schema *s, jv v, const struct schema_report *report,
                 struct err *e)
{
    struct err local = { 0 };
    struct decoding d = { .a = a, .report = report, .e = &local };
    jv r = jv_is_null(v) ? zero(&d, s) : decode(&d, s, v, NULL);

    if (!d.wrong)
        return r;
    if (e)
        *e = local;
    return JV_ABSENT;
}
