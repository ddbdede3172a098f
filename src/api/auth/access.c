/* Authorisation. */

#include "api/auth/access.h"

#include "api/auth/rbac.h"
#include "api/auth/roles.h"

#include <stdlib.h>

/* ---- the rules: lists of words, "*" is any, a "*" at the end of a path whatever follows */

static const struct rule {
    const char *to; /* the group it is for */
    const char *verbs;
    const char *groups; /* NULL: a rule about paths */
    const char *resources;
    const char *paths;
} rules[] = {
    { .to = "system:masters", .verbs = "*", .groups = "*", .resources = "*" },
    { .to = "system:masters", .verbs = "*", .paths = "*" },
    { .to = "system:authenticated",
      .verbs = "create",
      .groups = "authentication.k8s.io",
      .resources = "selfsubjectreviews" },
    { .to = "system:authenticated",
      .verbs = "create",
      .groups = "authorization.k8s.io",
      .resources = "selfsubjectaccessreviews,selfsubjectrulesreviews" },
    { .to = "system:authenticated",
      .verbs = "get",
      .paths = "/api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,"
               "/version/" },
    { .to = "system:authenticated",
      .verbs = "get",
      .paths = "/healthz,/livez,/readyz,/version,/version/" },
};

static bool is_in(str word, const str *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(word, at[i]))
            return true;
    return false;
}

static bool names(const char *list, str word)
{
    str rest = str_of(list);

    while (rest.p) {
        str one = str_cut(&rest, ',');
        if (str_eq(one, word) ||
            (one.n && one.p[one.n - 1] == '*' && str_starts(word, str_sub(one, 0, one.n - 1))))
            return true;
    }
    return false;
}

static bool is_admin(const struct api_user *who)
{
    return is_in(S("system:masters"), who->groups, who->n_groups);
}

bool access_allowed(struct api *api, const struct api_user *who, const struct access *what)
{
    for (size_t i = 0; i < COUNT(rules); i++) {
        const struct rule *u = &rules[i];
        if (!is_in(str_of(u->to), who->groups, who->n_groups) || !names(u->verbs, what->verb))
            continue;
        if (what->on_resource && u->groups && names(u->groups, what->group) &&
            (names(u->resources, what->resource) && (!what->sub.n || *u->resources == '*')))
            return true;
        if (!what->on_resource && u->paths && names(u->paths, what->path))
            return true;
    }
    return !is_admin(who) && rbac_allows(api, who, what);
}

struct told {
    struct arena *a;
    struct jbuild resources, paths;
};

static bool tell_rule(void *ctx, jv rule)
{
    struct told *t = ctx;
    bool paths = jv_len(jv_at(rule, "nonResourceURLs")) > 0;

    jb_push(paths ? &t->paths : &t->resources, jv_copy(t->a, rule));
    return false;
}

jv access_rules(struct api_req *r, str ns)
{
    struct arena *a = r->a;
    struct told t = { .a = a, .resources = jb_arr(a), .paths = jb_arr(a) };

    for (size_t i = 0; i < COUNT(rules); i++) {
        const struct rule *u = &rules[i];
        if (!is_in(str_of(u->to), r->user.groups, r->user.n_groups))
            continue;
        tell_rule(&t, u->paths ? jobj(a, { "verbs", roles_words(a, u->verbs) },
                                      { "nonResourceURLs", roles_words(a, u->paths) })
                               : jobj(a, { "verbs", roles_words(a, u->verbs) },
                                      { "apiGroups", roles_words(a, u->groups) },
                                      { "resources", roles_words(a, u->resources) }));
    }
    if (!is_admin(&r->user))
        rbac_any_rule(r->api, &r->user, ns, tell_rule, &t);
    return jobj(a, { "resourceRules", jb_done(&t.resources) },
                { "nonResourceRules", jb_done(&t.paths) }, { "incomplete", JV_FALSE });
}

/* ---- what a request wants: whether there is such a thing is told only to those who may know */

static struct access wanted(const struct target *t)
{
    return (struct access){ .on_resource = t->on_resource,
                            .verb = t->verb,
                            .group = t->group,
                            .resource = t->resource,
                            .sub = t->sub,
                            .ns = t->ns,
                            .name = t->name.n ? t->name : t->selected,
                            .path = t->path };
}

void access_forbid(struct api_req *r, const struct access *w)
{
    AUTO(buf) struct buf b = { 0 };

    if (!w->on_resource) {
        buf_printf(&b, "forbidden: User \"%" PRI_STR "\" cannot %" PRI_STR " path \"%" PRI_STR "\"",
                   STR_ARG(r->user.name), STR_ARG(w->verb), STR_ARG(w->path));
        fail_with(r, ERR_FORBIDDEN, arena_str(r->a, buf_str(&b)), JV_EMPTY_OBJ);
        return;
    }
    buf_add(&b, w->resource);
    if (w->group.n)
        buf_printf(&b, ".%" PRI_STR, STR_ARG(w->group));
    if (w->name.n)
        buf_printf(&b, " \"%" PRI_STR "\"", STR_ARG(w->name));
    buf_printf(&b,
               " is forbidden: User \"%" PRI_STR "\" cannot %" PRI_STR " resource \"%" PRI_STR
               "%s%" PRI_STR "\" in API group \"%" PRI_STR "\" ",
               STR_ARG(r->user.name), STR_ARG(w->verb), STR_ARG(w->resource), w->sub.n ? "/" : "",
               STR_ARG(w->sub), STR_ARG(w->group));
    if (w->ns.n)
        buf_printf(&b, "in the namespace \"%" PRI_STR "\"", STR_ARG(w->ns));
    else
        buf_add(&b, S("at the cluster scope"));
    fail_with(r, ERR_FORBIDDEN, arena_str(r->a, buf_str(&b)),
              jobj(r->a, { "name", w->name.n ? jstr(r->a, w->name) : JV_ABSENT },
                   { "group", w->group.n ? jstr(r->a, w->group) : JV_ABSENT },
                   { "kind", jstr(r->a, w->resource) }));
}

bool access_check_verb(struct api_req *r, str verb)
{
    struct access w = wanted(&r->target);

    w.verb = verb;
    if (access_allowed(r->api, &r->user, &w))
        return true;
    access_forbid(r, &w);
    return false;
}

bool access_check(struct api_req *r)
{
    struct access w = wanted(&r->target);

    if (access_allowed(r->api, &r->user, &w))
        return true;
    /* A WebSocket begins with a GET whatever it is for: who may POST there may do that. */
    struct access post = w;
    post.verb = S("create");
    if (str_eqz(w.verb, "get") && str_eqz(w.resource, "pods") &&
        names("attach,exec,portforward", w.sub) && access_allowed(r->api, &r->user, &post))
        return true;
    access_forbid(r, &w);
    return false;
}
