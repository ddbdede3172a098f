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

static void clipping_keeps_characters_whole(void)
{
    static const str text = S_INIT("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"); /* 1, 2, 3, 4, 1 */
    static const size_t fits[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11 };
    char small[6];
    bool right = true;
    struct err e;

    for (size_t max = 0; max < COUNT(fits); max++)
        right = right && str_clip(text, max).n == fits[max];
    ok(right, "at most that many bytes, whole characters");
    is_int((int64_t)str_clip(S("a\xe2\x82"), 10).n, 1, "one that was cut before goes, too");
    is_int((int64_t)str_clip(S("a\xff\x80\x80\x80\x80"), 6).n, 6, "what never was text stays");
    str_clip_z(small, sizeof(small), text);
    is_str(str_of(small), S("a\xc3\xa9"), "into a C string");
    for (int pad = 0; pad < 4; pad++) {
        char many[400];
        memset(many, 'x', (size_t)pad);
        for (size_t i = (size_t)pad; i + 4 < sizeof(many); i += 4)
            memcpy(many + i, "\xf0\x9f\x98\x80", 5);
        err_set(&e, ERR_INTERNAL, "%s", many);
        right = right && str_is_utf8(str_of(e.msg)) && strlen(e.msg) > 226;
        err_wrap(&e, "%s", many);
        right = right && str_is_utf8(str_of(e.msg));
        errno = ENOENT;
        err_sys(&e, "%s", many);
        right = right && str_is_utf8(str_of(e.msg));
    }
    ok(right, "messages of errors are cut between characters");
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

/* Texts that are alike to str_hash: the second word undoes what the first one did. */
static void chosen_keys_do_not_collide(void)
{
    enum { MANY = 4000 };
    static uint64_t keys[MANY][2];
    static uint32_t hashes[MANY];
    struct map m = { 0 };
    struct map distinct = { 0 };
    size_t n = 0;

    for (uint64_t i = 0; i < MANY; i++) {
        uint64_t h = 0x9e3779b97f4a7c15u ^ (16 * 0xff51afd7ed558ccdu);
        h = (h ^ i) * 0xff51afd7ed558ccdu;
        keys[i][0] = i;
        keys[i][1] = h ^ h >> 32;
        map_put(&m, (str){ (const char *)keys[i], 16 }, keys[i]);
    }
    ok(str_hash((str){ (const char *)keys[1], 16 }) == str_hash((str){ (const char *)keys[2], 16 }),
       "such keys can be made");
    MAP_EACH (s, &m) {
        hashes[n] = s->hash;
        map_put(&distinct, (str){ (const char *)&hashes[n], 4 }, s);
        n++;
    }
    ok(n == MANY && distinct.n > MANY - 10, "and do not collide in a large map");
    ok(map_get(&m, (str){ (const char *)keys[7], 16 }) == keys[7], "where they are found");
    map_done(&m);
    map_done(&distinct);
}

int main(void)
{
    cutting_gives_every_part();
    integers_are_exact();
    utf8_is_checked();
    clipping_keeps_characters_whole();
    map_survives_growth_and_removal();
    errors_read_as_sentences();
    chosen_keys_do_not_collide();
    return tap_done();
}
