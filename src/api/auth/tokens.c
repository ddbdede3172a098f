#include "api/auth/tokens.h"

#include "base/base64.h"
#include "kube/meta.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

enum { TOKEN_MOST = 8192, SIGNATURE = 32 };

/* ---- base64 as in URLs: without what they give a meaning to */

static str to_url(struct arena *a, str bytes)
{
    str s = base64_encode(a, bytes);
    char *p = (char *)(uintptr_t)s.p;

    for (size_t i = 0; i < s.n; i++)
        p[i] = p[i] == '+' ? '-' : p[i] == '/' ? '_' : p[i];
    while (s.n && p[s.n - 1] == '=')
        s.n--;
    return s;
}

static bool from_url(struct arena *a, str text, str *out)
{
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '+' || c == '/' || c == '=' || c == '\n' || c == '\r')
            return false;
        buf_addc(&b, c == '-' ? '+' : c == '_' ? '/' : c);
    }
    while (b.n % 4)
        buf_addc(&b, '=');
    return base64_decode(a, buf_str(&b), out, NULL) == 0;
}

static str signature(struct arena *a, str key, str text)
{
    unsigned char *sum = arena_alloc(a, EVP_MAX_MD_SIZE);
    unsigned n = 0;

    if (!HMAC(EVP_sha256(), key.p, (int)key.n, (const unsigned char *)text.p, text.n, sum, &n))
        return STR_NONE;
    return (str){ (const char *)sum, n };
}

str token_sign(struct arena *a, str key, jv claims)
{
    str head = to_url(a, S("{\"alg\":\"HS256\",\"typ\":\"JWT\"}"));
    str body = to_url(a, json_text(a, claims));
    str text = arena_printf(a, "%" PRI_STR ".%" PRI_STR, STR_ARG(head), STR_ARG(body));
    str sum = to_url(a, signature(a, key, text));

    return arena_printf(a, "%" PRI_STR ".%" PRI_STR, STR_ARG(text), STR_ARG(sum));
}

static bool audience_includes_us(jv audiences)
{
    JV_EACH (it, audiences)
        if (str_eqz(jv_str(it.value, STR_NONE), TOKENS_ISSUER))
            return true;
    return false;
}

jv token_read(struct arena *a, str key, str token, int64_t now_s)
{
    ptrdiff_t dot = str_rfind(token, '.');
    str text = str_sub(token, 0, dot < 0 ? 0 : (size_t)dot), body = text;
    str given, claims;

    if (!key.n || token.n > TOKEN_MOST || dot <= 0 ||
        !from_url(a, str_sub(token, (size_t)dot + 1, token.n), &given))
        return JV_ABSENT;
    str right = signature(a, key, text);
    if (right.n != SIGNATURE || given.n != SIGNATURE ||
        CRYPTO_memcmp(given.p, right.p, SIGNATURE) != 0)
        return JV_ABSENT;
    str_cut(&body, '.'); /* from here on it is what we wrote */
    if (!body.p || !from_url(a, body, &claims))
        return JV_ABSENT;
    jv v = json_parse(a, claims, NULL, NULL);
    if (jv_int(jv_at(v, "exp"), 0) <= now_s || jv_int(jv_at(v, "nbf"), INT64_MAX) > now_s ||
        !audience_includes_us(jv_at(v, "aud")))
        return JV_ABSENT;
    return v;
}

/* ---- who */

static bool is_there(struct api *api, struct arena *a, const char *plural, str ns, jv what)
{
    struct resource *res = registry_find(&api->registry, S(""), S("v1"), str_of(plural));
    str name = jv_str(jv_at(what, "name"), STR_NONE);
    struct store_obj *o = store_get(res->coll, resource_key(a, res, ns, name));

    return o && str_eq(meta_uid(resource_parse_value(a, res, o->value)),
                       jv_str(jv_at(what, "uid"), STR_NONE));
}

bool token_user(struct api *api, struct arena *a, str token, struct api_user *out)
{
    jv v = token_read(a, api->o.account_key, token, wall_now_ms() / 1000);
    jv about = jv_at(v, "kubernetes.io"), account = jv_at(about, "serviceaccount");
    jv pod = jv_at(about, "pod");
    str ns = jv_str(jv_at(about, "namespace"), STR_NONE);

    if (!jv_exists(v) || !is_there(api, a, "serviceaccounts", ns, account) ||
        (jv_exists(pod) && !is_there(api, a, "pods", ns, pod)))
        return false;
    str *groups = ARENA_ARRAY(a, str, 3);
    groups[0] = S("system:serviceaccounts");
    groups[1] = arena_printf(a, "system:serviceaccounts:%" PRI_STR, STR_ARG(ns));
    groups[2] = S("system:authenticated");
    *out = (struct api_user){ .name = jv_str(jv_at(v, "sub"), STR_NONE),
                              .uid = jv_str(jv_at(account, "uid"), STR_NONE),
                              .groups = groups,
                              .n_groups = 3 };
    return true;
}
