/* Borrowed text, the map and errors. */

#include "base/err.h"
#include "base/map.h"
#include "tap.h"

#include <errno.h>

static void cutting_gives_every_part(void)
{
    str rest = S("a,,b,");
    int n = 0;

    while (rest.p) {
        str part = str_cut(&rest, ',');
        n++;
        if (n == 3)
            is_str(part, S("b"), "the third part");
    }
    is_int(n, 4, "empty parts count");
}

static void integers_are_exact(void)
{
    int64_t v = 7;

    ok(str_to_int(S("-9223372036854775808"), &v) && v == INT64_MIN, "the smallest");
    ok(str_to_int(S("9223372036854775807"), &v) && v == INT64_MAX, "the largest");
    ok(!str_to_int(S("9223372036854775808"), &v), "one more is refused");
    ok(!str_to_int(S("1x"), &v) && !str_to_int(S(""), &v) && !str_to_int(S("-"), &v), "no number");
}

static void utf8_is_checked(void)
{
    ok(str_is_utf8(S("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 padding")), "valid text");
    ok(!str_is_utf8(S("\xc0\xaf")) && !str_is_utf8(S("\xed\xa0\x80")) &&
           !str_is_utf8(S("\xf4\x90\x80\x80")) && !str_is_utf8(S("ab\xe2\x82")),
       "overlong, surrogate, too large, cut off");
}

static void map_survives_growth_and_removal(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct map m = { 0 };
    int values[3000];
    bool all = true;

    for (int i = 0; i < 3000; i++)
        map_put(&m, arena_printf(a, "key-%d", i), &values[i]);
    for (int i = 0; i < 3000; i += 2)
        map_remove(&m, arena_printf(a, "key-%d", i));
    for (int i = 0; i < 3000; i++)
        all = all && map_get(&m, arena_printf(a, "key-%d", i)) == (i % 2 ? &values[i] : NULL);
    ok(all && m.n == 1500, "1,500 of 3,000 are left, each under its key");
    for (int i = 0; i < 100000; i++) {
        map_put(&m, S("churn"), &values[0]);
        map_remove(&m, S("churn"));
    }
    ok(m.cap <= 8192, "churn does not grow it");
    map_done(&m);
}

static void errors_read_as_sentences(void)
{
    struct err e = { 0 };

    errno = ENOENT;
    err_sys(&e, "open %s", "x.db");
    err_wrap(&e, "store");
    is_str(str_of(e.msg), S("store: open x.db: No such file or directory"),
           "wrapped, with errno's text");
    is_int(err_http_status(ERR_CONFLICT), 409, "a code knows its status");
}

int main(void)
{
    cutting_gives_every_part();
    integers_are_exact();
    utf8_is_checked();
    map_survives_growth_and_removal();
    errors_read_as_sentences();
    return tap_done();
}
