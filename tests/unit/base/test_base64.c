/* Base64, against what Go answers. */

#include "base/base64.h"
#include "tap.h"

static void good_text_decodes_and_encodes_back(void)
{
    static const struct {
        const char *text;
        str bytes;
        const char *again;
    } rows[] = {
        { "", S_INIT(""), "" },
        { "YQ==", S_INIT("a"), "YQ==" },
        { "YWI=", S_INIT("ab"), "YWI=" },
        { "YWJj", S_INIT("abc"), "YWJj" },
        { "YW\nJj\r\nYQ=\n=\n", S_INIT("abca"), "YWJjYQ==" },
        { "YR==", S_INIT("a"), "YQ==" }, /* stray bits are dropped, as in Go */
        { "AP/+", S_INIT("\x00\xff\xfe"), "AP/+" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        str out = STR_NONE;
        is_int(base64_decode(a, str_of(rows[i].text), &out, NULL), 0, rows[i].again);
        is_str(out, rows[i].bytes, "decoded");
        is_str(base64_encode(a, out), str_of(rows[i].again), "encoded again");
    }
}

static void bad_text_is_refused_with_its_place(void)
{
    static const struct {
        const char *text;
        int at;
    } rows[] = {
        { "a", 0 },     { "YQ", 0 },    { "YQ=", 3 },   { "YQ=x", 2 },     { "YQ==x", 4 },
        { "YWJj=", 4 }, { "Y!Jj", 1 },  { "YW-j", 2 },  { "=", 0 },        { "Y===", 1 },
        { "hello", 4 }, { "YWJjY", 4 }, { " YQ==", 0 }, { "YQ==YQ==", 4 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct err e = { 0 };
        str out = STR_NONE;
        is_int(base64_decode(a, str_of(rows[i].text), &out, &e), -1, rows[i].text);
        is_str(str_of(e.msg), arena_printf(a, "illegal base64 data at input byte %d", rows[i].at),
               "and where");
    }
}

int main(void)
{
    good_text_decodes_and_encodes_back();
    bad_text_is_refused_with_its_place();
    return tap_done();
}
