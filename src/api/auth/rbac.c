#include "api/auth/rbac.h"

#include "base/mem.h"
#include "kube/meta.h"

#include <stdlib.h>

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

/* ---- the rules that a user has, kept until a role or a binding changes */

enum { KEPT = 512 };

struct rbac {
    struct store_coll *colls[4]; /* roles and bindings */
    struct map kept;             /* struct grants by their key */
};

struct grants {
    struct arena *a; /* of the key and the rules */
    jv rules;
};

struct rbac *rbac_new(struct api *api)
{
    static const char *const plurals[] = { "roles", "clusterroles", "rolebindings",
                                           "clusterrolebindings" };
    struct rbac *b = mem_new(sizeof(*b));

    for (size_t i = 0; i < COUNT(plurals); i++)
        b->colls[i] = registry_find(&api->registry, group, S("v1"), str_of(plurals[i]))->coll;
    return b;
}

static void forget(struct rbac *b)
{
    MAP_EACH (s, &b->kept) {
        struct grants *g = s->value;
        arena_free(g->a); /* the key too */
        free(g);
    }
    map_done(&b->kept);
    b->kept = (struct map){ 0 };
}

void rbac_free(struct rbac *b)
{
    if (!b)
        return;
    forget(b);
    free(b);
}

void rbac_on_event(struct rbac *b, const struct store_coll *c)
{
    for (size_t i = 0; i < COUNT(b->colls); i++)
        if (b->colls[i] == c)
            forget(b);
}

/* By the bindings of a namespace; empty: those of the cluster. */
static jv gather(struct api *api, struct arena *keep, str ns, const struct api_user *who)
{
    struct resource *res = registry_find(&api->registry, group, S("v1"),
                                         ns.n ? S("rolebindings") : S("clusterrolebindings"));
    str prefix = ns.n ? arena_printf(keep, "%" PRI_STR "/", STR_ARG(ns)) : STR_NONE;
    struct jbuild all = jb_arr(keep);

    for (struct store_obj *o = store_seek(res->coll, prefix); o && str_starts(o->key, prefix);
         o = store_next(res->coll, o)) {
        AUTO(arena) struct arena *a = arena_new();
        jv binding = resource_parse_value(a, res, o->value);
        if (!is_of(binding, who))
            continue;
        JV_EACH (it, jv_at(role_of(api, a, binding), "rules"))
            jb_push(&all, jv_copy(keep, it.value));
    }
    return jb_done(&all);
}

/* With its length, so that no two lists of words look alike. */
static void add_word(struct buf *b, str word)
{
    buf_add(b, (str){ (const char *)&word.n, sizeof(word.n) });
    buf_add(b, word);
}

static jv rules_of(struct api *api, str ns, const struct api_user *who)
{
    AUTO(buf) struct buf key = { 0 };
    struct map *kept = &api->rbac->kept;

    add_word(&key, ns);
    add_word(&key, who->name);
    for (size_t i = 0; i < who->n_groups; i++)
        add_word(&key, who->groups[i]);
    struct grants *g = map_get(kept, buf_str(&key));
    if (g)
        return g->rules;
    if (kept->n >= KEPT)
        forget(api->rbac);
    g = mem_new(sizeof(*g));
    g->a = arena_new();
    g->rules = gather(api, g->a, ns, who);
    map_put(kept, arena_str(g->a, buf_str(&key)), g);
    return g->rules;
}

static bool any_rule(jv rules, rbac_visit *visit, void *ctx)
{
    JV_EACH (it, rules)
        if (visit(ctx, it.value))
            return true;
    return false;
}

bool rbac_any_rule(struct api *api, const struct api_user *who, str ns, rbac_visit *visit,
                   void *ctx)
{
    return any_rule(rules_of(api, STR_NONE, who), visit, ctx) ||
           (ns.n && any_rule(rules_of(api, ns, who), visit, ctx));
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
