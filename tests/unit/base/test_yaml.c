/* YAML read as kubectl reads it. The scalar tables were checked against sigs.k8s.io/yaml. */

#include "base/limits.h"
#include "base/yaml.h"
#include "tap.h"

static struct err last;

static struct yaml_docs parse(struct arena *a, const char *text)
{
    struct yaml_opts opts = { .places = true };
    struct yaml_docs docs = { 0 };

    last = (struct err){ 0 };
    if (yaml_parse(a, S("f.yaml"), str_of(text), &opts, &docs, &last) < 0)
        docs.n = 99;
    return docs;
}

static void scalars_are_yaml_1_1(void)
{
    static const struct {
        const char *yaml;
        const char *json;
    } rows[] = {
        { "null", "null" },
        { "~", "null" },
        { "Null", "null" },
        { "NULL", "null" },
        { "", "null" },
        { "nULL", "'nULL'" },
        { "y", "true" },
        { "Yes", "true" },
        { "on", "true" },
        { "ON", "true" },
        { "True", "true" },
        { "tRUE", "'tRUE'" },
        { "n", "false" },
        { "No", "false" },
        { "off", "false" },
        { "FALSE", "false" },
        { "1", "1" },
        { "+5", "5" },
        { "-0", "0" },
        { "0x1F", "31" },
        { "-0x10", "-16" },
        { "0o17", "15" },
        { "0b101", "5" },
        { "-0b11", "-3" },
        { "0777", "511" },
        { "08", "8" },
        { "0o8", "'0o8'" },
        { "1_000", "1000" },
        { "_1", "'_1'" },
        { "12:30", "'12:30'" },
        { "1.5", "1.5" },
        { ".5", "0.5" },
        { "+.5e3", "500" },
        { "1.", "1" },
        { "1.10", "1.1" },
        { "1e3", "1000" },
        { "1e21", "1e+21" },
        { "1e-7", "1e-7" },
        { "1e999", "'1e999'" },
        { ".", "'.'" },
        { "-0.0", "-0" },
        { "2001-01-01", "'2001-01-01'" },
        { "'1'", "'1'" },
        { "\"yes\"", "'yes'" },
        { "!!str 1", "'1'" },
        { "!!int \"5\"", "5" },
        { "!!float 1", "1" },
        { "!!bool yes", "true" },
        { "!!null ''", "null" },
        { "!!binary aGk=", "'hi'" },
        { "!foo bar", "'bar'" },
        { "! '5'", "'5'" },
        { "<<", "'<<'" },
        { "a#b", "'a#b'" },
        { "9223372036854775807", "9223372036854775807" },
        { "9223372036854775808", "9223372036854775808" },
        { "18446744073709551615", "18446744073709551615" },
        { "18446744073709551616", "18446744073709552000" },
        { "2001-12-14t21:59:43.10-05:00", "'2001-12-14t21:59:43.10-05:00'" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct yaml_docs d = parse(a, arena_printf(a, "[%s ]", rows[i].yaml).p);
        if (!*rows[i].yaml)
            d = parse(a, "- ");
        is_json(jv_index(d.n == 1 ? d.at[0].root : JV_ABSENT, 0), rows[i].json, rows[i].yaml);
    }
}

static void keys_become_text(void)
{
    static const struct {
        const char *yaml;
        const char *json;
    } rows[] = {
        { "1: a", "{'1': 'a'}" },
        { "0x10: a", "{'16': 'a'}" },
        { "yes: a", "{'true': 'a'}" },
        { "on: a", "{'true': 'a'}" },
        { "off: a", "{'false': 'a'}" },
        { "1.5: a", "{'1.5': 'a'}" },
        { "1e6: a", "{'1e+06': 'a'}" },
        { "'yes': a", "{'yes': 'a'}" },
        { "2001-01-01: a", "{'2001-01-01': 'a'}" },
        { "-1e300: a", "{'-.inf': 'a'}" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct yaml_docs d = parse(a, rows[i].yaml);
        is_json(d.n == 1 ? d.at[0].root : JV_ABSENT, rows[i].json, rows[i].yaml);
    }
}

static void documents_aliases_and_merges(void)
{
    static const struct {
        const char *yaml;
        const char *json; /* all documents as a list */
    } rows[] = {
        { "", "[]" },
        { "# nothing\n---\n---\nnull\n--- ~\n...\n", "[]" },
        { "a: 1\n---\nb: 2\n", "[{'a': 1}, {'b': 2}]" },
        { "%YAML 1.1\n---\na: 1\n...\n", "[{'a': 1}]" },
        { "{\"a\": [1, 2.50, 1e3]}", "[{'a': [1, 2.50, 1e3]}]" }, /* JSON stays exact */
        { " {\n\t\"a\":\t\"\\ud83d\\ude00\"\n}\n", "[{'a': '\xf0\x9f\x98\x80'}]" },
        { "{a: 1}\n---\n{b: 2}", "[{'a': 1}, {'b': 2}]" },
        { "\xef\xbb\xbf"
          "a: 1",
          "[{'a': 1}]" },
        { "a: &x [1]\nb: *x\nc: &x 2\nd: *x", "[{'a': [1], 'b': [1], 'c': 2, 'd': 2}]" },
        { "&k a: 1\nb: *k", "[{'a': 1, 'b': 'a'}]" },
        { "x: &x {a: 1, b: 2}\nw: {<<: *x, b: 3}",
          "[{'x': {'a': 1, 'b': 2}, 'w': {'a': 1, 'b': 3}}]" },
        { "x: &x {a: 1}\nw: {a: 2, <<: *x}", "[{'x': {'a': 1}, 'w': {'a': 1}}]" }, /* as kubectl */
        { "x: &x {a: 1}\nz: &z {a: 2, c: 3}\nw: {<<: [*x, *z]}",
          "[{'x': {'a': 1}, 'z': {'a': 2, 'c': 3}, 'w': {'a': 1, 'c': 3}}]" },
        { "w: {'<<': 1}", "[{'w': {'<<': 1}}]" },
        { "a: |\n  x\n  y\nb: >-\n  u\n  v\n", "[{'a': 'x\\ny\\n', 'b': 'u v'}]" },
        { "a: \"\\0\"", "[{'a': '\\u0000'}]" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct yaml_docs d = parse(a, rows[i].yaml);
        struct jbuild b = jb_arr(a);
        if (!ok(d.n != 99, "%s", rows[i].json)) {
            printf("# %s\n", last.msg);
            continue;
        }
        for (size_t j = 0; j < d.n; j++)
            jb_push(&b, d.at[j].root);
        is_json(jb_done(&b), rows[i].json, "all documents");
    }
}

static void errors_name_file_line_and_column(void)
{
    static const struct {
        const char *yaml;
        const char *error;
    } rows[] = {
        { "a: 1\nb:\n  c: 2\n  c: 3\n", "f.yaml:4:3: key \"c\" is already set at line 3 column 3" },
        { "a: 1\nb: 2\n1: x\n0x1: y\n", "f.yaml:4:1: key \"1\" is already set at line 3 column 1" },
        { "{\"a\": 1, \"a\": 2}", "f.yaml:1:10: key \"a\" is already set at line 1 column 2" },
        { "a: b: c", "f.yaml:1:5: mapping values are not allowed in this context" },
        { "a: [1,\n  2\nb: 3", "f.yaml:3:2: did not find expected ',' or ']' (while parsing a flow "
                               "sequence from line 1)" },
        { "a: *x", "f.yaml:1:4: unknown anchor 'x' referenced" },
        { "a: &x [*x]", "f.yaml:1:8: anchor 'x' value contains itself" },
        { "a: .inf", "f.yaml:1:4: .inf cannot be written in JSON" },
        { "a: .nan", "f.yaml:1:4: .nan cannot be written in JSON" },
        { "a: !!int x", "f.yaml:1:4: cannot decode !!str `x` as a !!int" },
        { "a: !!binary '*'", "f.yaml:1:4: !!binary value contains invalid base64 data" },
        { "a: !!binary /w==",
          "f.yaml:1:4: !!binary value is not text and cannot be written in JSON" },
        { "~: 1", "f.yaml:1:1: unsupported key: keys must be text, numbers or booleans" },
        { "? [a]\n: 1", "f.yaml:1:3: unsupported key: keys must be text, numbers or booleans" },
        { "<<: 1", "f.yaml:1:5: map merge requires map or sequence of maps as the value" },
        { "a: b\nc: \xff", "f.yaml:2:4: invalid leading UTF-8 octet" },
        { "a:\n\t- b", "f.yaml:2:1: found character that cannot start any token" },
        { "{\n  \"a\": 1,\n  \"b\" 2\n}", "f.yaml:3:7: expected ':' after the key" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        is_int((int64_t)parse(a, rows[i].yaml).n, 99, rows[i].error);
        is_str(str_of(last.msg), str_of(rows[i].error), "and so it says");
    }
}

static void without_a_file_errors_are_go_s(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct yaml_docs d = { 0 };
    struct err e = { 0 };

    yaml_parse(a, S(""), S("a: 1\nb: c: d\n"), NULL, &d, &e);
    is_str(str_of(e.msg), S("yaml: line 2: mapping values are not allowed in this context"),
           "with the line");
    yaml_parse(a, S(""), S("a: *x"), NULL, &d, &e);
    is_str(str_of(e.msg), S("yaml: unknown anchor 'x' referenced"), "or without");
}

static void hostile_text_is_refused_cheaply(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf laughs = { 0 };
    AUTO(buf) struct buf deep = { 0 };
    AUTO(buf) struct buf tower = { 0 };

    buf_add(&laughs, S("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"));
    for (int i = 1; i < 30; i++)
        buf_printf(&laughs, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i - 1,
                   i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    buf_addc(&laughs, 0);
    is_int((int64_t)parse(a, laughs.p).n, 99, "a billion laughs");
    ok(str_ends(str_of(last.msg), S("document contains excessive aliasing")), "and why: %s",
       last.msg);
    ok(arena_size(a) < 1000000, "at little cost");
    for (int i = 0; i < LIMIT_YAML_DEPTH + 1; i++)
        buf_addc(&deep, '[');
    buf_addc(&deep, 0);
    is_int((int64_t)parse(a, deep.p).n, 99, "a deep list");
    ok(str_ends(str_of(last.msg), S(":513: nested too deeply")), "and why: %s", last.msg);
    buf_add(&tower, S("a: &a "));
    for (int i = 0; i < 300; i++)
        buf_addc(&tower, '[');
    for (int i = 0; i < 300; i++)
        buf_addc(&tower, ']');
    buf_add(&tower, S("\nb: "));
    for (int i = 0; i < 300; i++)
        buf_addc(&tower, '[');
    buf_add(&tower, S("*a"));
    buf_addc(&tower, 0);
    is_int((int64_t)parse(a, tower.p).n, 99, "depth by aliases");
    ok(str_ends(str_of(last.msg), S("nested too deeply")), "and why: %s", last.msg);
}

static void note(void *ctx, str key, struct yaml_place first, struct yaml_place again,
                 uint32_t line)
{
    buf_printf(ctx, "%" PRI_STR " %u:%u %u:%u %u;", STR_ARG(key), first.line, first.column,
               again.line, again.column, line);
}

static void duplicates_may_be_reported_instead(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf seen = { 0 };
    struct yaml_docs d = { 0 };
    struct yaml_opts opts = { .on_duplicate = note, .ctx = &seen };

    is_int(yaml_parse(a, S("f"), S("a: 1\nb: 2\na:\n  3\n"), &opts, &d, NULL), 0, "read");
    is_json(d.at[0].root, "{'a': 3, 'b': 2}", "the last wins");
    is_str(buf_str(&seen), S("a 1:1 3:1 4;"), "and it was told");
}

static void values_know_where_they_stood(void)
{
    AUTO(arena) struct arena *a = arena_new();
    static const char yaml[] = "spec:\n  containers:\n  - name: a\n    ports:\n    - 80\n"
                               "metadata:\n  labels: {a.b/c: d}\n";
    static const char json[] = "{\"spec\": {\n \"x\": [1,\n  2]}}";
    struct yaml_docs d = parse(a, yaml);
    struct yaml_place at = { 0 };
    static const struct {
        const char *path;
        unsigned line, column;
    } rows[] = {
        { "spec", 1, 1 },
        { "spec.containers[0]", 3, 5 },
        { "spec.containers[0].name", 3, 5 },
        { "spec.containers[0].ports[0]", 5, 7 },
        { "spec.containers[0].image", 3, 5 }, /* missing: the innermost that is there */
        { "spec.containers[7].image", 2, 3 },
        { "metadata.labels[a.b/c]", 7, 12 },
        { "nothing", 1, 1 },
        { "", 1, 1 },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        ok(yaml_where_path(&d.at[0], str_of(rows[i].path), &at) && at.line == rows[i].line &&
               at.column == rows[i].column,
           "%s at %u:%u", rows[i].path, at.line, at.column);
    ok(yaml_where(&d.at[0], jv_index(jv_at(d.at[0].root, "spec", "containers"), 0), &at) &&
           at.line == 3,
       "by value too");
    ok(!yaml_where(&d.at[0], JV_TRUE, &at), "not what is not in it");
    d = parse(a, json);
    ok(yaml_where_path(&d.at[0], S("spec.x[1]"), &at) && at.line == 3 && at.column == 3,
       "in JSON as well");
}

static void long_texts_count_as_many_nodes(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    struct yaml_docs d = { 0 };
    struct err e = { 0 };

    buf_add(&b, S("- &a "));
    for (int i = 0; i < 1000 * 1000; i++)
        buf_addc(&b, 'x');
    buf_addc(&b, '\n');
    for (int i = 0; i < 1000; i++)
        buf_add(&b, S("- *a\n"));
    is_int(yaml_parse(a, STR_NONE, buf_str(&b), NULL, &d, &e), -1,
           "a thousand aliases of a million bytes are refused");
    is_str(str_of(e.msg), S("yaml: document contains excessive aliasing"),
           "as aliases of lists are");
}

static void directives_are_few(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    struct yaml_docs d = { 0 };
    struct err e = { 0 };

    for (int i = 0; i <= LIMIT_YAML_TAGS; i++)
        buf_printf(&b, "%%TAG !e%d! tag:x\n", i);
    buf_add(&b, S("---\na: b\n"));
    is_int(yaml_parse(a, STR_NONE, buf_str(&b), NULL, &d, &e), -1, "many directives are refused");
    is_str(str_of(e.msg), S("YAML text with more than 100 %TAG directives"), "and told");
    str rest = str_sub(buf_str(&b), (size_t)str_find(buf_str(&b), '\n') + 1, b.n);
    is_int(yaml_parse(a, STR_NONE, rest, NULL, &d, &e), 0, "one fewer is fine");
}

static void count_one(void *ctx, str key, struct yaml_place first, struct yaml_place again,
                      uint32_t value_line)
{
    int *n = ctx;

    (void)key, (void)first, (void)again, (void)value_line;
    ++*n;
}

static void only_so_many_duplicates_are_told(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    struct yaml_docs d = { 0 };
    int n = 0;
    struct yaml_opts opts = { .on_duplicate = count_one, .ctx = &n };

    for (int i = 0; i < 1000; i++)
        buf_add(&b, S("a: b\n"));
    is_int(yaml_parse(a, STR_NONE, buf_str(&b), &opts, &d, NULL), 0, "a thousand duplicates parse");
    is_int(n, LIMIT_STRICT, "some are told");
}

int main(void)
{
    scalars_are_yaml_1_1();
    keys_become_text();
    documents_aliases_and_merges();
    errors_name_file_line_and_column();
    without_a_file_errors_are_go_s();
    hostile_text_is_refused_cheaply();
    duplicates_may_be_reported_instead();
    only_so_many_duplicates_are_told();
    long_texts_count_as_many_nodes();
    directives_are_few();
    values_know_where_they_stood();
    return tap_done();
}
