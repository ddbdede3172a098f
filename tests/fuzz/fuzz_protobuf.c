/* Bodies in protobuf: any bytes as an envelope, and what it holds as a built-in kind, which the
 * kind in the envelope names. What was read prints, reads back and soon stays as it is. */

#include "builtin/kind.h"
#include "builtin/wire.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct builtin_kind *find(str kind)
{
    for (size_t i = 0; i < builtin_kinds_n; i++)
        if (str_eqz(kind, builtin_kinds[i].kind))
            return &builtin_kinds[i];
    return NULL;
}

/* What can be written is read as the same again. */
static void check_writing(struct arena *a, const struct schema *s, jv v)
{
    AUTO(buf) struct buf b = { 0 };
    struct protobuf_body body;

    if (protobuf_encode(a, s, v, &builtin_wire, &b, NULL) < 0)
        return;
    if (protobuf_open(buf_str(&b), &body, NULL) < 0)
        abort();
    jv again = protobuf_decode(a, s, body.raw, &builtin_wire, NULL);
    if (!jv_equal_semantic(again, v))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new();
    str body = arena_str(a, (str){ (const char *)data, size });
    struct protobuf_body open;
    struct err e = { 0 };

    if (protobuf_open(body, &open, &e) < 0) {
        if (e.code != ERR_BAD_REQUEST || !e.msg[0])
            abort();
        return 0;
    }
    const struct builtin_kind *k = find(open.kind);
    if (!k)
        return 0;
    jv v = protobuf_decode(a, k->schema, open.raw, &builtin_wire, &e);
    if (!jv_exists(v)) {
        if (e.code != ERR_BAD_REQUEST || !e.msg[0])
            abort();
        return 0;
    }
    if (!jv_equal(json_parse(a, json_text(a, v), NULL, NULL), v))
        abort();
    check_writing(a, k->schema, v);
    jv once = schema_decode(a, k->schema, v, NULL, NULL);
    if (!jv_exists(once))
        return 0; /* a quantity, say, that is none */
    jv twice = schema_decode(a, k->schema, once, NULL, NULL);
    if (!jv_exists(twice) || schema_decode(a, k->schema, twice, NULL, NULL).node != twice.node)
        abort();
    return 0;
}
