/* JSON values to messages: the way back of protobuf.c, for what operators create. What the server
 * would decode otherwise from JSON, or would have words of its own for, is refused: the caller
 * sends JSON then, so that nothing but the bytes is different. */

#include "kube/protobuf.h"

#include "base/limits.h"
#include "base/quantity.h"
#include "kube/protobuf_types.h"

struct writing {
    struct arena *a;
    const struct wire *wire;
    struct buf *out;
    struct err *e;
    size_t depth;
};

static bool refuse(struct writing *w, str name, const char *why)
{
    err_set(w->e, ERR_INVALID, "%" PRI_STR ": %s", STR_ARG(name), why);
    return false;
}

/* ---- the wire */

static size_t varint_bytes(uint64_t v, char *out)
{
    size_t n = 0;

    for (; v >= 0x80; v >>= 7)
        out[n++] = (char)(v | 0x80);
    out[n++] = (char)v;
    return n;
}

static void put_varint(struct buf *b, uint64_t v)
{
    char *to = buf_room(b, 10);

    b->n += varint_bytes(v, to);
}

static void put_tag(struct buf *b, uint64_t number, enum pb_type type)
{
    put_varint(b, number << 3 | type);
}

static void put_bytes(struct buf *b, uint64_t number, str s)
{
    put_tag(b, number, PB_BYTES);
    put_varint(b, s.n);
    buf_add(b, s);
}

/* A message's length comes before it, and is known after it: room for one byte is left, and made
 * wider when that is not enough. */
static size_t message_start(struct buf *b, uint64_t number)
{
    put_tag(b, number, PB_BYTES);
    buf_addc(b, 0);
    return b->n;
}

static void message_end(struct buf *b, size_t start)
{
    char length[10];
    size_t size = b->n - start;
    size_t n = varint_bytes(size, length);

    buf_room(b, n);
    memmove(b->p + start - 1 + n, b->p + start, size);
    memcpy(b->p + start - 1, length, n);
    b->n += n - 1;
}

/* ---- one value */

static bool object(struct writing *w, const struct schema *s, jv v);

static bool quantity(struct writing *w, uint64_t number, jv v, str name)
{
    struct quantity q;
    str text = jv_is(v, JV_STR) ? jv_str(v, S("")) : jv_num_text(w->a, v);

    if (!text.n || quantity_parse(text, &q, NULL) < 0)
        return refuse(w, name, "is no quantity");
    size_t start = message_start(w->out, number);
    put_bytes(w->out, 1, text);
    message_end(w->out, start);
    return true;
}

static bool int_or_string(struct writing *w, uint64_t number, jv v, str name)
{
    int64_t i = jv_int(v, 0);
    bool is_text = jv_is(v, JV_STR);

    if (!is_text && (!jv_is(v, JV_INT) || i < INT32_MIN || i > INT32_MAX))
        return refuse(w, name, "is neither a text nor an int32");
    size_t start = message_start(w->out, number);
    put_tag(w->out, 1, PB_VARINT);
    put_varint(w->out, is_text);
    put_tag(w->out, 2, PB_VARINT);
    put_varint(w->out, is_text ? 0 : (uint64_t)i);
    put_bytes(w->out, 3, jv_str(v, S("")));
    message_end(w->out, start);
    return true;
}

static bool integer(struct writing *w, const struct schema *s, uint64_t number, jv v, str name)
{
    int64_t i = jv_int(v, 0);

    if (!jv_is(v, JV_INT) || (s->type == SCHEMA_INT32 && (i < INT32_MIN || i > INT32_MAX)))
        return refuse(w, name, "is no integer of that size");
    put_tag(w->out, number, PB_VARINT);
    put_varint(w->out, (uint64_t)i);
    return true;
}

static bool nested(struct writing *w, const struct schema *s, uint64_t number, jv v)
{
    size_t start = message_start(w->out, number);

    if (!object(w, s, v))
        return false;
    message_end(w->out, start);
    return true;
}

static bool value(struct writing *w, const struct schema *s, uint64_t number, jv v, str name)
{
    switch (s->type) {
    case SCHEMA_STRING:
        if (!jv_is(v, JV_STR))
            return refuse(w, name, "is no text");
        put_bytes(w->out, number, jv_str(v, S("")));
        return true;
    case SCHEMA_BOOL:
        if (!jv_is(v, JV_BOOL))
            return refuse(w, name, "is neither true nor false");
        put_tag(w->out, number, PB_VARINT);
        put_varint(w->out, jv_bool(v, false));
        return true;
    case SCHEMA_INT32:
    case SCHEMA_INT64:
        return integer(w, s, number, v, name);
    case SCHEMA_QUANTITY:
        return quantity(w, number, v, name);
    case SCHEMA_INT_OR_STRING:
        return int_or_string(w, number, v, name);
    case SCHEMA_OBJECT:
        return jv_is(v, JV_OBJ) ? nested(w, s, number, v) : refuse(w, name, "is no object");
    case SCHEMA_ANY:
    case SCHEMA_MAP:
    case SCHEMA_LIST:
    case SCHEMA_NUMBER:
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
    case SCHEMA_DURATION:
    case SCHEMA_BYTES:
        break; /* not in what is created; JSON does for those */
    }
    return refuse(w, name, "has a type that protobuf output does not support");
}

/* ---- fields. An empty list is none on the wire, and not quite that in JSON. */

static bool list(struct writing *w, const struct schema *s, uint64_t number, jv v, str name)
{
    if (!jv_is(v, JV_ARR) || !jv_len(v))
        return refuse(w, name, "is no list, or empty");
    JV_EACH (it, v)
        if (!value(w, s->items, number, it.value, name))
            return false;
    return true;
}

static bool map(struct writing *w, const struct schema *s, uint64_t number, jv v, str name)
{
    if (!jv_is(v, JV_OBJ) || !jv_len(v))
        return refuse(w, name, "is no map, or empty");
    JV_EACH (it, v) {
        size_t start = message_start(w->out, number);
        put_bytes(w->out, 1, it.key);
        if (!value(w, s->items, 2, it.value, name))
            return false;
        message_end(w->out, start);
    }
    return true;
}

/* null is what is not there. */
static bool field(struct writing *w, const struct schema *s, uint64_t number, jv v, str name)
{
    if (jv_is_null(v))
        return true;
    if (s->type == SCHEMA_LIST)
        return list(w, s, number, v, name);
    if (s->type == SCHEMA_MAP)
        return map(w, s, number, v, name);
    return value(w, s, number, v, name);
}

/* ---- objects */

static bool by_rows(struct writing *w, const struct schema *s, jv v, size_t *known)
{
    JV_EACH (it, v) {
        const struct schema_field *row = schema_field(s, it.key);
        uint64_t number = row ? pb_row_number(s, row) : 0;
        if (!number)
            continue;
        if (!field(w, row->schema, number, it.value, it.key))
            return false;
        ++*known;
    }
    return true;
}

/* Writes the fields that a message named by t has of v, and counts them. */
static bool by_words(struct writing *w, const struct schema *s, const struct wire_type *t, jv v,
                     size_t *known)
{
    str rest = str_of(t->fields);
    uint64_t number;
    int64_t n = 1;
    str word;

    while (pb_next_word(&rest, &n, &word, &number)) {
        if (!word.n)
            continue;
        if (word.p[0] != '*') {
            const struct schema_field *row = NULL;
            jv got = jv_get(v, word);
            if (!jv_exists(got))
                continue;
            row = schema_field(s, word);
            if (!row || !field(w, row->schema, number, got, word))
                return row ? false : refuse(w, word, "is not known");
            ++*known;
            continue;
        }
        const struct wire_type *other =
            pb_type_find(w->wire, pb_embedded(w->a, str_of(t->name), word));
        size_t before = *known, begin = w->out->n;
        size_t start = message_start(w->out, number);
        if (!other || !by_words(w, s, other, v, known))
            return other ? false : refuse(w, word, "is not known");
        if (*known == before)
            w->out->n = begin;
        else
            message_end(w->out, start);
    }
    return true;
}

static bool object(struct writing *w, const struct schema *s, jv v)
{
    const struct wire_type *t = pb_type_find(w->wire, str_of(s->name));
    bool is_root = w->depth == 0;
    size_t known = 0;

    if (++w->depth >= LIMIT_JSON_DEPTH)
        return refuse(w, str_of(s->name), "is nested too deeply");
    if (t ? !by_words(w, s, t, v, &known) : !by_rows(w, s, v, &known))
        return false;
    w->depth--;
    if (is_root)
        known += jv_exists(jv_get(v, S("kind"))) + jv_exists(jv_get(v, S("apiVersion")));
    if (known != jv_len(v))
        return refuse(w, str_of(s->name), "has a field that is not known");
    return true;
}

int protobuf_encode(struct arena *a, const struct schema *s, jv v, const struct wire *types,
                    struct buf *out, struct err *e)
{
    struct writing w = { .a = a, .wire = types, .out = out, .e = e };
    size_t before = out->n;

    buf_add(out, S("k8s\0"));
    size_t type = message_start(out, 1);
    put_bytes(out, 1, jv_str(jv_get(v, S("apiVersion")), S("")));
    put_bytes(out, 2, jv_str(jv_get(v, S("kind")), S("")));
    message_end(out, type);
    if (jv_is(v, JV_OBJ) && nested(&w, s, 2, v))
        return 0;
    out->n = before;
    return -1;
}
