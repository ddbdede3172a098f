/* Reading fields one by one. Groups, which Kubernetes never uses, are refused. */

#include "kube/protobuf_wire.h"

#include <inttypes.h>

static int ends_early(struct err *e)
{
    return err_set(e, ERR_BAD_REQUEST, "unexpected EOF");
}

static int varint(str *rest, uint64_t *out, struct err *e)
{
    uint64_t v = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (!rest->n)
            return ends_early(e);
        unsigned char c = (unsigned char)rest->p[0];
        *rest = (str){ rest->p + 1, rest->n - 1 };
        v |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80) {
            *out = v;
            return 0;
        }
    }
    return err_set(e, ERR_BAD_REQUEST, "proto: integer overflow");
}

static int fixed(str *rest, size_t n, uint64_t *out, struct err *e)
{
    uint64_t v = 0;

    if (rest->n < n)
        return ends_early(e);
    for (size_t i = 0; i < n; i++)
        v |= (uint64_t)(unsigned char)rest->p[i] << 8 * i;
    *rest = (str){ rest->p + n, rest->n - n };
    *out = v;
    return 0;
}

int pb_number(str *rest, enum pb_type type, uint64_t *out, struct err *e)
{
    switch (type) {
    case PB_VARINT:
        return varint(rest, out, e);
    case PB_FIXED64:
        return fixed(rest, 8, out, e);
    case PB_FIXED32:
        return fixed(rest, 4, out, e);
    case PB_BYTES:
        break;
    }
    return err_set(e, ERR_BAD_REQUEST, "proto: illegal wireType %d", (int)type);
}

static int length_and_bytes(str *rest, str *out, struct err *e)
{
    uint64_t n;

    if (varint(rest, &n, e) < 0)
        return -1;
    if (n > INT64_MAX)
        return err_set(e, ERR_BAD_REQUEST, "proto: negative length found during unmarshaling");
    if (n > rest->n)
        return ends_early(e);
    *out = (str){ rest->p, n };
    *rest = (str){ rest->p + n, rest->n - n };
    return 0;
}

int pb_next(str *rest, struct pb_field *f, struct err *e)
{
    uint64_t tag;

    if (!rest->n)
        return 0;
    if (varint(rest, &tag, e) < 0)
        return -1;
    *f = (struct pb_field){ .number = tag >> 3, .type = (enum pb_type)(tag & 7), .bytes = S("") };
    if (f->number == 0 || f->number > INT32_MAX)
        return err_set(e, ERR_BAD_REQUEST, "proto: illegal tag %" PRId32 " (wire type %" PRIu64 ")",
                       (int32_t)(tag >> 3), tag);
    if (f->type == PB_BYTES)
        return length_and_bytes(rest, &f->bytes, e) < 0 ? -1 : 1;
    return pb_number(rest, f->type, &f->num, e) < 0 ? -1 : 1;
}
