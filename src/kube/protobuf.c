/* Messages to JSON values. A field's form on the wire follows from its schema: most are what they
 * seem, but times, quantities and the like are little messages, a list where the wire wants one
 * value is a message {items = 1}, and free JSON is a message {raw = 1} of JSON text. */

#include "kube/protobuf.h"

#include "base/base64.h"
#include "base/limits.h"
#include "kube/protobuf_scalar.h"
#include "kube/protobuf_types.h"

#include <stdlib.h>

static jv message(struct pb_reading *d, const struct schema *s, str bytes);

static bool enter(struct pb_reading *d)
{
    if (++d->depth < LIMIT_JSON_DEPTH)
        return true;
    pb_refuse(d, "proto: exceeded max depth");
    return false;
}

/* ---- one value, as a field has it */

static bool check_wire_type(struct pb_reading *d, const struct pb_field *f, enum pb_type want,
                            str name)
{
    if (f->type == want)
        return true;
    err_set(d->e, ERR_BAD_REQUEST, "proto: wrong wireType = %d for field %" PRI_STR, (int)f->type,
            STR_ARG(name));
    return false;
}

static jv value(struct pb_reading *d, const struct schema *s, const struct pb_field *f, str name)
{
    enum pb_type want = pb_type_of(s);

    if (!check_wire_type(d, f, want, name))
        return JV_ABSENT;
    if (want != PB_BYTES)
        return pb_from_number(d, s, f->num);
    if (s->type == SCHEMA_STRING)
        return pb_text(d, f->bytes);
    if (s->type == SCHEMA_BYTES)
        return jstr(d->a, base64_encode(d->a, f->bytes));
    return message(d, s, f->bytes);
}

/* ---- many values. What is of one field need not lie together, so the rest of the message is
 * searched for it when the field is first met. */

static bool push(struct jbuild *b, jv v)
{
    if (jv_exists(v))
        jb_push(b, v);
    return jv_exists(v);
}

/* One element, or a run of packed numbers. */
static bool push_field(struct pb_reading *d, const struct schema *items, const struct pb_field *f,
                       str name, struct jbuild *b)
{
    enum pb_type type = pb_type_of(items);
    str packed = f->bytes;
    uint64_t num;

    if (type == PB_BYTES || f->type != PB_BYTES)
        return push(b, value(d, items, f, name));
    while (packed.n)
        if (pb_number(&packed, type, &num, d->e) < 0 || !push(b, pb_from_number(d, items, num)))
            return false;
    return true;
}

/* All elements of field `number` in bytes; null if there are none. */
static jv list(struct pb_reading *d, const struct schema *s, uint64_t number, str bytes, str name)
{
    struct jbuild b = jb_arr(d->a);
    struct pb_field f;
    int rc;

    if (!enter(d))
        return JV_ABSENT;
    while ((rc = pb_next(&bytes, &f, d->e)) > 0)
        if (f.number == number && !push_field(d, s->items, &f, name, &b))
            return JV_ABSENT;
    d->depth--;
    return rc < 0 ? JV_ABSENT : b.n ? jb_done(&b) : JV_NULL_V;
}

struct entry {
    str key;
    jv value;
    size_t place;
};

static int by_key(const void *x, const void *y)
{
    const struct entry *l = x;
    const struct entry *r = y;
    int c = str_cmp(l->key, r->key);

    return c ? c : (l->place > r->place) - (l->place < r->place);
}

static bool read_entry(struct pb_reading *d, const struct schema *items, str bytes,
                       struct entry *out)
{
    /* not sent: the zero value */
    struct pb_field value_field = { .type = pb_type_of(items), .bytes = S("") };
    struct pb_field f;
    jv key = jstrz(d->a, "");
    int rc = 0;

    while (jv_exists(key) && (rc = pb_next(&bytes, &f, d->e)) > 0) {
        if (f.number == 1 && !check_wire_type(d, &f, PB_BYTES, S("mapkey")))
            return false;
        if (f.number == 1)
            key = pb_text(d, f.bytes);
        else if (f.number == 2)
            value_field = f;
    }
    out->key = jv_str(key, S(""));
    out->value =
        rc < 0 || !jv_exists(key) ? JV_ABSENT : value(d, items, &value_field, S("mapvalue"));
    return jv_exists(out->value);
}

/* In the order of keys; of entries with one key the last counts. */
static jv map(struct pb_reading *d, const struct schema *s, uint64_t number, str bytes, str name)
{
    struct jbuild b = jb_obj(d->a);
    struct pb_field f;
    size_t n = 0;
    size_t i = 0;
    int rc;

    if (!enter(d))
        return JV_ABSENT;
    for (str r = bytes; (rc = pb_next(&r, &f, d->e)) > 0;)
        n += f.number == number;
    if (rc < 0)
        return JV_ABSENT;
    struct entry *at = ARENA_ARRAY(d->a, struct entry, n);
    while (pb_next(&bytes, &f, d->e) > 0) {
        if (f.number != number)
            continue;
        at[i].place = i;
        if (!check_wire_type(d, &f, PB_BYTES, name) || !read_entry(d, s->items, f.bytes, &at[i]))
            return JV_ABSENT;
        i++;
    }
    qsort(at, n, sizeof(*at), by_key);
    for (i = 0; i < n; i++)
        if (i + 1 == n || !str_eq(at[i].key, at[i + 1].key))
            jb_add(&b, at[i].key, at[i].value);
    d->depth--;
    return jb_done(&b);
}

/* ---- objects */

/* Reads what bytes, a message named type, have of the fields of s. */
static bool read_fields(struct pb_reading *d, const struct schema *s, str type, str bytes,
                        struct jbuild *b);

static bool read_embedded(struct pb_reading *d, const struct schema *s, str type, str word,
                          const struct pb_field *f, struct jbuild *b)
{
    str other = pb_embedded(d->a, type, word);

    return check_wire_type(d, f, PB_BYTES, other) && read_fields(d, s, other, f->bytes, b);
}

/* rest: the message from f on. */
static bool read_field(struct pb_reading *d, const struct schema_field *row,
                       const struct pb_field *f, str rest, struct jbuild *b)
{
    const struct schema *s = row->schema;
    jv v = s->type == SCHEMA_LIST  ? list(d, s, f->number, rest, row->name)
           : s->type == SCHEMA_MAP ? map(d, s, f->number, rest, row->name)
                                   : value(d, s, f, row->name);

    if (jv_exists(v))
        jb_set(b, row->name, v);
    return jv_exists(v);
}

static bool is_many(const struct schema *s)
{
    return s->type == SCHEMA_LIST || s->type == SCHEMA_MAP;
}

static bool is_message(const struct schema *s)
{
    return pb_type_of(s) == PB_BYTES && s->type != SCHEMA_STRING && s->type != SCHEMA_BYTES;
}

static bool read_fields(struct pb_reading *d, const struct schema *s, str type, str bytes,
                        struct jbuild *b)
{
    const struct wire_type *own = pb_type_find(d->wire, type);
    uint64_t seen = 0; /* one bit a number; no type has as many as 64 */
    struct pb_field f;
    int rc;

    for (str here = bytes; (rc = pb_next(&bytes, &f, d->e)) > 0; here = bytes) {
        uint64_t bit = f.number < 64 ? (uint64_t)1 << f.number : 0;
        str word = own && bit ? pb_word_at(own, f.number) : STR_NONE;
        bool embedded = word.n && word.p[0] == '*';
        const struct schema_field *row = !bit || embedded ? NULL
                                         : own            ? schema_field(s, word)
                                                          : pb_row_at(s, f.number);
        bool again = seen & bit;

        seen |= bit;
        if (!row && !embedded)
            continue;
        if (again && row && is_many(row->schema))
            continue; /* all were read when the first was met */
        if (again && (embedded || is_message(row->schema))) {
            pb_refuse(d, "proto: a message that comes in parts");
            return false;
        }
        if (embedded ? !read_embedded(d, s, type, word, &f, b) : !read_field(d, row, &f, here, b))
            return false;
    }
    return rc == 0;
}

static jv object(struct pb_reading *d, const struct schema *s, str bytes)
{
    struct jbuild b = jb_obj(d->a);

    if (!enter(d) || !read_fields(d, s, str_of(s->name), bytes, &b))
        return JV_ABSENT;
    d->depth--;
    return jb_done(&b);
}

/* JSONSchemaPropsOrArray {schema=1, list=2}, OrBool {allows=1, schema=2},
 * OrStringArray {schema=1, list=2}: what Go prints of those that are set. */
static jv either(struct pb_reading *d, const struct schema *s, str bytes)
{
    static const struct schema words = { .type = SCHEMA_LIST, .items = &schema_string };
    struct schema schemas = { .type = SCHEMA_LIST, .items = s->items };
    bool or_bool = str_ends(str_of(s->name), S("OrBool"));
    bool or_words = str_ends(str_of(s->name), S("OrStringArray"));
    unsigned at = or_bool ? 2 : 1;
    struct pb_little m;

    if (!pb_little_read(d, bytes, &m))
        return JV_ABSENT;
    if (!or_bool && m.has[2])
        return list(d, or_words ? &words : &schemas, 2, bytes, S("items"));
    if (m.has[at])
        return object(d, s->items, m.bytes[at]);
    return or_bool ? jbool(m.num[1] != 0) : JV_NULL_V;
}

static jv message(struct pb_reading *d, const struct schema *s, str bytes)
{
    if (s->type == SCHEMA_OBJECT)
        return object(d, s, bytes);
    if (s->type == SCHEMA_LIST) {
        jv v = list(d, s, 1, bytes, S("items"));
        return jv_is(v, JV_NULL) ? JV_EMPTY_ARR : v;
    }
    if (s->type == SCHEMA_ANY && s->items)
        return either(d, s, bytes);
    return pb_from_little(d, s, bytes);
}

/* ---- whole bodies */

int protobuf_open(str body, struct protobuf_body *out, struct err *e)
{
    static const str magic = S_INIT("k8s\0");
    struct pb_reading d = { .e = e };
    struct pb_little envelope;
    struct pb_little type;

    if (!body.n)
        return err_set(e, ERR_BAD_REQUEST, "empty data");
    if (!str_starts(body, magic))
        return err_set(e, ERR_BAD_REQUEST,
                       "provided data does not appear to be a protobuf message, expected prefix "
                       "[107 56 115 0]");
    if (body.n == magic.n)
        return err_set(e, ERR_BAD_REQUEST, "empty body");
    if (!pb_little_read(&d, str_sub(body, magic.n, body.n), &envelope) ||
        !pb_little_read(&d, envelope.bytes[1], &type))
        return -1;
    *out = (struct protobuf_body){ type.bytes[1], type.bytes[2], envelope.bytes[2] };
    return 0;
}

jv protobuf_decode(struct arena *a, const struct schema *s, str bytes, const struct wire *w,
                   struct err *e)
{
    struct pb_reading d = { .a = a, .wire = w, .e = e, .all = bytes };

    return message(&d, s, bytes);
}
