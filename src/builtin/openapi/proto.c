/* OpenAPI v2 as protobuf (gnostic's openapi.v2.Document), which is the only form that kubectl
 * before 1.27 understands. Made from the JSON document by tables that say which key is which field.
 */

#include "builtin/openapi/openapi.h"

enum form {
    PB_STRING,
    PB_STRINGS,
    PB_BOOL,
    PB_INT,
    PB_DOUBLE,
    PB_ANYS,       /* values of any sort, each as text */
    PB_MESSAGE,    /* `of`, within a message that has it as field `wrap` if that is not 0 */
    PB_NAMED,      /* an object: a message with pairs of name and `of` as field `holder` */
    PB_TYPE,       /* TypeItem: a string within a message */
    PB_OPEN,       /* AdditionalPropertiesItem: a schema or a bool */
    PB_PARAMETERS, /* ParametersItem, a choice in a choice */
};

struct pb_message;

struct pb_field {
    const char *key;
    enum form form;
    uint8_t number;
    uint8_t holder;
    uint8_t wrap;
    const struct pb_message *of;
};

struct pb_message {
    const struct pb_field *fields; /* ends with a NULL key */
    uint8_t extensions;            /* where x-... goes */
};

static const struct pb_message pb_schema;

static const struct pb_field schema_fields[] = {
    { "$ref", PB_STRING, 1, 0, 0, NULL },
    { "format", PB_STRING, 2, 0, 0, NULL },
    { "title", PB_STRING, 3, 0, 0, NULL },
    { "description", PB_STRING, 4, 0, 0, NULL },
    { "multipleOf", PB_DOUBLE, 6, 0, 0, NULL },
    { "maximum", PB_DOUBLE, 7, 0, 0, NULL },
    { "exclusiveMaximum", PB_BOOL, 8, 0, 0, NULL },
    { "minimum", PB_DOUBLE, 9, 0, 0, NULL },
    { "exclusiveMinimum", PB_BOOL, 10, 0, 0, NULL },
    { "maxLength", PB_INT, 11, 0, 0, NULL },
    { "minLength", PB_INT, 12, 0, 0, NULL },
    { "pattern", PB_STRING, 13, 0, 0, NULL },
    { "maxItems", PB_INT, 14, 0, 0, NULL },
    { "minItems", PB_INT, 15, 0, 0, NULL },
    { "uniqueItems", PB_BOOL, 16, 0, 0, NULL },
    { "maxProperties", PB_INT, 17, 0, 0, NULL },
    { "minProperties", PB_INT, 18, 0, 0, NULL },
    { "required", PB_STRINGS, 19, 0, 0, NULL },
    { "enum", PB_ANYS, 20, 0, 0, NULL },
    { "additionalProperties", PB_OPEN, 21, 0, 0, NULL },
    { "type", PB_TYPE, 22, 0, 0, NULL },
    { "items", PB_MESSAGE, 23, 0, 1, &pb_schema },
    { "properties", PB_NAMED, 25, 1, 0, &pb_schema },
    { 0 },
};
static const struct pb_message pb_schema = { schema_fields, 31 };

static const struct pb_field response_fields[] = {
    { "description", PB_STRING, 1, 0, 0, NULL },
    { "schema", PB_MESSAGE, 2, 0, 1, &pb_schema },
    { 0 },
};
static const struct pb_message pb_response = { response_fields, 5 };

static const struct pb_field operation_fields[] = {
    { "tags", PB_STRINGS, 1, 0, 0, NULL },
    { "description", PB_STRING, 3, 0, 0, NULL },
    { "operationId", PB_STRING, 5, 0, 0, NULL },
    { "produces", PB_STRINGS, 6, 0, 0, NULL },
    { "consumes", PB_STRINGS, 7, 0, 0, NULL },
    { "parameters", PB_PARAMETERS, 8, 0, 0, NULL },
    { "responses", PB_NAMED, 9, 1, 1, &pb_response },
    { 0 },
};
static const struct pb_message pb_operation = { operation_fields, 13 };

static const struct pb_field path_fields[] = {
    { "get", PB_MESSAGE, 2, 0, 0, &pb_operation },
    { "put", PB_MESSAGE, 3, 0, 0, &pb_operation },
    { "post", PB_MESSAGE, 4, 0, 0, &pb_operation },
    { "delete", PB_MESSAGE, 5, 0, 0, &pb_operation },
    { "patch", PB_MESSAGE, 8, 0, 0, &pb_operation },
    { "parameters", PB_PARAMETERS, 9, 0, 0, NULL },
    { 0 },
};
static const struct pb_message pb_path = { path_fields, 10 };

static const struct pb_field info_fields[] = {
    { "title", PB_STRING, 1, 0, 0, NULL },
    { "version", PB_STRING, 2, 0, 0, NULL },
    { 0 },
};
static const struct pb_message pb_info = { info_fields, 7 };

static const struct pb_field document_fields[] = {
    { "swagger", PB_STRING, 1, 0, 0, NULL },
    { "info", PB_MESSAGE, 2, 0, 0, &pb_info },
    { "paths", PB_NAMED, 8, 2, 0, &pb_path },
    { "definitions", PB_NAMED, 9, 1, 0, &pb_schema },
    { 0 },
};
static const struct pb_message pb_document = { document_fields, 16 };

static const struct pb_field body_fields[] = {
    { "description", PB_STRING, 1, 0, 0, NULL },
    { "name", PB_STRING, 2, 0, 0, NULL },
    { "in", PB_STRING, 3, 0, 0, NULL },
    { "required", PB_BOOL, 4, 0, 0, NULL },
    { "schema", PB_MESSAGE, 5, 0, 0, &pb_schema },
    { 0 },
};
static const struct pb_message pb_body = { body_fields, 6 };

static const struct pb_field query_fields[] = {
    { "required", PB_BOOL, 1, 0, 0, NULL },
    { "in", PB_STRING, 2, 0, 0, NULL },
    { "description", PB_STRING, 3, 0, 0, NULL },
    { "name", PB_STRING, 4, 0, 0, NULL },
    { "type", PB_STRING, 6, 0, 0, NULL },
    { "uniqueItems", PB_BOOL, 20, 0, 0, NULL },
    { 0 },
};
static const struct pb_message pb_query = { query_fields, 23 };

static const struct pb_field in_path_fields[] = {
    { "required", PB_BOOL, 1, 0, 0, NULL },
    { "in", PB_STRING, 2, 0, 0, NULL },
    { "description", PB_STRING, 3, 0, 0, NULL },
    { "name", PB_STRING, 4, 0, 0, NULL },
    { "type", PB_STRING, 5, 0, 0, NULL },
    { "uniqueItems", PB_BOOL, 19, 0, 0, NULL },
    { 0 },
};
static const struct pb_message pb_in_path = { in_path_fields, 22 };

/* ---- bytes */

enum { WIRE_VARINT = 0, WIRE_DOUBLE = 1, WIRE_BYTES = 2, LENGTH_BYTES = 4 };

static void put_varint(struct buf *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        buf_addc(b, (char)(v | 0x80));
    buf_addc(b, (char)v);
}

static void put_tag(struct buf *b, unsigned number, unsigned wire)
{
    put_varint(b, (uint64_t)number << 3 | wire);
}

static void put_string(struct buf *b, unsigned number, str s)
{
    put_tag(b, number, WIRE_BYTES);
    put_varint(b, s.n);
    buf_add(b, s);
}

/* A message whose length is filled in when it ends: a varint may be longer than it needs. */
static size_t begin(struct buf *b, unsigned number)
{
    put_tag(b, number, WIRE_BYTES);
    buf_add(b, (str){ "\0\0\0\0", LENGTH_BYTES });
    return b->n;
}

static void end(struct buf *b, size_t start)
{
    size_t n = b->n - start;

    for (size_t i = 0; i < LENGTH_BYTES; i++, n >>= 7)
        b->p[start - LENGTH_BYTES + i] = (char)((n & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}

/* ---- JSON to messages */

static void put_message(struct buf *b, const struct pb_message *m, jv v);

/* Any, as YAML: JSON is YAML too. */
static void put_any(struct buf *b, unsigned number, jv v)
{
    AUTO(buf) struct buf text = { 0 };
    size_t any = begin(b, number);

    json_print(&text, v);
    put_string(b, 2, buf_str(&text));
    end(b, any);
}

static void put_double(struct buf *b, unsigned number, double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof(bits));
    put_tag(b, number, WIRE_DOUBLE);
    for (int i = 0; i < 8; i++, bits >>= 8)
        buf_addc(b, (char)(bits & 0xff));
}

static void put_wrapped(struct buf *b, unsigned number, unsigned wrap, const struct pb_message *m,
                        jv v)
{
    size_t outer = begin(b, number);
    size_t inner = wrap ? begin(b, wrap) : outer;

    put_message(b, m, v);
    if (wrap)
        end(b, inner);
    end(b, outer);
}

static void put_named(struct buf *b, const struct pb_field *f, jv v)
{
    size_t holder = begin(b, f->number);

    JV_EACH (it, v) {
        size_t pair = begin(b, f->holder);
        put_string(b, 1, it.key);
        put_wrapped(b, 2, f->wrap, f->of, it.value);
        end(b, pair);
    }
    end(b, holder);
}

static void put_parameter(struct buf *b, unsigned number, jv v)
{
    str in = jv_str(jv_at(v, "in"), S("query"));
    size_t item = begin(b, number);
    size_t parameter = begin(b, 1);

    if (str_eqz(in, "body")) {
        put_wrapped(b, 1, 0, &pb_body, v);
    } else {
        bool path = str_eqz(in, "path");
        put_wrapped(b, 2, path ? 4 : 3, path ? &pb_in_path : &pb_query, v);
    }
    end(b, parameter);
    end(b, item);
}

static void put_open(struct buf *b, unsigned number, jv v)
{
    if (jv_is(v, JV_OBJ)) {
        put_wrapped(b, number, 1, &pb_schema, v);
        return;
    }
    size_t item = begin(b, number);
    put_tag(b, 2, WIRE_VARINT);
    put_varint(b, jv_bool(v, false));
    end(b, item);
}

static void put_type(struct buf *b, unsigned number, jv v)
{
    size_t item = begin(b, number);

    put_string(b, 1, jv_str(v, STR_NONE));
    end(b, item);
}

static void put_each(struct buf *b, const struct pb_field *f, jv list)
{
    JV_EACH (it, list) {
        if (f->form == PB_STRINGS)
            put_string(b, f->number, jv_str(it.value, STR_NONE));
        else if (f->form == PB_ANYS)
            put_any(b, f->number, it.value);
        else
            put_parameter(b, f->number, it.value);
    }
}

static void put_field(struct buf *b, const struct pb_field *f, jv v)
{
    switch (f->form) {
    case PB_STRING:
        put_string(b, f->number, jv_str(v, STR_NONE));
        break;
    case PB_BOOL:
        put_tag(b, f->number, WIRE_VARINT);
        put_varint(b, jv_bool(v, false));
        break;
    case PB_INT:
        put_tag(b, f->number, WIRE_VARINT);
        put_varint(b, (uint64_t)jv_int(v, 0));
        break;
    case PB_DOUBLE:
        put_double(b, f->number, jv_double(v, 0));
        break;
    case PB_STRINGS:
    case PB_ANYS:
    case PB_PARAMETERS:
        put_each(b, f, v);
        break;
    case PB_MESSAGE:
        put_wrapped(b, f->number, f->wrap, f->of, v);
        break;
    case PB_NAMED:
        put_named(b, f, v);
        break;
    case PB_TYPE:
        put_type(b, f->number, v);
        break;
    case PB_OPEN:
        put_open(b, f->number, v);
        break;
    }
}

/* Keys without a field or an x- in front have no place in the old form and are left out. */
static void put_message(struct buf *b, const struct pb_message *m, jv v)
{
    JV_EACH (it, v) {
        const struct pb_field *f = m->fields;

        if (str_starts(it.key, S("x-"))) {
            size_t pair = begin(b, m->extensions);
            put_string(b, 1, it.key);
            put_any(b, 2, it.value);
            end(b, pair);
            continue;
        }
        while (f->key && !str_eqz(it.key, f->key))
            f++;
        if (f->key)
            put_field(b, f, it.value);
    }
}

void openapi_v2_proto(struct buf *out, const struct openapi_custom *c, size_t n)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf json = { 0 };

    openapi_v2(&json, c, n);
    put_message(out, &pb_document, json_parse(a, buf_str(&json), NULL, NULL));
}
