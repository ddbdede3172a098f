/* Amounts are compared by what they mean: "1" is "1000m". */

#include "job/same.h"

#include "base/quantity.h"

static bool amount_of(jv v, struct quantity *q)
{
    AUTO(arena) struct arena *a = arena_new();

    return (jv_is(v, JV_STR) || jv_is(v, JV_INT) || jv_is(v, JV_NUM)) &&
           quantity_parse(jv_is(v, JV_STR) ? jv_str(v, S("")) : json_text(a, v), q, NULL) == 0;
}

static bool same_amount(jv x, jv y)
{
    struct quantity p, q;

    return amount_of(x, &p) && amount_of(y, &q) && quantity_cmp(&p, &q) == 0;
}

bool json_has(jv there, jv wanted)
{
    struct jv_iter it = jv_iter(wanted);

    switch (jv_type(wanted)) {
    case JV_OBJ:
        while (jv_next(&it))
            if (!jv_is_null(it.value) && !json_has(jv_get(there, it.key), it.value))
                return false;
        return jv_is(there, JV_OBJ);
    case JV_ARR:
        if (jv_len(there) != jv_len(wanted))
            return false;
        while (jv_next(&it))
            if (!json_has(jv_index(there, it.i - 1), it.value))
                return false;
        return true;
    case JV_STR:
    case JV_INT:
    case JV_NUM:
        return jv_equal(there, wanted) || same_amount(there, wanted);
    case JV_NONE:
    case JV_NULL:
    case JV_BOOL:
        break;
    }
    return jv_equal(there, wanted);
}
