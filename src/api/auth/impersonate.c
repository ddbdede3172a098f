/* Impersonation, as kube-apiserver: each header is a question of its own, "may the caller
 * impersonate that?", about users, serviceaccounts of a namespace, groups, uids or userextras. */

#include "api/auth/access.h"
#include "base/url.h"
#include "kube/names.h"

static const str account_prefix = S_INIT("system:serviceaccount:");
static const str extra_prefix = S_INIT("impersonate-extra-");
static const str authn_group = S_INIT("authentication.k8s.io");

/* Whether that is the user name of a service account. */
static bool split_account(str user, str *ns, str *name)
{
    str rest = str_sub(user, account_prefix.n, user.n);

    if (!str_starts(user, account_prefix))
        return false;
    *ns = str_cut(&rest, ':');
    *name = rest;
    return rest.p && name_ok(*ns, name_dns1123_label) && name_ok(*name, name_dns1123_subdomain);
}

/* What is asked for, in the order of kube-apiserver. */
struct wish {
    struct access *at;
    size_t n;
};

static void wish_add(struct wish *w, str group, str resource, str name)
{
    w->at[w->n++] = (struct access){ .on_resource = true,
                                     .verb = S("impersonate"),
                                     .group = group,
                                     .resource = resource,
                                     .name = name };
}

static str extra_key(struct arena *a, str header)
{
    str raw = str_sub(header, extra_prefix.n, header.n), key;

    return url_decode(a, raw, &key, NULL) < 0 ? raw : name_lower(a, key);
}

static struct wish read_headers(struct api_req *r)
{
    const struct http_header *h = NULL;
    size_t n = http_headers(r->http, &h);
    str user = http_get_header(r->http, S("impersonate-user"));
    str uid = http_get_header(r->http, S("impersonate-uid")), ns, name;
    struct wish w = { .at = ARENA_ARRAY(r->a, struct access, n + 1) };

    if (split_account(user, &ns, &name)) {
        wish_add(&w, STR_NONE, S("serviceaccounts"), name);
        w.at[0].ns = ns;
    } else if (user.n) {
        wish_add(&w, STR_NONE, S("users"), user);
    }
    for (size_t i = 0; i < n; i++)
        if (str_eqz(h[i].name, "impersonate-group"))
            wish_add(&w, STR_NONE, S("groups"), h[i].value);
    for (size_t i = 0; i < n; i++)
        if (str_starts(h[i].name, extra_prefix)) {
            wish_add(&w, authn_group, S("userextras"), h[i].value);
            w.at[w.n - 1].sub = extra_key(r->a, h[i].name);
        }
    if (uid.n)
        wish_add(&w, authn_group, S("uids"), uid);
    return w;
}

static bool is_text(struct api_req *r)
{
    const struct http_header *h = NULL;
    size_t n = http_headers(r->http, &h);

    for (size_t i = 0; i < n; i++)
        if (str_starts(h[i].name, S("impersonate-")) && !str_is_utf8(h[i].value)) {
            fail_bad_request(r, "the header %" PRI_STR " is not UTF-8 at byte %zu",
                             STR_ARG(h[i].name), str_utf8_prefix(h[i].value));
            return false;
        }
    return true;
}

/* Answered in the words of kube-apiserver, which lists the references it made of the headers. */
static void refuse_without_user(struct api_req *r, const struct wish *w)
{
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; i < w->n; i++) {
        const struct access *x = &w->at[i];
        bool group = str_eqz(x->resource, "groups"), extra = str_eqz(x->resource, "userextras");
        buf_printf(&b, "%s{%s  %" PRI_STR "  %s  %" PRI_STR "}", i ? " " : "",
                   group   ? "Group"
                   : extra ? "UserExtra"
                           : "UID",
                   STR_ARG(x->name), group ? "" : "authentication.k8s.io/v1", STR_ARG(x->sub));
    }
    answer_text(r->http, 500, S("text/plain; charset=utf-8"),
                arena_printf(r->a,
                             "Internal Server Error: \"%" PRI_STR "\": requested [%" PRI_STR
                             "] without impersonating a user\n",
                             STR_ARG(http_path(r->http)), STR_ARG(buf_str(&b))));
}

static bool has_group(const struct api_user *u, str group)
{
    for (size_t i = 0; i < u->n_groups; i++)
        if (str_eq(u->groups[i], group))
            return true;
    return false;
}

static jv with_extra(struct arena *a, jv extra, str key, str value)
{
    struct jbuild list = jb_from(a, jv_get(extra, key));

    if (!jv_exists(jv_get(extra, key)))
        list = jb_arr(a);
    jb_push(&list, jstr(a, value));
    return jv_with_key(a, jv_exists(extra) ? extra : JV_EMPTY_OBJ, key, jb_done(&list));
}

/* Who that is: groups that were not named follow from the kind of user. */
static struct api_user user_of(struct api_req *r, const struct wish *w)
{
    static const str authenticated = S_INIT("system:authenticated");
    static const str unauthenticated = S_INIT("system:unauthenticated");
    str *groups = ARENA_ARRAY(r->a, str, w->n + 3);
    struct api_user u = { .name = http_get_header(r->http, S("impersonate-user")),
                          .groups = groups };

    for (size_t i = 0; i < w->n; i++) {
        const struct access *x = &w->at[i];
        if (str_eqz(x->resource, "groups"))
            groups[u.n_groups++] = x->name;
        else if (str_eqz(x->resource, "uids"))
            u.uid = x->name;
        else if (str_eqz(x->resource, "userextras"))
            u.extra = with_extra(r->a, u.extra, x->sub, x->name);
    }
    if (!u.n_groups && str_eqz(w->at[0].resource, "serviceaccounts")) {
        groups[u.n_groups++] = S("system:serviceaccounts");
        groups[u.n_groups++] =
            arena_printf(r->a, "system:serviceaccounts:%" PRI_STR, STR_ARG(w->at[0].ns));
    }
    bool anonymous = str_eqz(u.name, "system:anonymous");
    if (!has_group(&u, unauthenticated) && (anonymous || !has_group(&u, authenticated)))
        groups[u.n_groups++] = anonymous ? unauthenticated : authenticated;
    return u;
}

bool access_impersonate(struct api_req *r)
{
    if (!is_text(r))
        return false;
    struct wish w = read_headers(r);
    if (!w.n)
        return true;
    if (!http_get_header(r->http, S("impersonate-user")).n) {
        refuse_without_user(r, &w);
        return false;
    }
    for (size_t i = 0; i < w.n; i++)
        if (!access_allowed(r->api, &r->user, &w.at[i])) {
            access_forbid(r, &w.at[i]);
            return false;
        }
    r->user = user_of(r, &w);
    return true;
}
