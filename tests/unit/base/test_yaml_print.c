/* YAML printed as kubectl get -o yaml prints it; the table was checked against sigs.k8s.io/yaml. */

#include "base/gofloat.h"
#include "base/yaml.h"
#include "tap.h"

static void values_print_as_in_kubectl(void)
{
    static const struct {
        const char *json;
        const char *yaml;
    } rows[] = {
        { "{}", "{}\n" },
        { "[]", "[]\n" },
        { "'x'", "x\n" },
        { "{'b': 1, 'a': [1, {'x': null}], 'c': {}}", "a:\n- 1\n- x: null\nb: 1\nc: {}\n" },
        { "{'a10': 1, 'a2': 2, 'a1': 3, 'A': 4, '-': 5}", "'-': 5\nA: 4\na1: 3\na2: 2\na10: 1\n" },
        { "['yes', 'null', '1', '1.5', '0x1F', '12:30', '~', '', 'true']",
          "- \"yes\"\n- \"null\"\n- \"1\"\n- \"1.5\"\n- \"0x1F\"\n- \"12:30\"\n- \"~\"\n- \"\"\n"
          "- \"true\"\n" },
        { "['2024-01-01T00:00:00Z', '2024-01-01', '2024-13-01']",
          "- \"2024-01-01T00:00:00Z\"\n- \"2024-01-01\"\n- 2024-13-01\n" },
        { "['a: b', 'a #b', '- a', ' a', '*a', 'a:b', '/x', 'it]s', '#x']",
          "- 'a: b'\n- 'a #b'\n- '- a'\n- ' a'\n- '*a'\n- a:b\n- /x\n- it]s\n- '#x'\n" },
        { "['x\\ny', 'x\\ny\\n', 'x\\n\\n', ' x\\ny', 'x \\ny']",
          "- |-\n  x\n  y\n- |\n  x\n  y\n- |+\n  x\n\n- |2-\n   x\n  y\n- \"x \\ny\"\n" },
        { "['x\\n\\n']", "- |+\n  x\n\n" },
        { "['\\u0001', '\\u2028', '\xc3\xa9']", "- \"\\x01\"\n- \"\\L\"\n- \xc3\xa9\n" },
        { "[1.5, 1e10, 1e-7, 18446744073709551615, 1.0, true]",
          "- 1.5\n- 1e+10\n- 1e-07\n- 18446744073709551615\n- 1\n- true\n" },
        { "{'m': 'word word word word word word word word word word word word word word word "
          "word word'}",
          "m: word word word word word word word word word word word word word word word word\n"
          "  word\n" },
        { "{'1': 'x', 'yes': 'y'}", "\"1\": x\n\"yes\": \"y\"\n" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(buf) struct buf b = { 0 };
        AUTO(jdoc) struct jdoc *d = J(rows[i].json);
        struct yaml_docs again = { 0 };
        yaml_print(&b, jdoc_root(d));
        is_str(buf_str(&b), str_of(rows[i].yaml), rows[i].json);
        ok(yaml_parse(a, S("f"), buf_str(&b), NULL, &again, NULL) == 0 && again.n == 1 &&
               jv_equal(again.at[0].root, jdoc_root(d)),
           "and reads back the same");
    }
}

static void doubles_print_as_in_go(void)
{
    static const struct {
        double d;
        const char *json, *g64, *g32;
    } rows[] = {
        { 0, "0", "0", "0" },
        { 1e6, "1000000", "1e+06", "1e+06" },
        { 123456, "123456", "123456", "123456" },
        { 1234567.5, "1234567.5", "1.2345675e+06", "1.2345675e+06" },
        { 1e20, "100000000000000000000", "1e+20", "1e+20" },
        { 1e21, "1e+21", "1e+21", "1e+21" },
        { 0.0001, "0.0001", "0.0001", "0.0001" },
        { 1e-5, "0.00001", "1e-05", "1e-05" },
        { 1e-7, "1e-7", "1e-07", "1e-07" },
        { -0.1, "-0.1", "-0.1", "-0.1" },
        { 12345678901234567890.0, "12345678901234567000", "1.2345678901234567e+19",
          "1.2345679e+19" },
        { 5e-324, "5e-324", "5e-324", "0" },
        { 1e300, "1e+300", "1e+300", "+Inf" },
    };
    char out[GOFLOAT_BYTES];

    for (size_t i = 0; i < COUNT(rows); i++) {
        is_str((str){ out, gofloat_json(out, rows[i].d) }, str_of(rows[i].json), rows[i].json);
        is_str((str){ out, gofloat_g(out, rows[i].d, 64) }, str_of(rows[i].g64), "as %g");
        is_str((str){ out, gofloat_g(out, rows[i].d, 32) }, str_of(rows[i].g32), "in 32 bits");
    }
}

static void bytes_that_are_no_text_are_replaced(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    jv v = jobj(a, { "k\xff", jstr(a, S("a\xe2\x82")) });

    yaml_print(&b, v);
    is_str(buf_str(&b), S("k\xef\xbf\xbd: a\xef\xbf\xbd\xef\xbf\xbd\n"), "in YAML");
    is_str(json_text(a, v), S("{\"k\xef\xbf\xbd\":\"a\xef\xbf\xbd\xef\xbf\xbd\"}"), "in JSON");
}

static void compact_is_short_and_reads_back(void)
{
    static const struct {
        const char *json, *yaml; /* NULL: any */
    } rows[] = {
        { "{}", "{}\n" },
        { "[]", "[]\n" },
        { "'x'", "\"x\"\n" },
        { "{'a': [1, 'b'], 'no': {}, '1': null, 'a b': 'x: #y'}",
          "a: [1,\"b\"]\n\"no\": {}\n\"1\": null\n\"a b\": \"x: #y\"\n" },
        { "[{'a': 1}, [], ['\\n\\t\\u2028\\u0085\\ufeff\\u007f\\u009f', {'\\u2028': 1}]]", NULL },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(buf) struct buf b = { 0 };
        AUTO(jdoc) struct jdoc *d = J(rows[i].json);
        struct yaml_docs again = { 0 };

        yaml_print_compact(&b, jdoc_root(d));
        if (rows[i].yaml)
            is_str(buf_str(&b), str_of(rows[i].yaml), rows[i].json);
        ok(yaml_parse(a, S("f"), buf_str(&b), NULL, &again, NULL) == 0 && again.n == 1 &&
               jv_equal(again.at[0].root, jdoc_root(d)),
           "%s reads back the same", rows[i].json);
    }
}

static void compact_long_values_go_on_lines_of_their_own(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    AUTO(buf) struct buf text = { 0 };
    struct yaml_docs again = { 0 };

    for (int i = 0; i < 240; i++)
        buf_addc(&text, 'x');
    jv v = jobj(a, { "m", jarr(a, jobj(a, { "k", jstr(a, buf_str(&text)) }), jint(a, 1)) });
    yaml_print_compact(&b, v);
    ok(str_starts(buf_str(&b), S("m:\n -\n  k: \"xxx")), "in blocks");
    ok(str_ends(buf_str(&b), S("xxx\"\n - 1\n")), "to the end");
    ok(yaml_parse(a, S("f"), buf_str(&b), NULL, &again, NULL) == 0 && again.n == 1 &&
           jv_equal(again.at[0].root, v),
       "and reads back the same");
}

int main(void)
{
    compact_is_short_and_reads_back();
    compact_long_values_go_on_lines_of_their_own();
    bytes_that_are_no_text_are_replaced();
    values_print_as_in_kubectl();
    doubles_print_as_in_go();
    return tap_done();
}
