/* JSON in, out, and changed. */

#include "base/limits.h"
#include "tap.h"

static void round_trip(const char *text, const char *want)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };
    jv v = json_parse(a, str_of(text), NULL, &e);

    is_str(json_text(a, v), str_of(want), text);
}

static void refused(const char *text, const char *why)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };

    ok(!jv_exists(json_parse(a, str_of(text), NULL, &e)), "refused: %s", why);
    is_str(str_of(e.msg), str_of(why), "and says why");
}

static void numbers_stay_exact(void)
{
    round_trip("[9007199254740993,18446744073709551615,1.10,1e3,-0,-9223372036854775808]",
               "[9007199254740993,18446744073709551615,1.10,1e3,-0,-9223372036854775808]");
}

static void strings_are_unescaped_and_escaped(void)
{
    round_trip("\"a\\u0041\\n\\ud83d\\ude00\\ud800x\"", "\"aA\\n\xf0\x9f\x98\x80\xef\xbf\xbdx\"");
    AUTO(arena) struct arena *a = arena_new();
    jv v = json_parse(a, S("\"nul\\u0000in\""), NULL, NULL);
    is_int((int64_t)jv_str(v, STR_NONE).n, 6, "a NUL in a string is kept");
}

static void bad_text_is_refused(void)
{
    refused("{\"a\":1,}", "line 1 column 8: expected a key in quotes");
    refused("[1 2]", "line 1 column 4: expected ',' or ']'");
    refused("{\n \"a\": tru}", "line 2 column 7: expected a value");
    refused("\"\xff\"", "line 1 column 1: string is not UTF-8");
    refused("01", "line 1 column 2: text after the value");
    refused("[", "line 1 column 2: unexpected end");
    refused("\"abc", "line 1 column 1: string without an end");
    refused("NaN", "line 1 column 1: expected a value");
    refused("", "line 1 column 1: unexpected end");
}

static void depth_is_limited(void)
{
    AUTO(buf) struct buf b = { 0 };
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };

    for (int i = 0; i < 100000; i++)
        buf_addc(&b, '[');
    ok(!jv_exists(json_parse(a, buf_str(&b), NULL, &e)), "100,000 brackets are refused");
    is_str(str_of(e.msg), S("line 1 column 513: nested too deeply"), "at the limit");
}

static void note(void *ctx, str path, size_t at)
{
    (void)at;
    buf_add(ctx, path);
    buf_addc(ctx, ' ');
}

static void duplicates_are_told_and_the_last_wins(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    struct json_opts opts = { .on_duplicate = note, .ctx = &b };
    jv v = json_parse(a, S("{\"m\":{\"l\":[1,{\"x\":1,\"y\":2,\"x\":3}]},\"m2\":1,\"m2\":2}"),
                      &opts, NULL);

    is_json(v, "{'m':{'l':[1,{'x':3,'y':2}]},'m2':2}", "the last value at the first place");
    is_str(buf_str(&b), S("m.l[1].x m2 "), "paths of the duplicates");
    buf_clear(&b);
    AUTO(buf) struct buf big = { 0 };
    buf_addc(&big, '{');
    for (int i = 0; i < 40; i++)
        buf_printf(&big, "%s\"k%d\":%d", i ? "," : "", i % 39, i);
    buf_addc(&big, '}');
    v = json_parse(a, buf_str(&big), &opts, NULL);
    is_int((int64_t)jv_len(v), 39, "large objects too");
    is_int(jv_int(jv_at(v, "k0"), 0), 39, "with the last value");
    is_str(buf_str(&b), S("k0 "), "and the path");
}

static void changes_share_the_rest(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J("{'a':{'b':1,'c':[1,2]},'d':3}");
    jv v = jdoc_root(d);
    jv w = jv_with(a, v, jint(a, 9), "a", "x", "y");

    is_json(w, "{'a':{'b':1,'c':[1,2],'x':{'y':9}},'d':3}", "a new path");
    is_json(v, "{'a':{'b':1,'c':[1,2]},'d':3}", "the old value is as it was");
    ok(jv_at(w, "a", "c").node->u.items == jv_at(v, "a", "c").node->u.items, "the list is shared");
    is_json(jv_without(a, v, "a", "b"), "{'a':{'c':[1,2]},'d':3}", "removed");
    ok(jv_without(a, v, "a", "zz", "y").node == v.node || jv_equal(jv_without(a, v, "a", "zz"), v),
       "removing what is not there changes nothing");
    is_json(jv_with_index(a, jv_at(v, "a", "c"), 1, JV_TRUE), "[1,true]", "an element");
}

static void builders_do_not_leak_into_what_they_made(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct jbuild b = jb_obj(a);

    jb_set(&b, S("x"), jint(a, 1));
    jv first = jb_done(&b);
    jb_set(&b, S("x"), jint(a, 2));
    jb_set(&b, S("y"), JV_NULL_V);
    is_json(first, "{'x':1}", "what was made first");
    is_json(jb_done(&b), "{'x':2,'y':null}", "what was made then");
    jb_set(&b, S("x"), JV_ABSENT);
    is_json(jb_done(&b), "{'y':null}", "absent removes");
}

static void equality_is_by_value(void)
{
    AUTO(jdoc) struct jdoc *x = J("{'a':1,'b':[1.0,'s'],'c':{}}");
    AUTO(jdoc) struct jdoc *y = J("{'b':[1,'s'],'a':1,'c':{}}");
    AUTO(jdoc) struct jdoc *z = J("{'b':[1,'s'],'a':1,'d':''}");

    ok(jv_equal(jdoc_root(x), jdoc_root(y)), "order and 1.0 do not matter");
    ok(!jv_equal(jdoc_root(y), jdoc_root(z)), "a member does");
    ok(jv_equal_semantic(jdoc_root(y), jdoc_root(z)), "empty ones do not, semantically");
}

static void large_numbers_compare_exactly(void)
{
    AUTO(jdoc)
    struct jdoc *d =
        J("[18446744073709551615, 18446744073709551614, 1e3, 1000, -0, 0,"
          " 1000000000000000000000000000000000000000000000000000000000000000000000e-69, 1]");
    jv v = jdoc_root(d);

    ok(!jv_equal(jv_index(v, 0), jv_index(v, 1)), "one apart, past what a double can tell");
    ok(jv_equal(jv_index(v, 2), jv_index(v, 3)), "the same, written otherwise");
    ok(jv_equal(jv_index(v, 4), jv_index(v, 5)), "minus nothing is nothing");
    ok(jv_equal(jv_index(v, 6), jv_index(v, 7)), "an exponent after many digits counts");
}

static void elements_are_replaced_added_and_removed(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *d = J("[1, 2, 3]");
    jv v = jdoc_root(d);

    is_json(jv_with_index(a, v, 1, JV_TRUE), "[1, true, 3]", "replaced");
    is_json(jv_with_index(a, v, 3, JV_TRUE), "[1, 2, 3, true]", "added");
    is_json(jv_with_index(a, v, 0, JV_ABSENT), "[2, 3]", "removed");
    is_json(v, "[1, 2, 3]", "and the old one stays");
}

static void large_objects_compare_in_any_order(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct jbuild up = jb_obj(a);
    struct jbuild down = jb_obj(a);

    for (int i = 0; i < 100000; i++) {
        jb_add(&up, arena_printf(a, "k%d", i), jint(a, i));
        jb_add(&down, arena_printf(a, "k%d", 99999 - i), jint(a, 99999 - i));
    }
    jv x = jb_done(&up);
    jv y = jb_done(&down);
    ok(jv_equal(x, y), "a hundred thousand members backwards, and soon");
    ok(!jv_equal(x, jv_with_key(a, y, S("k7"), JV_TRUE)), "one of them counts");
}

static void count_path(void *ctx, str path, size_t at)
{
    int *n = ctx;

    (void)path, (void)at;
    ++*n;
}

static void only_so_many_duplicates_are_told(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    int n = 0;
    struct json_opts opts = { .on_duplicate = count_path, .ctx = &n };

    buf_addc(&b, '{');
    for (int i = 0; i < 1000; i++)
        buf_add(&b, S("\"a\":1,"));
    buf_add(&b, S("\"a\":2}"));
    jv v = json_parse(a, buf_str(&b), &opts, NULL);
    is_int(jv_int(jv_at(v, "a"), 0), 2, "the last of a thousand counts");
    is_int(n, LIMIT_STRICT, "some are told");
}

static void the_size_of_shared_parts_is_known_without_printing(void)
{
    AUTO(arena) struct arena *a = arena_new();
    jv v = jstr(a, S("0123456789"));

    for (int i = 0; i < 60; i++)
        v = jarr(a, v, v); /* 2^60 texts */
    ok(!json_fits(v, 1024 * 1024), "too large is seen at once");
    ok(json_fits(jarr(a, jstr(a, S("abc"))), 6), "what fits, fits");
    ok(!json_fits(jarr(a, jstr(a, S("abc"))), 5), "by a byte");
    ok(json_fits(JV_ABSENT, 0), "nothing always does");
}

static jv rewrite(struct arena *a, jv v, str drop, jv now)
{
    struct jbuild b = { 0 };

    JV_EACH (it, v)
        jb_child(&b, a, &it, str_eq(jv_str(it.value, STR_NONE), drop) ? now : it.value);
    return b.a ? jb_done(&b) : v;
}

static void children_are_rewritten_in_turn(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *o = J("{'a':'x','b':'y','c':'x','d':1}");
    AUTO(jdoc) struct jdoc *l = J("['x','y','x',1]");
    jv v = jdoc_root(o);

    ok(rewrite(a, v, S("none"), JV_ABSENT).node == v.node, "unchanged is shared");
    is_json(rewrite(a, v, S("x"), JV_ABSENT), "{'b':'y','d':1}", "members go");
    is_json(rewrite(a, v, S("y"), JV_TRUE), "{'a':'x','b':true,'c':'x','d':1}", "or change");
    is_json(rewrite(a, jdoc_root(l), S("x"), JV_ABSENT), "['y',1]", "elements go");
    is_json(rewrite(a, jdoc_root(l), S("y"), JV_TRUE), "['x',true,'x',1]", "or change");
}

static void a_document_is_copied_tightly(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *none = jdoc_copy(JV_ABSENT), *text = jdoc_copy(jstrz(a, ""));
    const char *all = "{'a':[1,2.50,true,null,{}],'b':{'c':'x','':[]},'d':''}";
    struct jdoc *d = J(all), *copy = jdoc_copy(jdoc_root(d));

    jdoc_unref(d);
    is_json(jdoc_root(copy), all, "all of it is there when the original is gone");
    is_str(jv_str(jv_at(jdoc_root(text), ""), S("none")), S("none"), "a text has no members");
    ok(jv_is(jdoc_root(text), JV_STR) && !jv_exists(jdoc_root(none)), "texts, and nothing");
    is_json(jdoc_root(copy), all, "and stays");
    jdoc_unref(copy);
    struct arena *own = arena_new_for(100);
    memset(arena_alloc(own, 100), 1, 100);
    ok(arena_size(own) < 160, "an arena of one size takes little more");
    memset(arena_alloc(own, 5000), 1, 5000);
    ok(arena_size(own) > 5000, "and grows all the same");
    arena_free(own);
}

int main(void)
{
    a_document_is_copied_tightly();
    large_numbers_compare_exactly();
    elements_are_replaced_added_and_removed();
    large_objects_compare_in_any_order();
    numbers_stay_exact();
    strings_are_unescaped_and_escaped();
    bad_text_is_refused();
    depth_is_limited();
    duplicates_are_told_and_the_last_wins();
    changes_share_the_rest();
    builders_do_not_leak_into_what_they_made();
    equality_is_by_value();
    only_so_many_duplicates_are_told();
    the_size_of_shared_parts_is_known_without_printing();
    children_are_rewritten_in_turn();
    return tap_done();
}
