/* Authentication: by the administrator's token, which lies in the data directory, by the token of a
 * service account, or by a client certificate that our CA signed. What each may do is in access.c.
 */

#include "api/auth/auth.h"

#include "api/auth/tokens.h"

#include <openssl/crypto.h>

static const str admin_groups[] = { S_INIT("system:masters"), S_INIT("system:authenticated") };

bool auth_who(struct api_req *r)
{
    struct http_identity id = http_identity(r->http);
    str header = http_get_header(r->http, S("authorization"));
    str token = r->api->o.token;

    /* in any case: Python's client in a pod writes "bearer" */
    if (header.n > 7 && str_eq_nocase(str_sub(header, 0, 7), S("Bearer "))) {
        str given = str_trim(str_sub(header, 7, header.n));
        if (token.n && given.n == token.n && CRYPTO_memcmp(given.p, token.p, token.n) == 0) {
            r->user = (struct api_user){ .name = S("muster-admin"),
                                         .groups = admin_groups,
                                         .n_groups = COUNT(admin_groups) };
            return true;
        }
        if (token_user(r->api, r->a, given, &r->user))
            return true;
    }
    if (!id.user.n)
        return false;
    str *groups = ARENA_ARRAY(r->a, str, id.n_groups + 1);
    for (size_t i = 0; i < id.n_groups; i++)
        groups[i] = id.groups[i];
    groups[id.n_groups] = S("system:authenticated");
    r->user = (struct api_user){ .name = id.user, .groups = groups, .n_groups = id.n_groups + 1 };
    return true;
}

static bool is_local_name(str host)
{
    static const char *const names[] = { "localhost", "kubernetes", "kubernetes.default",
                                         "kubernetes.default.svc" };

    for (size_t i = 0; i < COUNT(names); i++)
        if (str_eq_nocase(host, str_of(names[i])))
            return true;
    /* an address, not a name: nothing that DNS could point elsewhere */
    if (host.n && host.p[0] == '[')
        return true;
    for (size_t i = 0; i < host.n; i++)
        if ((host.p[i] < '0' || host.p[i] > '9') && host.p[i] != '.')
            return false;
    return host.n > 0;
}

bool auth_origin_is_ours(const struct http_req *h)
{
    bool browser = http_get_header(h, S("origin")).p || http_get_header(h, S("sec-fetch-mode")).p ||
                   str_starts(http_get_header(h, S("user-agent")), S("Mozilla/"));
    str host = http_host(h);

    if (!browser)
        return true;
    if (host.n && host.p[0] != '[') {
        ptrdiff_t colon = str_rfind(host, ':');
        if (colon >= 0)
            host = str_sub(host, 0, (size_t)colon);
    }
    if (!is_local_name(host))
        return false;
    str origin = http_get_header(h, S("origin"));
    if (!origin.n)
        return true;
    ptrdiff_t slashes = str_find(origin, '/');
    str rest = slashes >= 0 ? str_sub(origin, (size_t)slashes + 2, origin.n) : origin;
    return str_eq(rest, http_host(h));
}
