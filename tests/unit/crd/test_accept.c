/* Names, conditions and updates of definitions, as the real server left them. */

#include "base/time.h"
#include "golden.h"

enum { NOW_MS = 1700000000 };

static jv without_times(struct arena *a, jv status)
{
    jv list = jv_at(status, "conditions");

    for (size_t i = 0; i < jv_len(list); i++)
        list = jv_with_index(a, list, i, jv_without(a, jv_index(list, i), "lastTransitionTime"));
    return jv_with(a, status, list, "conditions");
}

static void names_and_conditions_match_the_real_server(const char *folder)
{
    AUTO(jdoc) struct jdoc *d = golden_read(folder, "accept");

    JV_EACH (it, jv_at(jdoc_root(d), "cases")) {
        AUTO(arena) struct arena *a = arena_new();
        jv crd = crd_definition_defaults(a, jv_at(it.value, "crd"));
        crd = crd_definition_for_create(a, crd);
        crd = crd_accept(a, crd, jv_at(it.value, "others"), NOW_MS);
        jv got = without_times(a, jv_at(crd, "status"));
        jv want = without_times(a, jv_at(it.value, "status"));

        if (!ok(jv_equal(got, want), "%" PRI_STR, STR_ARG(jv_str(jv_at(it.value, "name"), S("")))))
            printf("# got  %" PRI_STR "\n# want %" PRI_STR "\n", STR_ARG(json_text(a, got)),
                   STR_ARG(json_text(a, want)));
    }
}

static void updates_match_the_real_server(const char *folder)
{
    AUTO(jdoc) struct jdoc *d = golden_read(folder, "definition_updates");

    JV_EACH (it, jv_at(jdoc_root(d), "cases")) {
        AUTO(arena) struct arena *a = arena_new();
        struct problems ps = { .a = a };
        jv old = jv_at(it.value, "old");
        jv crd = crd_definition_defaults(a, jv_at(it.value, "crd"));
        crd = crd_definition_for_update(a, crd, old);

        crd_definition_validate_update(&ps, crd, old);
        is_str(golden_problems(a, &ps), golden_causes(a, jv_at(it.value, "causes")),
               arena_z(a, jv_str(jv_at(it.value, "name"), S(""))));
        if (!jv_exists(jv_at(it.value, "generation")))
            continue;
        is_int(jv_int(jv_at(crd, "metadata", "generation"), 0),
               jv_int(jv_at(it.value, "generation"), -1), "generation");
        ok(jv_equal(jv_at(crd, "status"), jv_at(it.value, "status")), "status");
    }
}

static void a_condition_keeps_its_time_until_its_status_changes(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d =
        J("{'metadata': {'name': 'xs.g.io'}, 'spec': {'group': 'g.io', 'names': {'plural': 'xs',"
          " 'singular': 'x', 'kind': 'X', 'listKind': 'XList'}}}");
    jv first = crd_accept(a, jdoc_root(d), JV_ABSENT, 0);
    jv second = crd_accept(a, first, JV_ABSENT, 5000);

    ok(jv_equal(first, second), "accepting again changes nothing");
    is_str(jv_str(jv_at(jv_index(jv_at(second, "status", "conditions"), 0), "lastTransitionTime"),
                  S("")),
           S("1970-01-01T00:00:00Z"), "the time is that of the first");
}

static void conversion_by_webhook_is_refused_between_versions(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *one =
        J("{'spec': {'conversion': {'strategy': 'Webhook'}, 'versions': [{'name': 'v1'}]}}");
    AUTO(jdoc)
    struct jdoc *two =
        J("{'spec': {'conversion': {'strategy': 'Webhook'}, 'versions': [{'name': 'v1'},"
          " {'name': 'v2'}]}}");
    struct problems ps = { .a = a };

    crd_definition_check_served(&ps, jdoc_root(one));
    is_int((int64_t)ps.n, 0, "with one version there is nothing to convert");
    crd_definition_check_served(&ps, jdoc_root(two));
    is_str(
        problems_text(a, &ps),
        S("spec.conversion.strategy: Unsupported value: \"Webhook\": supported values: \"None\""),
        "with two there is");
}

int main(int argc, char **argv)
{
    names_and_conditions_match_the_real_server(argc > 1 ? argv[1] : ".");
    updates_match_the_real_server(argc > 1 ? argv[1] : ".");
    a_condition_keeps_its_time_until_its_status_changes();
    conversion_by_webhook_is_refused_between_versions();
    return tap_done();
}
