/* Updates: what was wrong before and did not change is let pass, as the real server lets it. Scale
 * paths. */

#include "builtin/types/types.h"
#include "golden.h"

static void unchanged_flaws_are_let_pass(const char *folder)
{
    AUTO(jdoc) struct jdoc *d = golden_read(folder, "update");
    AUTO(crd) struct crd *c = crd_compile(jv_at(jdoc_root(d), "crd"), &meta_ObjectMeta, NULL);
    jv old = jv_at(jdoc_root(d), "old");

    for (struct jv_iter it = jv_iter(jv_at(jdoc_root(d), "cases")); c && jv_next(&it);) {
        AUTO(arena) struct arena *a = arena_new();
        struct problems ps = { .a = a };
        jv obj = jv_at(it.value, "object");

        if (jv_bool(jv_at(it.value, "sub"), false))
            crd_validate_status(&ps, c->storage, obj, old);
        else
            crd_validate(&ps, c->storage, obj, old);
        is_str(golden_problems(a, &ps), golden_causes(a, jv_at(it.value, "causes")),
               arena_z(a, jv_str(jv_at(it.value, "name"), S(""))));
    }
}

static struct crd *scaled(void)
{
    AUTO(jdoc)
    struct jdoc *d = J(
        "{'spec': {'group': 'g.io', 'scope': 'Namespaced', 'names': {'plural': 'xs', 'kind': 'X'},"
        " 'versions': [{'name': 'v1', 'served': true, 'storage': true,"
        "   'schema': {'openAPIV3Schema': {'type': 'object',"
        "     'x-kubernetes-preserve-unknown-fields': true}},"
        "   'subresources': {'scale': {'specReplicasPath': '.spec.replicas',"
        "     'statusReplicasPath': '.status.replicas',"
        "     'labelSelectorPath': '.status.selector'}}}]}}");

    return crd_compile(jdoc_root(d), NULL, NULL);
}

static void scale_paths_hold_counts(void)
{
    static const struct {
        const char *object;
        const char *text;
    } rows[] = {
        { "{'spec': {'replicas': 3}, 'status': {'replicas': 1, 'selector': 'a=b'}}", "" },
        { "{}", "" },
        { "{'spec': {'replicas': -1}}",
          ".spec.replicas: Invalid value: -1: should be a non-negative integer" },
        { "{'spec': {'replicas': 2147483648}}",
          ".spec.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647" },
        { "{'spec': {'replicas': 'x'}}",
          ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: x is of the type string,"
          " expected int64" },
        { "{'status': {'replicas': 1.5}}",
          ".status.replicas: Invalid value: 0: .status.replicas accessor error: 1.5 is of the type "
          "float64, expected int64" },
        { "{'status': {'selector': 5}}",
          ".status.selector: Invalid value: \"\": .status.selector accessor error: 5 is of the type "
          "int64, expected string" },
        { "{'spec': 'x'}",
          ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: x is of the type string,"
          " expected map[string]interface{}" },
    };
    AUTO(crd) struct crd *c = scaled();

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        AUTO(jdoc) struct jdoc *d = J(rows[i].object);
        struct problems ps = { .a = a };

        crd_validate(&ps, c->storage, jdoc_root(d), JV_ABSENT);
        is_str(problems_text(a, &ps), str_of(rows[i].text), rows[i].object);
    }
}

static void a_runaway_pattern_comes_to_an_end(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf text = { 0 };
    AUTO(jdoc)
    struct jdoc *d =
        J("{'spec': {'group': 'g.io', 'names': {'plural': 'xs', 'kind': 'X'}, 'versions': [{'name':"
          " 'v1', 'storage': true, 'schema': {'openAPIV3Schema': {'type': 'object', 'properties':"
          " {'s': {'type': 'string', 'pattern': '^(([a-z])+.)+[A-Z]([a-z])+$'}}}}}]}}");
    AUTO(crd) struct crd *c = crd_compile(jdoc_root(d), NULL, NULL);
    struct problems ps = { .a = a };

    for (int i = 0; i < 5000; i++)
        buf_addc(&text, 'a');
    crd_validate(&ps, c->storage, jobj(a, { "s", jstr(a, buf_str(&text)) }), JV_ABSENT);
    is_int((int64_t)ps.n, 1, "5000 letters do not match, soon");
    ps.n = 0;
    buf_add(&text, S(".Zz"));
    crd_validate(&ps, c->storage, jobj(a, { "s", jstr(a, buf_str(&text)) }), JV_ABSENT);
    is_int((int64_t)ps.n, 0, "and a text that does match is found to");
}

static struct crd *compile_items(struct arena *a, jv items)
{
    AUTO(jdoc)
    struct jdoc *d = J("{'spec': {'group': 'g.io', 'names': {'plural': 'xs', 'kind': 'X'}, "
                       "'versions': [{'name': 'v1', 'storage': true}]}}");
    jv l = jobj(a, { "type", jstr(a, S("array")) }, { "items", items });
    jv root = jobj(a, { "type", jstr(a, S("object")) }, { "properties", jobj(a, { "l", l }) });
    jv version = jv_with(a, jv_index(jv_at(jdoc_root(d), "spec", "versions"), 0), root, "schema",
                         "openAPIV3Schema");

    return crd_compile(jv_with(a, jdoc_root(d), jarr(a, version), "spec", "versions"), NULL, NULL);
}

static jv many(struct arena *a, jv element, int n)
{
    struct jbuild b = jb_arr(a);

    for (int i = 0; i < n; i++)
        jb_push(&b, element);
    return jobj(a, { "l", jb_done(&b) });
}

static size_t text_bytes(const struct problems *ps)
{
    size_t n = 0;

    for (size_t i = 0; i < ps->n; i++)
        n += ps->at[i].message.n;
    return n;
}

static void many_values_outside_a_long_enum_stay_cheap(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct jbuild values = jb_arr(a);
    struct problems ps = { .a = a };

    for (int i = 0; i < 20000; i++)
        jb_push(&values, jstr(a, arena_printf(a, "value-%d", i)));
    AUTO(crd)
    struct crd *c =
        compile_items(a, jobj(a, { "type", jstr(a, S("string")) }, { "enum", jb_done(&values) }));
    crd_validate(&ps, c->storage, many(a, jstr(a, S("value-19999")), 50000), JV_ABSENT);
    is_int((int64_t)ps.n, 0, "each of 50000 values is found among 20000");
    crd_validate(&ps, c->storage, many(a, jstr(a, S("x")), 50000), JV_ABSENT);
    ok(ps.n > 1, "or told");
    ok(text_bytes(&ps) < 8 * 1024 * 1024, "in %zu bytes", text_bytes(&ps));
    str start = S("Unsupported value: \"x\": supported values: \"value-0\", \"value-1\", ");
    ok(str_starts(ps.at[0].message, start), "with the values that are allowed");
}

static void long_patterns_are_told_only_so_often(void)
{
    AUTO(arena) struct arena *a = arena_new();
    char *pattern = arena_alloc(a, 20000);
    struct problems ps = { .a = a };

    memset(pattern, 'a', 20000);
    AUTO(crd)
    struct crd *c = compile_items(a, jobj(a, { "type", jstr(a, S("string")) },
                                          { "pattern", jstr(a, (str){ pattern, 20000 }) }));
    crd_validate(&ps, c->storage, many(a, jstr(a, S("x")), 100000), JV_ABSENT);
    ok(ps.n > 1 && text_bytes(&ps) < 8 * 1024 * 1024, "%zu problems in %zu bytes", ps.n,
       text_bytes(&ps));
}

static jv numbered(struct arena *a, int from, int step, int n)
{
    struct jbuild b = jb_arr(a);

    for (int i = 0; i < n; i++)
        jb_push(&b, jobj(a, { "k", jint(a, from + i * step) }, { "v", jstr(a, S("bad")) }));
    return jobj(a, { "l", jb_done(&b) });
}

static void long_maps_find_their_old_elements(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d =
        J("{'spec': {'group': 'g.io', 'names': {'plural': 'xs', 'kind': 'X'}, 'versions': [{'name':"
          " 'v1', 'storage': true, 'schema': {'openAPIV3Schema': {'type': 'object', 'properties':"
          " {'l': {'type': 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys':"
          " ['k'], 'items': {'type': 'object', 'required': ['k'], 'properties': {'k': {'type':"
          " 'integer'}, 'v': {'type': 'string', 'enum': ['good']}}}}}}}}]}}");
    AUTO(crd) struct crd *c = crd_compile(jdoc_root(d), NULL, NULL);
    struct problems ps = { .a = a };

    jv old = numbered(a, 0, 1, 30000);
    crd_validate(&ps, c->storage, numbered(a, 29999, -1, 30000), old);
    is_int((int64_t)ps.n, 0, "in another order each is as bad as it was");
    crd_validate(&ps, c->storage, numbered(a, 29999, 1, 3), numbered(a, 0, 1, 30000));
    is_int((int64_t)ps.n, 2, "new ones are told");
    is_str(ps.at[0].field, S("l[1].v"), "where they are");
}

static void defaults_in_long_lists_take_linear_time(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *items =
        J("{'type': 'object', 'properties': {'a': {'type': 'integer', 'default': 7}}}");
    AUTO(crd) struct crd *c = compile_items(a, jdoc_root(items));
    jv list = jv_at(crd_default(a, c->storage, many(a, JV_EMPTY_OBJ, 200000)), "l");

    is_int((int64_t)jv_len(list), 200000, "all elements are there");
    is_json(jv_index(list, 199999), "{'a': 7}", "the last one filled in too");
}

/* What costs each member a walk over all others takes minutes here. */
static void many_members_are_compared_in_linear_time(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d =
        J("{'spec': {'versions': [{'name': 'v1', 'storage': true, 'schema': {'openAPIV3Schema': "
          "{'type': 'object', 'properties': {'m': {'type': 'object', 'additionalProperties': "
          "{'type': 'string', 'pattern': '^x*$', 'x-kubernetes-validations': [{'rule': "
          "'self.size() < 2'}]}}}}}}]}}");
    AUTO(crd) struct crd *c = crd_compile(jdoc_root(d), NULL, NULL);
    struct jbuild now = jb_obj(a);
    struct jbuild old = jb_obj(a);
    struct problems ps = { .a = a };
    int n = 200000;

    for (int i = 0; i < n; i++) {
        str key = arena_printf(a, "k%d", i);
        jb_add(&now, key, jstrz(a, "xx"));
        jb_add(&old, arena_printf(a, "k%d", n - 1 - i), jstrz(a, "xx"));
    }
    jb_add(&now, S("new"), jstrz(a, "yy"));
    crd_validate(&ps, c->storage, jobj(a, { "m", jb_done(&now) }), jobj(a, { "m", jb_done(&old) }));
    is_str(ps.n > 0 ? ps.at[0].field : S(""), S("m.new"), "the new one does not match");
    is_str(ps.n > 1 ? ps.at[1].field : S(""), S("m[new]"), "nor does it follow the rule");
    is_int((int64_t)ps.n, 2, "of those that were there before nothing is told");
}

int main(int argc, char **argv)
{
    unchanged_flaws_are_let_pass(argc > 1 ? argv[1] : ".");
    scale_paths_hold_counts();
    a_runaway_pattern_comes_to_an_end();
    many_values_outside_a_long_enum_stay_cheap();
    long_patterns_are_told_only_so_often();
    long_maps_find_their_old_elements();
    defaults_in_long_lists_take_linear_time();
    many_members_are_compared_in_linear_time();
    return tap_done();
}
