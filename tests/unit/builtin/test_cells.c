/* What kube-apiserver shows of objects in tables, recorded by tests/cluster/cells-record: each case
 * must come out the same, to the byte. Beside these, objects too odd for a server to store. */

#include "base/time.h"
#include "builtin/cells/cells.h"
#include "recorded.h"

static bool same_column(const struct kind_column *c, jv want)
{
    return str_eqz(jv_str(jv_index(want, 0), S("")), c->name) &&
           str_eqz(jv_str(jv_index(want, 1), S("")), c->type) &&
           str_eqz(jv_str(jv_index(want, 2), S("")), c->format) &&
           jv_int(jv_index(want, 3), -1) == c->priority && c->doc && *c->doc;
}

static bool is_default_table(jv columns)
{
    return jv_len(columns) == 2 &&
           str_eqz(jv_str(jv_index(jv_index(columns, 1), 0), S("")), "Created At");
}

static void columns_are_as_recorded(jv columns)
{
    size_t own = 0;

    JV_EACH (it, columns) {
        const struct builtin_kind *k = kind_of(it.key);
        size_t n = k && k->columns ? k->n_columns : 0;
        bool same = is_default_table(it.value) ? !n : n == jv_len(it.value);
        for (size_t i = 0; same && i < n; i++)
            same = same_column(&k->columns[i], jv_index(it.value, i));
        ok(same, "columns of %.*s", STR_ARG(it.key));
    }
    for (size_t i = 0; i < builtin_kinds_n; i++) {
        own += builtin_kinds[i].columns != NULL;
        if (!builtin_kinds[i].columns != !builtin_kinds[i].cells)
            ok(false, "%s has columns and cells, or neither", builtin_kinds[i].kind);
    }
    JV_EACH (it, columns)
        own -= !is_default_table(it.value);
    is_int((int64_t)own, 0, "every kind with a table of its own is recorded");
}

static void cells_are_as_recorded(jv cases)
{
    JV_EACH (it, cases) {
        AUTO(arena) struct arena *a = arena_new();
        const struct builtin_kind *k = kind_of(jv_str(jv_at(it.value, "resource"), S("")));
        str name = jv_str(jv_at(it.value, "case"), S(""));
        int64_t us = 0;
        if (!k || !k->cells)
            continue; /* the default table is the server's business */
        time_parse(jv_str(jv_at(it.value, "now"), S("")), &us, NULL);
        struct kind_ctx c = { .a = a, .now_ms = us / 1000 };
        jv obj = jv_at(it.value, "object");

        is_str(json_text(a, k->cells(&c, obj)), json_text(a, jv_at(it.value, "cells")),
               arena_z(a, name));
        jv conditions = k->row_conditions ? k->row_conditions(&c, obj) : JV_ABSENT;
        if (!jv_equal(conditions, jv_at(it.value, "conditions")))
            ok(false, "%.*s: conditions of the row", STR_ARG(name));
    }
}

/* Nothing of an object is sure to be there, not even while it is stored. */
static void any_object_has_a_cell_for_every_column(void)
{
    static const char *const odd[] = {
        "{}",
        "{'metadata': null, 'spec': null, 'status': null}",
        "{'metadata': [], 'spec': 'x', 'status': 7, 'subsets': [1], 'subjects': [null]}",
        "{'metadata': {'name': 5, 'creationTimestamp': 'yesterday', 'labels': [1]}, 'spec': {'ports': "
        "[1, null], 'rules': [7], 'metrics': [{'type': 'New'}, null], 'containers': 3}, 'status': "
        "{'conditions': [3], 'containerStatuses': [null, {'state': 3}], 'hard': {'pods': 'many'}, "
        "'addresses': [0]}}",
    };
    size_t bad = 0;

    for (size_t i = 0; i < builtin_kinds_n; i++) {
        const struct builtin_kind *k = &builtin_kinds[i];
        for (size_t j = 0; k->cells && j < COUNT(odd); j++) {
            AUTO(arena) struct arena *a = arena_new();
            AUTO(jdoc) struct jdoc *d = J(odd[j]);
            struct kind_ctx c = { .a = a };
            bad += jv_len(k->cells(&c, jdoc_root(d))) < k->n_columns;
        }
    }
    is_int((int64_t)bad, 0, "rows of any object have all their cells");
}

static void metrics_of_unknown_types_are_shown_as_such(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d = J("{'metadata': {'name': 'h'}, 'spec': {'metrics': [{'type': 'New'}], "
                       "'maxReplicas': 1, 'scaleTargetRef': {'kind': 'K', 'name': 'n'}}}");
    struct kind_ctx c = { .a = a };

    is_json(hpa_cells(&c, jdoc_root(d)),
            "['h', 'K/n', '<unknown type>', '<unset>', 1, 0, '<unknown>']", "an odd autoscaler");
}

static void times_to_come_are_invalid_ages(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d = J("{'metadata': {'name': 'n', 'creationTimestamp': "
                       "'1970-01-01T00:01:00Z'}, 'status': {'phase': 'Active'}}");
    struct kind_ctx early = { .a = a, .now_ms = 1000 };
    struct kind_ctx late = { .a = a, .now_ms = 65999 };

    is_json(namespace_cells(&early, jdoc_root(d)), "['n', 'Active', '<invalid>']", "too early");
    is_json(namespace_cells(&late, jdoc_root(d)), "['n', 'Active', '5s']", "whole seconds");
}

static void broken_selectors_are_errors(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d = J("{'metadata': {'name': 'n'}, 'spec': {'podSelector': "
                       "{'matchExpressions': [{'key': 'a', 'operator': 'Near'}]}}}");
    struct kind_ctx c = { .a = a };

    is_json(networkpolicy_cells(&c, jdoc_root(d)), "['n', '<error>', '<unknown>']", "of a policy");
}

/* A node agent may know containers that the spec does not have any more. */
static void unknown_init_containers_are_no_sidecars(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d =
        J("{'spec': {'initContainers': [{'name': 'a', 'restartPolicy': 'Always'}]}, 'status': "
          "{'initContainerStatuses': [{'name': 'b', 'started': true, 'ready': true, 'state': "
          "{'running': {}}}]}}");
    struct kind_ctx c = { .a = a };
    jv cells = pod_cells(&c, jdoc_root(d));

    is_json(jv_index(cells, 1), "'0/1'", "so they are not ready");
    is_json(jv_index(cells, 2), "'Init:0/1'", "but still run");
}

int main(int argc, char **argv)
{
    AUTO(jdoc) struct jdoc *d = slurp_json(argc > 1 ? argv[1] : "cells.json");

    columns_are_as_recorded(jv_at(jdoc_root(d), "columns"));
    cells_are_as_recorded(jv_at(jdoc_root(d), "cases"));
    any_object_has_a_cell_for_every_column();
    metrics_of_unknown_types_are_shown_as_such();
    times_to_come_are_invalid_ages();
    broken_selectors_are_errors();
    unknown_init_containers_are_no_sidecars();
    return tap_done();
}
