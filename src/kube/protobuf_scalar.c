/* The leaves of protobuf_decode. */

#include "kube/protobuf_scalar.h"

#include "base/gofloat.h"
#include "base/limits.h"
#include "base/time.h"

#include <math.h>

jv pb_refuse(struct pb_reading *d, const char *why)
{
    err_set(d->e, ERR_BAD_REQUEST, "%s", why);
    return JV_ABSENT;
}

jv pb_text(struct pb_reading *d, str s)
{
    AUTO(buf) struct buf b = { 0 };

    if (str_is_utf8(s))
        return jstr(d->a, s);
    if (d->wire->only_utf8) {
        err_set(d->e, ERR_BAD_REQUEST, "proto: text is not UTF-8 at byte %zu of the object",
                (size_t)(s.p - d->all.p) + str_utf8_prefix(s));
        return JV_ABSENT;
    }
    json_print_str(&b, s);
    return json_parse(d->a, arena_str(d->a, buf_str(&b)), NULL, d->e);
}

static jv number(struct pb_reading *d, uint64_t bits)
{
    char out[GOFLOAT_BYTES];
    double x;

    memcpy(&x, &bits, sizeof(x));
    if (!isfinite(x))
        return pb_refuse(d, "json: unsupported value");
    size_t n = gofloat_json(out, x);
    return jnum(d->a, arena_str(d->a, (str){ out, n }));
}

jv pb_from_number(struct pb_reading *d, const struct schema *s, uint64_t num)
{
    if (s->type == SCHEMA_BOOL)
        return jbool(num != 0);
    if (s->type == SCHEMA_NUMBER)
        return number(d, num);
    return jint(d->a, s->type == SCHEMA_INT32 ? (int32_t)num : (int64_t)num);
}

/* ---- little messages */

bool pb_little_read(struct pb_reading *d, str bytes, struct pb_little *out)
{
    struct pb_field f;
    int rc;

    *out = (struct pb_little){ .bytes = { S(""), S(""), S(""), S("") } };
    while ((rc = pb_next(&bytes, &f, d->e)) > 0) {
        if (f.number >= COUNT(out->num))
            continue;
        out->has[f.number] = true;
        out->num[f.number] = f.num;
        out->bytes[f.number] = f.bytes;
    }
    return rc == 0;
}

static const int64_t year_0_s = -62167219200;
static const int64_t year_10000_s = 253402300800;

/* Nothing at all is Go's zero time, which JSON has as null. */
static jv time_of(struct pb_reading *d, bool micro, const struct pb_little *m)
{
    int64_t s = (int64_t)m->num[1];
    int64_t us = (int32_t)m->num[2] / 1000;

    if (s < year_0_s || s >= year_10000_s)
        return pb_refuse(d, "Time.MarshalJSON: year outside of range [0,9999]");
    return jstr(d->a,
                micro ? time_text_micro(d->a, s * 1000 * 1000 + us) : time_text(d->a, s * 1000));
}

static jv int_or_string(struct pb_reading *d, const struct pb_little *m)
{
    if (m->num[1] > 1)
        return pb_refuse(d, "impossible IntOrString.Type");
    return m->num[1] ? pb_text(d, m->bytes[3]) : jint(d->a, (int32_t)m->num[2]);
}

static jv free_json(struct pb_reading *d, str raw)
{
    struct json_opts opts = { .max_depth = LIMIT_JSON_DEPTH - d->depth };

    return raw.n ? json_parse(d->a, raw, &opts, d->e) : JV_NULL_V;
}

jv pb_from_little(struct pb_reading *d, const struct schema *s, str bytes)
{
    struct pb_little m;

    if (!pb_little_read(d, bytes, &m))
        return JV_ABSENT;
    switch (s->type) {
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
        return bytes.n ? time_of(d, s->type == SCHEMA_MICRO_TIME, &m) : JV_NULL_V;
    case SCHEMA_DURATION:
        return jstr(d->a, duration_text(d->a, (int64_t)m.num[1]));
    case SCHEMA_QUANTITY:
        return m.has[1] ? pb_text(d, m.bytes[1]) : jstrz(d->a, "0");
    case SCHEMA_INT_OR_STRING:
        return int_or_string(d, &m);
    case SCHEMA_ANY:
        return free_json(d, m.bytes[1]);
    case SCHEMA_OBJECT:
    case SCHEMA_MAP:
    case SCHEMA_LIST:
    case SCHEMA_STRING:
    case SCHEMA_BOOL:
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_NUMBER:
    case SCHEMA_BYTES:
        break;
    }
    return pb_refuse(d, "this type has no protobuf form");
}
