/* The leaves of schema_decode. */

#include "kube/schema_scalar.h"
#include "base/base64.h"
#include "base/quantity.h"
#include "base/time.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct jnode empty_node = { .type = JV_STR, .u.text = "" };
static const struct jnode zero_node = { .type = JV_INT };
static const struct jnode zero_str_node = { .type = JV_STR, .n = 1, .u.text = "0" };
static const struct jnode zero_seconds_node = { .type = JV_STR, .n = 2, .u.text = "0s" };

const jv SCALAR_EMPTY_STR = { &empty_node };
const jv SCALAR_ZERO = { &zero_node };
const jv SCALAR_ZERO_STR = { &zero_str_node };
const jv SCALAR_ZERO_SECONDS = { &zero_seconds_node };

const struct schema scalar_byte = { .type = SCHEMA_INT32, .go_name = "uint8" };

bool scalar_reads_itself(enum schema_type type)
{
    return type == SCHEMA_INT_OR_STRING || type == SCHEMA_QUANTITY || type == SCHEMA_TIME ||
           type == SCHEMA_MICRO_TIME || type == SCHEMA_DURATION;
}

const struct schema *scalar_reads_as(const struct schema *s)
{
    if (s->type == SCHEMA_INT_OR_STRING)
        return &schema_int32;
    if (s->type == SCHEMA_TIME || s->type == SCHEMA_MICRO_TIME || s->type == SCHEMA_DURATION)
        return &schema_string;
    return s;
}

static jv text_or_same(struct arena *a, jv v, str text)
{
    return jv_is(v, JV_STR) && str_eq(jv_str(v, STR_NONE), text) ? v : jstr(a, text);
}

static enum scalar_result integer(jv v, int64_t min, int64_t max)
{
    if (jv_is(v, JV_INT) && jv_int(v, 0) >= min && jv_int(v, 0) <= max)
        return SCALAR_FINE;
    return jv_is(v, JV_INT) || jv_is(v, JV_NUM) ? SCALAR_WRONG_NUMBER : SCALAR_WRONG_TYPE;
}

/* As Go prints a float64: the fewest digits that read back the same, an exponent when far off. */
static enum scalar_result number(struct arena *a, jv v, jv *out)
{
    char text[400];
    double x = jv_double(v, NAN);
    int digits = 1;

    if (jv_is(v, JV_INT))
        return SCALAR_FINE;
    if (!jv_is(v, JV_NUM))
        return SCALAR_WRONG_TYPE;
    if (!isfinite(x))
        return SCALAR_WRONG_NUMBER;
    do
        snprintf(text, sizeof(text), "%.*e", digits - 1, x);
    while (strtod(text, NULL) != x && digits++ < 17);
    double size = fabs(x);
    if (size == 0 || (size >= 1e-6 && size < 1e21)) {
        long exponent = strtol(strchr(text, 'e') + 1, NULL, 10);
        long decimals = digits - 1 - exponent;
        snprintf(text, sizeof(text), "%.*f", decimals > 0 ? (int)decimals : 0, x);
    } else {
        char *e = strchr(text, 'e');
        if (e[1] == '-' && e[2] == '0') /* e-07 is e-7 in JSON */
            memmove(e + 2, e + 3, strlen(e + 2));
    }
    int64_t whole;
    if (str_eqz(jv_num_text(a, v), text))
        return SCALAR_FINE;
    str s = arena_str(a, str_of(text));
    *out = str_to_int(s, &whole) ? jint(a, whole) : jnum(a, s);
    return SCALAR_FINE;
}

static enum scalar_result quantity(struct arena *a, jv v, jv *out, struct err *e)
{
    struct quantity q;

    if (quantity_from_json(a, v, &q, e) < 0)
        return SCALAR_BAD_TEXT;
    *out = text_or_same(a, v, quantity_text(a, &q));
    return SCALAR_FINE;
}

static const int64_t go_zero_time_us = -62135596800LL * 1000 * 1000; /* year 1 */

static enum scalar_result time_value(struct arena *a, bool micro, jv v, jv *out, struct err *e)
{
    char text[TIME_BYTES];
    int64_t us;
    str s = jv_str(v, STR_NONE);

    if (!jv_is(v, JV_STR))
        return SCALAR_WRONG_TYPE;
    if ((micro ? time_parse_micro(s, &us, e) : time_parse(s, &us, e)) < 0)
        return SCALAR_BAD_TEXT;
    if (us == go_zero_time_us) {
        *out = JV_NULL_V;
        return SCALAR_FINE;
    }
    int64_t ms = us / 1000 - (us % 1000 < 0);
    size_t n = micro ? time_print_micro(text, us) : time_print(text, ms);
    if (!str_eq(s, (str){ text, n }))
        *out = jstr(a, arena_str(a, (str){ text, n }));
    return SCALAR_FINE;
}

static enum scalar_result duration(struct arena *a, jv v, jv *out, struct err *e)
{
    int64_t ns;

    if (!jv_is(v, JV_STR))
        return SCALAR_WRONG_TYPE;
    if (duration_parse(jv_str(v, STR_NONE), &ns, e) < 0)
        return SCALAR_BAD_TEXT;
    *out = text_or_same(a, v, duration_text(a, ns));
    return SCALAR_FINE;
}

/* Go also takes a list of numbers. */
static enum scalar_result byte_list(struct arena *a, jv v, jv *out)
{
    size_t n = jv_len(v);
    char *p = arena_alloc(a, n + 1);

    for (size_t i = 0; i < n; i++) {
        jv one = jv_index(v, i);
        if (!jv_is(one, JV_NULL) && integer(one, 0, 255) != SCALAR_FINE) {
            *out = one;
            return SCALAR_WRONG_BYTE;
        }
        p[i] = (char)jv_int(one, 0);
    }
    *out = jstr(a, base64_encode(a, (str){ p, n }));
    return SCALAR_FINE;
}

static enum scalar_result bytes(struct arena *a, jv v, jv *out, struct err *e)
{
    str s = jv_str(v, STR_NONE);
    str plain;

    if (jv_is(v, JV_ARR))
        return byte_list(a, v, out);
    if (!jv_is(v, JV_STR))
        return SCALAR_WRONG_TYPE;
    if (base64_decode(a, s, &plain, e) < 0)
        return SCALAR_BAD_TEXT;
    if (str_find(s, '\n') >= 0 || str_find(s, '\r') >= 0)
        *out = jstr(a, base64_encode(a, plain));
    return SCALAR_FINE;
}

enum scalar_result scalar_decode(struct arena *a, enum schema_type type, jv v, jv *out,
                                 struct err *e)
{
    *out = v;
    switch (type) {
    case SCHEMA_INT32:
        return integer(v, INT32_MIN, INT32_MAX);
    case SCHEMA_INT64:
        return integer(v, INT64_MIN, INT64_MAX);
    case SCHEMA_INT_OR_STRING:
        return jv_is(v, JV_STR) ? SCALAR_FINE : integer(v, INT32_MIN, INT32_MAX);
    case SCHEMA_NUMBER:
        return number(a, v, out);
    case SCHEMA_QUANTITY:
        return quantity(a, v, out, e);
    case SCHEMA_TIME:
        return time_value(a, false, v, out, e);
    case SCHEMA_MICRO_TIME:
        return time_value(a, true, v, out, e);
    case SCHEMA_DURATION:
        return duration(a, v, out, e);
    case SCHEMA_BYTES:
        return bytes(a, v, out, e);
    case SCHEMA_ANY:
    case SCHEMA_OBJECT:
    case SCHEMA_MAP:
    case SCHEMA_LIST:
    case SCHEMA_STRING:
    case SCHEMA_BOOL:
        break;
    }
    return SCALAR_WRONG_TYPE;
}
