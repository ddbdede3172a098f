/* Authorisation and impersonation. */

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

static void forbid(struct api_req *r, const struct access *w)
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
    forbid(r, &w);
    return false;
}

/* ---- in another's name */

static const str account_prefix = S_INIT("system:serviceaccount:");

/* A service account is in groups by its name. */
static size_t account_groups(struct arena *a, str user, str *out)
{
    str rest = str_sub(user, account_prefix.n, user.n);
    str ns = str_cut(&rest, ':');

    out[0] = S("system:serviceaccounts");
    out[1] = arena_printf(a, "system:serviceaccounts:%" PRI_STR, STR_ARG(ns));
    return 2;
}

bool access_impersonate(struct api_req *r)
{
    static const struct access anybody = { .on_resource = true,
                                           .verb = S_INIT("impersonate"),
                                           .resource = S_INIT("users") };
    const struct http_header *h = NULL;
    size_t n = http_headers(r->http, &h);
    str user = http_get_header(r->http, S("impersonate-user"));
    AUTO(buf) struct buf asked = { 0 };
    str *groups = ARENA_ARRAY(r->a, str, n + 3);
    size_t n_groups = 0;
    bool known = false;
    str uid = http_get_header(r->http, S("impersonate-uid"));

    for (size_t i = 0; i < n; i++)
        if (str_starts(h[i].name, S("impersonate-")) && !str_is_utf8(h[i].value)) {
            fail_bad_request(r, "the header %" PRI_STR " is not UTF-8 at byte %zu",
                             STR_ARG(h[i].name), str_utf8_prefix(h[i].value));
            return false;
        }
    for (size_t i = 0; i < n; i++)
        if (str_eqz(h[i].name, "impersonate-group")) {
            buf_printf(&asked, "%s{Group  %" PRI_STR "    }", asked.n ? " " : "",
                       STR_ARG(h[i].value));
            groups[n_groups++] = h[i].value;
            known = known || str_eqz(h[i].value, "system:authenticated");
        }
    if (uid.n)
        buf_printf(&asked, "%s{UID  %" PRI_STR "  authentication.k8s.io/v1  }", asked.n ? " " : "",
                   STR_ARG(uid));
    if (!user.n && asked.n) {
        answer_text(r->http, 500, S("text/plain; charset=utf-8"),
                    arena_printf(r->a,
                                 "Internal Server Error: \"%" PRI_STR "\": requested [%" PRI_STR
                                 "] without impersonating a user\n",
                                 STR_ARG(http_path(r->http)), STR_ARG(buf_str(&asked))));
        return false;
    }
    if (!user.n)
        return true;
    if (!access_allowed(r->api, &r->user, &anybody)) {
        struct access w = anybody;
        w.name = user;
        forbid(r, &w);
        return false;
    }
    if (!n_groups && str_starts(user, account_prefix))
        n_groups = account_groups(r->a, user, groups);
    if (!known && !str_eqz(user, "system:anonymous"))
        groups[n_groups++] = S("system:authenticated");
    r->user = (struct api_user){ user, uid, groups, n_groups };
    return true;
}
