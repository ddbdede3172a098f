/* How registries are named, and how they ask for credentials. */

#include "image/registry.h"

#include "base/base64.h"
#include "kube/image_name.h"

#include <arpa/inet.h>

#define HUB      "registry-1.docker.io" /* where the images of docker.io are */
#define HUB_AUTH "https://index.docker.io/v1/"

/* ---- references */

/* [ADDRESS] or [ADDRESS]:PORT. */
static bool read_v6(struct arena *a, str host, struct in6_addr *out)
{
    ptrdiff_t end = host.n && host.p[0] == '[' ? str_find(host, ']') : -1;
    size_t after = (size_t)(end + 1);

    return end > 0 && (after == host.n || host.p[after] == ':') &&
           inet_pton(AF_INET6, arena_z(a, str_sub(host, 1, (size_t)end)), out) == 1;
}

static bool is_loopback(struct arena *a, str host)
{
    struct in6_addr v6;
    struct in_addr v4;

    if (read_v6(a, host, &v6))
        return IN6_IS_ADDR_LOOPBACK(&v6);
    str name = str_cut(&host, ':');
    return str_eqz(name, "localhost") ||
           (inet_pton(AF_INET, arena_z(a, name), &v4) == 1 && (ntohl(v4.s_addr) >> 24) == 127);
}

static bool is_host(struct arena *a, str first)
{
    struct in6_addr v6;

    if (first.p[0] == '[')
        return read_v6(a, first, &v6);
    if (first.p[0] == '.' || first.p[0] == ':' || str_contains(first, S("..")))
        return false;
    return str_find(first, '.') >= 0 || str_find(first, ':') >= 0 || str_eqz(first, "localhost");
}

static bool is_path(str path)
{
    for (size_t i = 0; i < path.n; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789._-/", path.p[i]) || !path.p[i])
            return false;
    return path.n && !str_contains(path, S("..")) && !str_contains(path, S("//")) &&
           path.p[0] != '/' && path.p[path.n - 1] != '/';
}

static int refuse(const char *text, struct err *e)
{
    return err_set(e, ERR_INVALID,
                   "\"%.150s\" is not the name of an image: [HOST[:PORT]/]NAME[:TAG]", text);
}

int image_ref_parse(struct arena *a, const char *text, struct image_ref *out, struct err *e)
{
    str whole = image_name_short(str_of(text)), rest = image_name_bare(whole), host = S("");
    str after = str_sub(whole, rest.n, whole.n);
    ptrdiff_t slash = str_find(rest, '/'), at = str_find(after, '@');
    struct digest d;

    *out = (struct image_ref){ .tag = S("latest") };
    if (!image_name_is_valid(whole))
        return refuse(text, e);
    if (slash > 0 && is_host(a, str_sub(rest, 0, (size_t)slash))) {
        host = str_sub(rest, 0, (size_t)slash);
        rest = str_sub(rest, (size_t)slash + 1, rest.n);
    }
    if (!is_path(rest))
        return refuse(text, e);
    out->host = arena_str(a, host.n ? host : S(HUB));
    out->auth_host = host.n ? out->host : S(HUB_AUTH);
    out->repository =
        host.n || str_find(rest, '/') >= 0 ? arena_str(a, rest) : arena_cat(a, S("library/"), rest);
    out->loopback = is_loopback(a, out->host);
    if (at >= 0) {
        out->tag = str_sub(after, (size_t)at + 1, after.n);
        if (digest_parse(out->tag, text, &d, e) < 0)
            return -1;
    } else if (after.n) {
        out->tag = str_sub(after, 1, after.n);
        if (!out->tag.n || out->tag.n > 128 || str_find(out->tag, '/') >= 0)
            return refuse(text, e);
    }
    out->name = after.n ? whole : arena_cat(a, whole, S(":latest"));
    return 0;
}

int image_url_check(struct arena *a, str url, str *origin, bool *loopback, struct err *e)
{
    bool tls = str_starts(url, S("https://"));
    str rest = str_sub(url, tls ? 8 : 7, url.n), shown = str_clip(url, 120);
    size_t n = 0;

    if (!tls && !str_starts(url, S("http://")))
        return err_set(e, ERR_INVALID, "%" PRI_STR " is not an https URL", STR_ARG(shown));
    while (n < rest.n && !strchr("/?#", rest.p[n]))
        n++;
    str host = str_sub(rest, 0, n);
    for (size_t i = 0; i < url.n; i++)
        if ((unsigned char)url.p[i] <= ' ' || (unsigned char)url.p[i] >= 127 || url.p[i] == '\\')
            return err_set(e, ERR_INVALID, "a URL has invalid characters");
    if (!host.n || str_find(host, '@') >= 0)
        return err_set(e, ERR_INVALID, "%" PRI_STR " names no host", STR_ARG(shown));
    *loopback = is_loopback(a, host);
    if (!tls && !*loopback) {
        shown = str_clip(host, 80);
        return err_set(e, ERR_FORBIDDEN,
                       "http://%" PRI_STR ": plain HTTP is only used to reach this machine",
                       STR_ARG(shown));
    }
    *origin = arena_printf(a, "http%s://%" PRI_STR, tls ? "s" : "", STR_ARG(host));
    return 0;
}

/* ---- challenges */

/* name=value or name="value"; *rest is what follows. */
static str param(struct arena *a, str *rest, str *name)
{
    AUTO(buf) struct buf b = { 0 };
    size_t i = 0;

    while (i < rest->n && strchr(" \t,", rest->p[i]) && rest->p[i])
        i++;
    size_t from = i;
    while (i < rest->n && rest->p[i] != '=' && rest->p[i] != ' ' && rest->p[i] != ',')
        i++;
    *name = str_sub(*rest, from, i);
    if (i >= rest->n || rest->p[i] != '=') {
        *rest = str_sub(*rest, i, rest->n);
        return STR_NONE;
    }
    i++;
    if (i < rest->n && rest->p[i] == '"') {
        for (i++; i < rest->n && rest->p[i] != '"'; i++) {
            if (rest->p[i] == '\\' && i + 1 < rest->n)
                i++;
            buf_addc(&b, rest->p[i]);
        }
        i++;
    } else {
        for (; i < rest->n && rest->p[i] != ',' && rest->p[i] != ' '; i++)
            buf_addc(&b, rest->p[i]);
    }
    *rest = str_sub(*rest, i, rest->n);
    return arena_str(a, b.n ? buf_str(&b) : S(""));
}

void image_challenge_parse(struct arena *a, str header, struct image_challenge *out)
{
    bool in_bearer = false;

    *out = (struct image_challenge){ .realm = S(""), .service = S(""), .scope = S("") };
    while (header.n) {
        str name, value = param(a, &header, &name);
        if (!value.p) { /* a scheme */
            in_bearer = str_eq_nocase(name, S("Bearer"));
            out->bearer |= in_bearer;
            out->basic |= str_eq_nocase(name, S("Basic"));
        } else if (in_bearer && str_eq_nocase(name, S("realm"))) {
            out->realm = value;
        } else if (in_bearer && str_eq_nocase(name, S("service"))) {
            out->service = value;
        } else if (in_bearer && str_eq_nocase(name, S("scope"))) {
            out->scope = value;
        }
    }
    out->bearer = out->bearer && out->realm.n;
}

/* ---- credentials */

/* Keys may be URLs: https://HOST/v1/. */
static bool is_for(str key, const struct image_ref *ref)
{
    str host = key;

    if (str_eq(key, ref->auth_host))
        return true;
    if (str_starts(host, S("https://")))
        host = str_sub(host, 8, host.n);
    else if (str_starts(host, S("http://")))
        host = str_sub(host, 7, host.n);
    return str_eq(str_cut(&host, '/'), ref->host);
}

int image_login_find(struct arena *a, str config, const struct image_ref *ref,
                     struct image_login *out, struct err *e)
{
    jv doc = json_parse(a, config, NULL, e);

    *out = (struct image_login){ .basic = S(""), .helper = S(""), .identity_token = S("") };
    if (!jv_exists(doc))
        return -1;
    JV_EACH (it, jv_at(doc, "auths")) {
        str auth = jv_str(jv_at(it.value, "auth"), S(""));
        if (!is_for(it.key, ref))
            continue;
        /* Beside an identity token, auth has no password. */
        out->identity_token = jv_str(jv_at(it.value, "identitytoken"), S(""));
        if (out->identity_token.n)
            return 0;
        if (!auth.n)
            continue;
        str plain = S("");
        if (base64_decode(a, auth, &plain, NULL) < 0 || str_find(plain, ':') < 0)
            return err_set(e, ERR_INVALID,
                           "auths: the entry for %" PRI_STR " is not base64 of "
                           "user:password",
                           STR_ARG(ref->host));
        out->basic = base64_encode(a, plain);
        return 0;
    }
    JV_EACH (it, jv_at(doc, "credHelpers"))
        if (is_for(it.key, ref))
            out->helper = arena_str(a, jv_str(it.value, S("")));
    if (!out->helper.n)
        out->helper = arena_str(a, jv_str(jv_at(doc, "credsStore"), S("")));
    return 0;
}
