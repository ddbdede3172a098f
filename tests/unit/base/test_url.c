/* URL pieces. */

#include "base/url.h"
#include "tap.h"

static void percent_escapes_are_decoded(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };
    str out = STR_NONE;

    is_int(url_decode(a, S("a%2Fb%20c+d"), &out, NULL), 0, "a path piece decodes");
    is_str(out, S("a/b c+d"), "a plus stays a plus");
    is_int(url_decode(a, S("%00"), &out, NULL), 0, "a NUL byte decodes");
    ok(out.n == 1 && out.p[0] == 0, "to one byte");
    is_int(url_decode(a, S("x%zzy"), &out, &e), -1, "a bad escape is refused");
    is_str(str_of(e.msg), S("invalid URL escape \"%zz\""), "and shown");
    is_int(url_decode(a, S("x%2"), &out, &e), -1, "a cut escape too");
    is_str(str_of(e.msg), S("invalid URL escape \"%2\""), "and shown");
}

static void queries_give_their_pairs_in_order(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };

    for (struct url_query q = url_query(S("a=1&&b=x%3Dy+z&c&a=2&bad=%g&s=1;2&=v&d=a=b"));
         url_query_next(&q, a);)
        buf_printf(&b, "[%" PRI_STR ":%" PRI_STR "]", STR_ARG(q.key), STR_ARG(q.value));
    is_str(buf_str(&b), S("[a:1][b:x=y z][c:][a:2][:v][d:a=b]"),
           "decoded; malformed pairs left out");
}

static void flags_read_as_kubernetes_reads_them(void)
{
    bool b = false;

    ok(url_flag(S("true")) && url_flag(S("1")) && url_flag(S("")) && url_flag(S("yes")), "true");
    ok(!url_flag(S("0")) && !url_flag(S("False")) && !url_flag(STR_NONE), "false");
    ok(str_to_bool(S("T"), &b) && b && str_to_bool(S("False"), &b) && !b, "strconv.ParseBool");
    ok(!str_to_bool(S("yes"), &b) && !str_to_bool(S(""), &b) && !str_to_bool(S("tRUE"), &b),
       "and nothing else");
}

static void bytes_that_are_no_text_are_replaced(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str out = STR_NONE;

    is_int(url_decode(a, S("a%ff%c3%a4%e2%82b"), &out, NULL), 0, "any bytes decode");
    is_str(out,
           S("a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd"
             "b"),
           "those that are no UTF-8 as U+FFFD");
    struct url_query q = url_query(S("fieldManager=\xff"));
    ok(url_query_next(&q, a), "a query with such a byte is read");
    is_str(q.value, S("\xef\xbf\xbd"), "unescaped ones too");
    size_t at = 0;
    ok(url_is_utf8(a, S("a%c3%a4/%zz%"), &at), "text, escaped or not");
    ok(!url_is_utf8(a, S("a%c3%a4/%e2%82b"), &at) && at == 8, "where it is not");
    ok(!url_is_utf8(a, S("ab\xff"), &at) && at == 2, "without escapes, too");
}

static void encoding_leaves_nothing_that_means_something(void)
{
    AUTO(buf) struct buf b = { 0 };

    url_encode(&b, S("aZ9-._~ /?#&=+%\xc3\xa9"));
    is_str(buf_str(&b), S("aZ9-._~%20%2F%3F%23%26%3D%2B%25%C3%A9"),
           "all but plain ones is escaped");
}

int main(void)
{
    encoding_leaves_nothing_that_means_something();
    percent_escapes_are_decoded();
    queries_give_their_pairs_in_order();
    bytes_that_are_no_text_are_replaced();
    flags_read_as_kubernetes_reads_them();
    return tap_done();
}
