#include "api/auth/rbac.h"

#include "kube/meta.h"

static const str group = S_INIT("rbac.authorization.k8s.io");

/* ---- rules */

static bool has(jv list, str word)
{
    JV_EACH (it, list) {
        str one = jv_str(it.value, STR_NONE);
        if (str_eq(one, word) || str_eq(one, S("*")))
            return true;
    }
    return false;
}

static bool has_resource(jv list, const struct access *what)
{
    JV_EACH (it, list) {
        str one = jv_str(it.value, STR_NONE), rest = one;
        str head = str_cut(&rest, '/');
        if (str_eq(one, S("*")))
            return true;
        if (what->sub.n
                ? str_eq(rest, what->sub) && (str_eq(head, what->resource) || str_eq(head, S("*")))
                : !rest.p && str_eq(head, what->resource))
            return true;
    }
    return false;
}

static bool has_path(jv list, str path)
{
    JV_EACH (it, list) {
        str one = jv_str(it.value, STR_NONE);
        if (str_eq(one, path) ||
            (str_ends(one, S("*")) && str_starts(path, str_sub(one, 0, one.n - 1))))
            return true;
    }
    return false;
}

bool rbac_rule_allows(jv rule, const struct access *what)
{
    jv names = jv_at(rule, "resourceNames");

    if (!has(jv_at(rule, "verbs"), what->verb))
        return false;
    if (!what->on_resource)
        return has_path(jv_at(rule, "nonResourceURLs"), what->path);
    if (!has(jv_at(rule, "apiGroups"), what->group) ||
        !has_resource(jv_at(rule, "resources"), what))
        return false;
    if (!jv_len(names))
        return true;
    JV_EACH (it, names)
        if (what->name.n && str_eq(jv_str(it.value, STR_NONE), what->name))
            return true;
    return false;
}

/* ---- bindings */

bool rbac_is_subject(jv subject, str ns, const struct api_user *who)
{
    str kind = jv_str(jv_at(subject, "kind"), STR_NONE);
    str name = jv_str(jv_at(subject, "name"), STR_NONE), rest = who->name;

    if (str_eqz(kind, "User"))
        return str_eq(name, who->name);
    if (str_eqz(kind, "Group")) {
        for (size_t i = 0; i < who->n_groups; i++)
            if (str_eq(who->groups[i], name))
                return true;
        return false;
    }
    static const str prefix = S_INIT("system:serviceaccount:");
    if (!str_eqz(kind, "ServiceAccount") || !str_starts(rest, prefix))
        return false;
    rest = str_sub(rest, prefix.n, rest.n);
    str of = jv_str(jv_at(subject, "namespace"), ns);
    return str_eq(str_cut(&rest, ':'), of) && str_eq(rest, name);
}

static bool is_of(jv binding, const struct api_user *who)
{
    JV_EACH (it, jv_at(binding, "subjects"))
        if (rbac_is_subject(it.value, meta_namespace(binding), who))
            return true;
    return false;
}

static jv role_of(struct api *api, struct arena *a, jv binding)
{
    jv ref = jv_at(binding, "roleRef");
    bool wide = str_eqz(jv_str(jv_at(ref, "kind"), STR_NONE), "ClusterRole");
    str name = jv_str(jv_at(ref, "name"), STR_NONE);
    struct resource *res =
        registry_find(&api->registry, group, S("v1"), wide ? S("clusterroles") : S("roles"));
    struct store_obj *o =
        store_get(res->coll, resource_key(a, res, wide ? STR_NONE : meta_namespace(binding), name));

    return o ? resource_parse_value(a, res, o->value) : JV_ABSENT;
}

/* Goes through the rules of whoever has them by these bindings, until one is what is looked for. */
static bool any_rule(struct api *api, const char *plural, str prefix, const struct api_user *who,
                     rbac_visit *visit, void *ctx)
{
    struct resource *res = registry_find(&api->registry, group, S("v1"), str_of(plural));

    for (struct store_obj *o = store_seek(res->coll, prefix); o && str_starts(o->key, prefix);
         o = store_next(res->coll, o)) {
        AUTO(arena) struct arena *a = arena_new();
        jv binding = resource_parse_value(a, res, o->value);
        if (!is_of(binding, who))
            continue;
        jv rules = jv_at(role_of(api, a, binding), "rules");
        JV_EACH (it, rules)
            if (visit(ctx, it.value))
                return true;
    }
    return false;
}

bool rbac_any_rule(struct api *api, const struct api_user *who, str ns, rbac_visit *visit,
                   void *ctx)
{
    AUTO(arena) struct arena *a = arena_new();

    if (any_rule(api, "clusterrolebindings", STR_NONE, who, visit, ctx))
        return true;
    return ns.n && any_rule(api, "rolebindings", arena_printf(a, "%" PRI_STR "/", STR_ARG(ns)), who,
                            visit, ctx);
}

static bool allows(void *ctx, jv rule)
{
    return rbac_rule_allows(rule, ctx);
}

bool rbac_allows(struct api *api, const struct api_user *who, const struct access *what)
{
    struct access w = *what;

    return rbac_any_rule(api, who, what->on_resource ? what->ns : STR_NONE, allows, &w);
}
