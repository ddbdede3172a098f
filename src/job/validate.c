/* Rules of validation, shared by the kinds: their rows say which, and in which order. */

#include "job/kind.h"
#include "kube/names.h"

#include <inttypes.h>
#include <stdlib.h>

static str field(jv v, str key)
{
    return jv_str(jv_get(v, key), S(""));
}

static bool is_update(const struct check *c)
{
    return jv_exists(c->old);
}

bool check_is_new(const struct check *c, jv now, jv before)
{
    return !is_update(c) || !jv_equal_semantic(now, before);
}

void check_value_type(struct check *c, const struct path *at, jv v, enum jv_type want)
{
    static const char *const names[] = {
        [JV_BOOL] = "boolean", [JV_INT] = "integer", [JV_STR] = "string"
    };

    if (!jv_is_null(v) && !jv_is(v, want))
        problem_add(c->ps, PROBLEM_TYPE_INVALID, at, v, "must be of type %s", names[want]);
}

void rule_name(struct check *c)
{
    struct path meta = path_field(NULL, S("metadata"));
    struct path at = path_field(&meta, S("name"));
    str name = meta_name(c->obj);
    struct name_errors errs = name_dns1035_label(name);

    if (is_update(c) || errs.n == 0)
        return;
    problem_invalid(c->ps, &at, jstr(c->ps->a, name), "should match: %" PRI_STR,
                    STR_ARG(name_join(c->ps->a, &errs, ",")));
}

void rule_managed_by_kept(struct check *c)
{
    struct path at = path_field(&c->policy_path, S("managedBy"));
    jv now = jv_get(c->policy, S("managedBy")), before = jv_get(c->old_policy, S("managedBy"));
    bool same = jv_is_null(now) ? jv_is_null(before) : jv_equal(now, before);

    if (is_update(c) && !same)
        problem_invalid(c->ps, &at, jv_is_null(now) ? jstrz(c->ps->a, "null") : now,
                        "field is immutable");
}

void rule_managed_by(struct check *c)
{
    static const char *const known[] = { "kubeflow.org/training-operator",
                                         "kueue.x-k8s.io/multikueue", NULL };
    struct path at = path_field(&c->policy_path, S("managedBy"));
    jv by = jv_get(c->policy, S("managedBy"));

    if (jv_is_null(by) || !check_is_new(c, by, jv_get(c->old_policy, S("managedBy"))))
        return;
    for (size_t i = 0; known[i]; i++)
        if (str_eqz(jv_str(by, S("")), known[i]))
            return;
    problem_not_supported(c->ps, &at, by, known);
}

void rule_map(struct check *c)
{
    if (c->n_keys == 0 && (!is_update(c) || jv_len(c->old_map) > 0))
        problem_required(c->ps, &c->map_path, "must be required");
    if (jv_len(c->map) > MANY_TYPES)
        problem_add(c->ps, PROBLEM_TOO_MANY, &c->map_path, jint(c->ps->a, (int64_t)jv_len(c->map)),
                    "must have at most %d items", MANY_TYPES);
}

void rule_types(struct check *c)
{
    const char *known[MANY_ROLES + 1] = { NULL };
    size_t n = 0;

    for (const struct role_row *r = c->kind->roles; r->name && n < MANY_ROLES; r++)
        known[n++] = r->name;
    for (size_t i = 0; i < c->n_keys; i++) {
        struct path at = path_key(&c->map_path, c->keys[i]);
        bool is_known = jv_exists(jv_get(c->old_map, c->keys[i])); /* checked when it came */
        for (size_t k = 0; k < n; k++)
            is_known |= str_eqz(c->keys[i], known[k]);
        if (!is_known)
            problem_not_supported(c->ps, &at, jstr(c->ps->a, c->keys[i]), known);
    }
}

static void check_containers(struct check *c, const struct path *at, jv containers)
{
    bool has_main = false;

    if (!jv_is(containers, JV_ARR) || jv_len(containers) == 0)
        problem_required(c->ps, at, "must be specified");
    JV_EACH (it, containers) {
        struct path one = path_index(at, it.i - 1);
        struct path image = path_field(&one, S("image"));
        jv value = jv_get(it.value, S("image"));
        check_value_type(c, &image, value, JV_STR); /* such as y, which YAML takes for true */
        if (jv_is_null(value) || str_eqz(jv_str(value, S("?")), ""))
            problem_required(c->ps, &image, "must be required");
        has_main |= str_eqz(field(it.value, S("name")), c->kind->container);
    }
    if (!has_main)
        problem_required(c->ps, at, "must have at least one container with name %s",
                         c->kind->container_told ? c->kind->container_told : c->kind->container);
}

void rule_containers(struct check *c)
{
    for (size_t i = 0; i < c->n_keys; i++) {
        jv now = jv_at(jv_get(c->map, c->keys[i]), "template", "spec", "containers");
        jv before = jv_at(jv_get(c->old_map, c->keys[i]), "template", "spec", "containers");
        struct path type = path_key(&c->map_path, c->keys[i]);
        struct path template = path_field(&type, S("template"));
        struct path spec = path_field(&template, S("spec"));
        struct path at = path_field(&spec, S("containers"));
        if (check_is_new(c, now, before))
            check_containers(c, &at, now);
    }
}

void rule_counts(struct check *c)
{
    for (const struct role_row *row = c->kind->roles; row->name; row++) {
        struct path type = path_key(&c->map_path, str_of(row->name));
        struct path at = path_field(&type, S("replicas"));
        jv spec = jv_get(c->map, str_of(row->name)), n = jv_get(spec, S("replicas"));
        jv before = jv_at(jv_get(c->old_map, str_of(row->name)), "replicas");
        if (jv_is_null(spec) || !check_is_new(c, n, before))
            continue;
        if (!jv_is_null(n) && !jv_is(n, JV_INT))
            continue; /* told with all that is of a wrong type */
        if (row->one && jv_int(n, 0) != 1)
            problem_forbidden(c->ps, &at, "must be 1");
        else if (row->least > 0 && jv_int(n, row->least) < row->least)
            problem_forbidden(c->ps, &at, "must be at least %" PRId64, row->least);
    }
}

void rule_needed(struct check *c)
{
    for (const struct role_row *row = c->kind->roles; row->name; row++) {
        struct path at = path_key(&c->map_path, str_of(row->name));
        if (row->needed && jv_is_null(jv_get(c->map, str_of(row->name))) &&
            (!is_update(c) || !jv_is_null(jv_get(c->old_map, str_of(row->name)))))
            problem_required(c->ps, &at, "must be present");
    }
}

static int by_bytes(const void *x, const void *y)
{
    return str_cmp(*(const str *)x, *(const str *)y);
}

static void read_keys(struct check *c)
{
    str *keys = NULL;
    size_t n = 0;

    if (!jv_is(c->map, JV_OBJ) || jv_len(c->map) == 0)
        return;
    keys = ARENA_ARRAY(c->ps->a, str, jv_len(c->map));
    JV_EACH (it, c->map)
        if (!jv_is_null(it.value))
            keys[n++] = it.key;
    qsort(keys, n, sizeof(*keys), by_bytes);
    c->keys = keys;
    c->n_keys = n > MANY_TYPES ? MANY_TYPES : n;
}

void job_validate(const struct job_kind *kind, struct problems *ps, jv obj, jv old)
{
    struct check c = { .kind = kind, .ps = ps, .obj = obj, .old = old };
    struct path spec = path_field(NULL, S("spec"));

    c.spec = jv_get(obj, S("spec"));
    c.policy = jv_get(c.spec, S("runPolicy"));
    c.map = jv_get(c.spec, str_of(kind->specs));
    c.old_spec = jv_get(old, S("spec"));
    c.old_policy = jv_get(c.old_spec, S("runPolicy"));
    c.old_map = jv_get(c.old_spec, str_of(kind->specs));
    c.spec_path = spec;
    c.map_path = path_field(&spec, str_of(kind->specs));
    c.policy_path = path_field(&spec, S("runPolicy"));
    read_keys(&c);
    size_t before = ps->n;
    for (size_t i = 0; i < MANY_RULES && kind->rules[i]; i++)
        kind->rules[i](&c);
    check_common(&c);
    if (kind->first_problem && ps->n > before)
        ps->n = before + 1;
}
