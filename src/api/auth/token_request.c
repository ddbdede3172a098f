/* serviceaccounts/token: a token for an account, for a while, perhaps as long as a pod lives. */

#include "api/auth/tokens.h"
#include "api/decode.h"
#include "base/time.h"
#include "builtin/types/types.h"
#include "kube/meta.h"
#include "kube/problem.h"

enum { LEAST_S = 600, DEFAULT_S = 3600, MOST_S = 365 * 24 * 3600 };

static struct store_obj *stored(struct api_req *r, const char *plural, str name, jv *out)
{
    struct resource *res = registry_find(&r->api->registry, S(""), S("v1"), str_of(plural));
    struct store_obj *o = store_get(res->coll, resource_key(r->a, res, r->ns, name));

    *out = o ? resource_parse_value(r->a, res, o->value) : JV_ABSENT;
    return o;
}

static int check(struct api_req *r, jv spec, int64_t *seconds)
{
    static const struct path at = { NULL, S_INIT("spec"), -1 };
    struct path p = path_field(&at, S("expirationSeconds"));
    struct problems ps = { .a = r->a };

    *seconds = jv_int(jv_at(spec, "expirationSeconds"), DEFAULT_S);
    if (*seconds < LEAST_S)
        problem_invalid(&ps, &p, jint(r->a, *seconds),
                        "may not specify a duration less than 10 minutes");
    else if (*seconds > INT64_C(1) << 32)
        problem_invalid(&ps, &p, jint(r->a, *seconds),
                        "may not specify a duration larger than 2^32 seconds");
    if (*seconds > MOST_S)
        *seconds = MOST_S;
    if (!ps.n)
        return 0;
    fail_invalid(r, S("TokenRequest"), S("authentication.k8s.io"), STR_NONE, &ps);
    return -1;
}

/* What the token is bound to; absent: nothing. -1: answered. */
static int bound(struct api_req *r, jv spec, jv *pod)
{
    jv ref = jv_at(spec, "boundObjectRef");
    str kind = jv_str(jv_at(ref, "kind"), STR_NONE);
    str name = jv_str(jv_at(ref, "name"), STR_NONE), uid = jv_str(jv_at(ref, "uid"), STR_NONE);
    struct resource *pods = registry_find(&r->api->registry, S(""), S("v1"), S("pods"));
    jv obj;

    *pod = JV_ABSENT;
    if (!jv_is(ref, JV_OBJ))
        return 0;
    if (!str_eqz(kind, "Pod")) {
        fail_bad_request(r, "cannot bind token to object of type %" PRI_STR ": only to a Pod",
                         STR_ARG(kind));
        return -1;
    }
    if (!stored(r, "pods", name, &obj)) {
        fail_not_found(r, pods, name);
        return -1;
    }
    if (uid.n && !str_eq(uid, meta_uid(obj))) {
        fail_conflict(r, name,
                      "the UID in the bound object reference (%" PRI_STR
                      ") does not match the UID in record. The object might have been deleted and "
                      "then recreated",
                      STR_ARG(uid));
        return -1;
    }
    str account = jv_str(jv_at(obj, "spec", "serviceAccountName"), STR_NONE);
    if (!str_eq(account, r->name)) {
        fail_bad_request(r,
                         "cannot bind token for serviceaccount \"%" PRI_STR
                         "\" to pod running with different serviceaccount name.",
                         STR_ARG(r->name));
        return -1;
    }
    *pod = jobj(r->a, { "name", jstr(r->a, name) }, { "uid", jstr(r->a, meta_uid(obj)) });
    return 0;
}

static jv claims(struct api_req *r, jv account, jv audiences, jv pod, int64_t seconds)
{
    struct arena *a = r->a;
    int64_t now = wall_now_ms() / 1000;
    char *id = arena_alloc(a, 37);
    jv who = jobj(a, { "name", jstr(a, r->name) }, { "uid", jstr(a, meta_uid(account)) });

    random_uuid(id);
    return jobj(a, { "aud", audiences }, { "exp", jint(a, now + seconds) }, { "iat", jint(a, now) },
                { "iss", jstrz(a, TOKENS_ISSUER) }, { "jti", jstr(a, str_of(id)) },
                { "kubernetes.io", jobj(a, { "namespace", jstr(a, r->ns) }, { "pod", pod },
                                        { "serviceaccount", who }) },
                { "nbf", jint(a, now) },
                { "sub", jstr(a, arena_printf(a, "system:serviceaccount:%" PRI_STR ":%" PRI_STR,
                                              STR_ARG(r->ns), STR_ARG(r->name))) });
}

void token_request_run(struct api_req *r)
{
    struct arena *a = r->a;
    str key = r->api->o.account_key;
    jv request, account, pod;
    int64_t seconds;

    if (!key.n) {
        fail_code(r, ERR_NOT_IMPLEMENTED, "this server does not issue tokens for service accounts");
        return;
    }
    if (body_typed(r, S("TokenRequest"), S("authentication.k8s.io"), S("v1"), &authn_TokenRequest,
                   &request) < 0)
        return;
    if (!stored(r, "serviceaccounts", r->name, &account)) {
        fail_not_found(r, r->res, r->name);
        return;
    }
    jv spec = jv_at(request, "spec"), audiences = jv_at(spec, "audiences");
    if (check(r, spec, &seconds) < 0 || bound(r, spec, &pod) < 0)
        return;
    if (!jv_len(audiences))
        audiences = jarr(a, jstrz(a, TOKENS_ISSUER));
    jv told = claims(r, account, audiences, pod, seconds);
    jv status = jobj(
        a, { "expirationTimestamp", jstr(a, time_text(a, jv_int(jv_at(told, "exp"), 0) * 1000)) },
        { "token", jstr(a, token_sign(a, key, told)) });
    jv meta = jobj(a, { "name", jstr(a, r->name) }, { "namespace", jstr(a, r->ns) },
                   { "creationTimestamp", jstr(a, time_text(a, wall_now_ms())) });
    spec =
        jv_with(a, jv_with(a, spec, audiences, "audiences"), jint(a, seconds), "expirationSeconds");
    answer_json(r, 201,
                jobj(a, { "kind", jstrz(a, "TokenRequest") },
                     { "apiVersion", jstrz(a, "authentication.k8s.io/v1") }, { "metadata", meta },
                     { "spec", spec }, { "status", status }));
}
