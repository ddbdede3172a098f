/* Go's %v for decoded JSON. */

#include "kube/goprint.h"

#include "base/gofloat.h"
#include "base/mem.h"

#include <stdlib.h>

struct member {
    str key;
    jv value;
};

static int by_key(const void *x, const void *y)
{
    const struct member *a = x;
    const struct member *b = y;

    return str_cmp(a->key, b->key);
}

static void print_map(struct buf *b, jv v)
{
    size_t n = jv_len(v);
    struct member *sorted = mem_array(n + 1, sizeof(*sorted));

    JV_EACH (it, v)
        sorted[it.i - 1] = (struct member){ it.key, it.value };
    qsort(sorted, n, sizeof(*sorted), by_key);
    buf_add(b, S("map["));
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_addc(b, ' ');
        buf_add(b, sorted[i].key);
        buf_addc(b, ':');
        goprint_value(b, sorted[i].value);
    }
    buf_addc(b, ']');
    free(sorted);
}

void goprint_value(struct buf *b, jv v)
{
    char number[GOFLOAT_BYTES];

    switch (jv_type(v)) {
    case JV_NONE:
    case JV_NULL:
        buf_add(b, S("<nil>"));
        break;
    case JV_BOOL:
        buf_add(b, jv_bool(v, false) ? S("true") : S("false"));
        break;
    case JV_INT:
        buf_printf(b, "%lld", (long long)jv_int(v, 0));
        break;
    case JV_NUM:
        buf_add(b, (str){ number, gofloat_v(number, jv_double(v, 0)) });
        break;
    case JV_STR:
        buf_add(b, jv_str(v, STR_NONE));
        break;
    case JV_ARR:
        buf_addc(b, '[');
        JV_EACH (it, v) {
            if (it.i > 1)
                buf_addc(b, ' ');
            goprint_value(b, it.value);
        }
        buf_addc(b, ']');
        break;
    case JV_OBJ:
        print_map(b, v);
        break;
    }
}

str goprint_text(struct arena *a, jv v)
{
    AUTO(buf) struct buf b = { 0 };

    goprint_value(&b, v);
    return arena_str(a, buf_str(&b));
}

const char *goprint_type(jv v)
{
    static const char *const names[] = {
        [JV_NONE] = "%!s(<nil>)",    [JV_NULL] = "%!s(<nil>)",
        [JV_BOOL] = "bool",          [JV_INT] = "int64",
        [JV_NUM] = "float64",        [JV_STR] = "string",
        [JV_ARR] = "[]interface {}", [JV_OBJ] = "map[string]interface {}",
    };

    return names[jv_type(v)];
}

const char *goprint_json_kind(jv v)
{
    static const char *const names[] = {
        [JV_NONE] = "null",  [JV_NULL] = "null",  [JV_BOOL] = "bool", [JV_INT] = "number",
        [JV_NUM] = "number", [JV_STR] = "string", [JV_ARR] = "array", [JV_OBJ] = "object",
    };

    return names[jv_type(v)];
}
