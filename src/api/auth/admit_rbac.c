/* Nobody hands on more than they have: who writes a role must hold what it allows, and who binds
 * one what that allows, unless they were given the verbs "escalate" and "bind". */

#include "api/admit.h"
#include "api/auth/access.h"
#include "kube/meta.h"

static const str group = S_INIT("rbac.authorization.k8s.io");

/* What a rule allows, one of each, all of its verbs. */
struct part {
    bool on_resource;
    str group, resource, name, path;
};

static void quote(struct buf *b, const char *member, str word)
{
    buf_printf(b, "%s:[\"%" PRI_STR "\"], ", member, STR_ARG(word));
}

/* One line for what is missing, as kube-apiserver words it. */
static void miss(struct buf *b, const struct part *p, jv verbs)
{
    bool first = true;

    buf_add(b, S("\n{"));
    if (p->on_resource) {
        quote(b, "APIGroups", p->group);
        quote(b, "Resources", p->resource);
        if (p->name.n)
            quote(b, "ResourceNames", p->name);
    } else {
        quote(b, "NonResourceURLs", p->path);
    }
    buf_add(b, S("Verbs:["));
    for (struct jv_iter it = jv_iter(verbs); jv_next(&it); first = false)
        buf_printf(b, "%s\"%" PRI_STR "\"", first ? "" : " ", STR_ARG(jv_str(it.value, STR_NONE)));
    buf_add(b, S("]}"));
}

/* Held by words: "*" is held by who has "*". */
static void check_part(struct api_req *r, const struct part *p, jv verbs, struct buf *missing)
{
    struct jbuild lacks = jb_arr(r->a);
    str sub = p->resource, head = str_cut(&sub, '/');

    JV_EACH (it, verbs) {
        struct access what = { .on_resource = p->on_resource,
                               .verb = jv_str(it.value, STR_NONE),
                               .group = p->group,
                               .resource = head,
                               .sub = sub,
                               .ns = r->ns,
                               .name = p->name,
                               .path = p->path };
        if (!access_allowed(r->api, &r->user, &what))
            jb_push(&lacks, it.value);
    }
    jv left = jb_done(&lacks);
    if (jv_len(left))
        miss(missing, p, left);
}

static void check_rule(struct api_req *r, jv rule, struct buf *missing)
{
    jv verbs = jv_at(rule, "verbs"), names = jv_at(rule, "resourceNames");

    JV_EACH (u, jv_at(rule, "nonResourceURLs"))
        check_part(r, &(struct part){ .path = jv_str(u.value, STR_NONE) }, verbs, missing);
    JV_EACH (g, jv_at(rule, "apiGroups"))
        JV_EACH (k, jv_at(rule, "resources")) {
            struct part p = { .on_resource = true,
                              .group = jv_str(g.value, STR_NONE),
                              .resource = jv_str(k.value, STR_NONE) };
            if (!jv_len(names))
                check_part(r, &p, verbs, missing);
            JV_EACH (n, names) {
                p.name = jv_str(n.value, STR_NONE);
                check_part(r, &p, verbs, missing);
            }
        }
}

static int check_rules(struct api_req *r, str name, jv rules)
{
    AUTO(buf) struct buf missing = { 0 };
    AUTO(buf) struct buf groups = { 0 };

    JV_EACH (it, rules)
        check_rule(r, it.value, &missing);
    if (!missing.n)
        return 0;
    for (size_t i = 0; i < r->user.n_groups; i++)
        buf_printf(&groups, "%s\"%" PRI_STR "\"", i ? " " : "", STR_ARG(r->user.groups[i]));
    fail_forbidden(r, name,
                   "user \"%" PRI_STR "\" (groups=[%" PRI_STR "]) is attempting to grant RBAC "
                   "permissions not currently held:%" PRI_STR,
                   STR_ARG(r->user.name), STR_ARG(buf_str(&groups)), STR_ARG(buf_str(&missing)));
    return -1;
}

static bool may(struct api_req *r, const char *verb, str resource, str name)
{
    struct access what = { .on_resource = true,
                           .verb = str_of(verb),
                           .group = group,
                           .resource = resource,
                           .ns = r->ns,
                           .name = name };

    return access_allowed(r->api, &r->user, &what);
}

static int check_binding(struct api_req *r, jv binding)
{
    jv ref = jv_at(binding, "roleRef");
    bool wide = str_eqz(jv_str(jv_at(ref, "kind"), STR_NONE), "ClusterRole");
    str plural = wide ? S("clusterroles") : S("roles"), name = jv_str(jv_at(ref, "name"), STR_NONE);
    struct resource *res = registry_find(&r->api->registry, group, S("v1"), plural);

    if (may(r, "bind", plural, name))
        return 0;
    struct store_obj *o =
        store_get(res->coll, resource_key(r->a, res, wide ? STR_NONE : r->ns, name));
    if (!o) {
        fail_not_found(r, r->res, name); /* so kube-apiserver puts it */
        return -1;
    }
    return check_rules(r, meta_name(binding),
                       jv_at(resource_parse_value(r->a, res, o->value), "rules"));
}

int admit_grant(struct api_req *r, jv obj, jv live)
{
    if (!r->res->builtin || !str_eq(r->res->group, group) || r->sub.n)
        return 0;
    if (str_ends(r->res->plural, S("bindings")))
        return jv_equal(jv_at(obj, "roleRef"), jv_at(live, "roleRef")) &&
                       jv_equal(jv_at(obj, "subjects"), jv_at(live, "subjects"))
                   ? 0
                   : check_binding(r, obj);
    if (jv_equal(jv_at(obj, "rules"), jv_at(live, "rules")) ||
        may(r, "escalate", r->res->plural, meta_name(obj)))
        return 0;
    return check_rules(r, meta_name(obj), jv_at(obj, "rules"));
}
