#include "builtin/kind.h"
#include "tap.h"

static bool sorted(const char *list)
{
    str last = STR_NONE;

    for (str rest = str_of(list); rest.p;) {
        str one = str_cut(&rest, ',');
        if (str_cmp(last, one) >= 0)
            return false;
        last = one;
    }
    return true;
}

static void rows_are_whole(void)
{
    size_t bad = 0;

    for (size_t i = 0; i < builtin_kinds_n; i++) {
        const struct builtin_kind *k = &builtin_kinds[i];
        bool fine = k->group && k->version && k->kind && k->plural && k->singular && k->schema &&
                    k->schema->type == SCHEMA_OBJECT && (!k->verbs || sorted(k->verbs));

        fine = fine && (schema_field(k->schema, S("status")) || !(k->flags & KIND_STATUS));
        fine = fine && schema_field(k->schema, S("metadata"));
        if (!fine)
            printf("# %s\n", k->kind);
        bad += !fine;
    }
    is_int((int64_t)bad, 0, "every row has its names, a type with metadata, and sorted verbs");
}

static bool has_sub(const struct builtin_kind *k, const char *name)
{
    for (const struct kind_sub *s = k->subs; s && s->name; s++)
        if (strcmp(s->name, name) == 0)
            return true;
    return false;
}

static void flags_and_subresources_agree(void)
{
    size_t bad = 0;

    for (size_t i = 0; i < builtin_kinds_n; i++) {
        const struct builtin_kind *k = &builtin_kinds[i];
        bad += has_sub(k, "status") != !!(k->flags & KIND_STATUS);
        bad += has_sub(k, "scale") != !!(k->flags & KIND_SCALE);
    }
    is_int((int64_t)bad, 0, "status and scale are flags and subresources alike");
}

static void rows_are_unique_and_in_discovery_order(void)
{
    size_t bad = 0;

    for (size_t i = 0; i < builtin_kinds_n; i++) {
        const struct builtin_kind *k = &builtin_kinds[i];
        str group = str_of(k->group);
        str version = str_of(k->version);
        bad += builtin_find(group, version, str_of(k->plural)) != k;
        bad += builtin_find_kind(group, version, str_of(k->kind)) != k;
        if (i && strcmp(k[-1].group, k->group) == 0 && strcmp(k[-1].version, k->version) == 0)
            bad += strcmp(k[-1].plural, k->plural) >= 0;
    }
    is_int((int64_t)bad, 0, "every row is found by plural and by kind, sorted within its group");
}

static void selectable_fields_exist_in_the_type(void)
{
    size_t bad = 0;

    for (size_t i = 0; i < builtin_kinds_n; i++) {
        const struct builtin_kind *k = &builtin_kinds[i];
        for (str rest = str_of(k->select_fields); rest.p;) {
            str field = str_cut(&rest, ',');
            const struct schema *s = k->schema;
            /* two names of fields that are computed */
            if (str_eqz(field, "status.successful") || str_eqz(field, "source"))
                continue;
            for (str steps = field; steps.p;)
                s = schema_member(s, str_cut(&steps, '.'));
            if (!s)
                printf("# %s %.*s\n", k->kind, STR_ARG(field));
            bad += !s;
        }
    }
    is_int((int64_t)bad, 0, "selectable fields are fields of the type");
}

static void pods_are_as_discovery_says(void)
{
    const struct builtin_kind *k = builtin_find(S(""), S("v1"), S("pods"));

    ok(k && (k->flags & KIND_NAMESPACED) && (k->flags & KIND_STATUS), "pods are there");
    ok(has_sub(k, "binding") && has_sub(k, "eviction") && has_sub(k, "log") && has_sub(k, "exec"),
       "with their subresources");
    ok(!builtin_find(S(""), S("v1"), S("Pods")), "and names are exact");
    ok(!builtin_find(S("apps"), S("v1beta1"), S("deployments")), "old versions are gone");
}

static void types_know_how_lists_merge(void)
{
    const struct builtin_kind *k = builtin_find(S(""), S("v1"), S("pods"));
    const struct schema *spec = schema_member(k->schema, S("spec"));
    const struct schema *containers = schema_member(spec, S("containers"));
    const struct schema *ports = schema_member(containers->items, S("ports"));

    is_str(str_of(containers->list_keys[0]), S("name"), "containers are keyed by name");
    is_str(str_of(containers->patch_key), S("name"), "and merged by it");
    ok(ports->list == LIST_MAP && ports->list_keys[1] &&
           strcmp(ports->list_keys[1], "protocol") == 0 && !ports->list_keys[2],
       "ports have two keys");
    is_str(str_of(ports->patch_key), S("containerPort"), "but merge by one");
}

int main(void)
{
    rows_are_whole();
    flags_and_subresources_agree();
    rows_are_unique_and_in_discovery_order();
    selectable_fields_exist_in_the_type();
    pods_are_as_discovery_says();
    types_know_how_lists_merge();
    return tap_done();
}
