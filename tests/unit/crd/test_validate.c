/* Updates: what was wrong before and did not change is let pass, as the real server lets it. Scale
 * paths. */

#include "builtin/types.h"
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

int main(int argc, char **argv)
{
    unchanged_flaws_are_let_pass(argc > 1 ? argv[1] : ".");
    scale_paths_hold_counts();
    a_runaway_pattern_comes_to_an_end();
    return tap_done();
}
