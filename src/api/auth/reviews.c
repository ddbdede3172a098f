/* Authentication and authorisation reviews. */

#include "api/auth/reviews.h"

#include "api/auth/access.h"
#include "api/auth/tokens.h"
#include "api/strategy.h"
#include "api/subresource.h"
#include "kube/meta.h"

#include <openssl/crypto.h>

static const struct path spec_path = { NULL, S_INIT("spec"), -1 };

static void answer(struct api_req *r, jv review, jv status)
{
    answer_object(r, 201, jv_with_key(r->a, review, S("status"), status));
}

static int check_access(struct api_req *r, jv review, bool self)
{
    struct problems ps = { .a = r->a };
    jv spec = jv_at(review, "spec");
    jv resource = jv_at(spec, "resourceAttributes");
    jv path = jv_at(spec, "nonResourceAttributes");
    struct path p_res = path_field(&spec_path, S("resourceAttributes"));

    if (jv_exists(resource) && jv_exists(path))
        problem_invalid(
            &ps, AT(&spec_path, "nonResourceAttributes"),
            jobj(r->a, { "Path", jv_at(path, "path") }, { "Verb", jv_at(path, "verb") }),
            "cannot be specified in combination with resourceAttributes");
    if (!jv_exists(resource) && !jv_exists(path))
        problem_invalid(
            &ps, &p_res, JV_ABSENT,
            "exactly one of nonResourceAttributes or resourceAttributes must be specified");
    if (!self && !jv_str(jv_at(spec, "user"), STR_NONE).n && !jv_len(jv_at(spec, "groups")))
        problem_invalid(&ps, AT(&spec_path, "user"), jstrz(r->a, ""),
                        "at least one of user or group must be specified");
    if (r->ns.n && !str_eq(jv_str(jv_at(resource, "namespace"), STR_NONE), r->ns))
        problem_invalid(&ps, AT(&p_res, "namespace"), jv_at(resource, "namespace"),
                        "must match metadata.namespace");
    if (!ps.n)
        return 0;
    fail_invalid(r, STR_NONE, r->res->group, STR_NONE, &ps);
    return -1;
}

static struct access access_of(jv spec)
{
    jv on = jv_at(spec, "resourceAttributes");
    jv path = jv_at(spec, "nonResourceAttributes");

    return (struct access){ .on_resource = jv_exists(on),
                            .verb = jv_str(jv_at(jv_exists(on) ? on : path, "verb"), STR_NONE),
                            .group = jv_str(jv_at(on, "group"), STR_NONE),
                            .resource = jv_str(jv_at(on, "resource"), STR_NONE),
                            .sub = jv_str(jv_at(on, "subresource"), STR_NONE),
                            .ns = jv_str(jv_at(on, "namespace"), STR_NONE),
                            .name = jv_str(jv_at(on, "name"), STR_NONE),
                            .path = jv_str(jv_at(path, "path"), STR_NONE) };
}

static void access_review(struct api_req *r, jv review, bool self)
{
    if (check_access(r, review, self) < 0)
        return;
    struct access what = access_of(jv_at(review, "spec"));
    jv list = jv_at(review, "spec", "groups");
    str *groups = ARENA_ARRAY(r->a, str, jv_len(list) + 1);
    size_t n = 0;
    JV_EACH (it, list)
        groups[n++] = jv_str(it.value, STR_NONE);
    struct api_user other = { .name = jv_str(jv_at(review, "spec", "user"), STR_NONE),
                              .groups = groups,
                              .n_groups = n };
    bool allowed = access_allowed(r->api, self ? &r->user : &other, &what);
    answer(r, review, jobj(r->a, { "allowed", jbool(allowed) }));
}

static void rules_review(struct api_req *r, jv review)
{
    str ns = jv_str(jv_at(review, "spec", "namespace"), STR_NONE);

    if (ns.n)
        answer(r, jv_with(r->a, review, JV_EMPTY_OBJ, "spec"), access_rules(r, ns));
    else
        fail_bad_request(r, "no namespace on request");
}

static jv user_info(struct api_req *r, const struct api_user *u)
{
    struct jbuild groups = jb_arr(r->a);

    for (size_t i = 0; i < u->n_groups; i++)
        jb_push(&groups, jstr(r->a, u->groups[i]));
    return jobj(r->a, { "username", jstr(r->a, u->name) },
                { "uid", u->uid.n ? jstr(r->a, u->uid) : JV_ABSENT },
                { "groups", jb_done(&groups) }, { "extra", u->extra });
}

static void token_review(struct api_req *r, jv review)
{
    struct arena *a = r->a;
    str given = jv_str(jv_at(review, "spec", "token"), STR_NONE);
    str token = r->api->o.token;

    if (!given.n) {
        fail_bad_request(r, "token is required for TokenReview in authentication");
        return;
    }
    struct api_user who = { 0 };
    if (token_user(r->api, a, given, &who)) {
        answer(r, review,
               jobj(a, { "authenticated", JV_TRUE }, { "user", user_info(r, &who) },
                    { "audiences", jarr(a, jstrz(a, TOKENS_ISSUER)) }));
        return;
    }
    bool right = given.n == token.n && CRYPTO_memcmp(given.p, token.p, token.n) == 0;
    jv admin =
        jobj(a, { "username", jstrz(a, "muster-admin") },
             { "groups", jarr(a, jstrz(a, "system:masters"), jstrz(a, "system:authenticated")) });
    answer(r, review,
           right
               ? jobj(a, { "authenticated", JV_TRUE }, { "user", admin })
               : jobj(a, { "user", JV_EMPTY_OBJ }, { "error", jstrz(a, "invalid bearer token") }));
}

static jv with_times(struct api_req *r, jv review)
{
    return jv_with(r->a, review, time_value(r->a, wall_now_ms()), "metadata", "creationTimestamp");
}

void review_run(struct api_req *r, jv review)
{
    str kind = r->res->kind;
    struct write_ctx w = { .a = r->a,
                           .api = r->api,
                           .res = r->res,
                           .manager = query_manager(r),
                           .now_ms = wall_now_ms() };
    struct managed_write m = managed_write_of(&w);

    if (!jv_is(jv_at(review, "metadata"), JV_OBJ))
        review = jv_with_key(r->a, review, S("metadata"), JV_EMPTY_OBJ);
    if (str_eqz(kind, "SelfSubjectRulesReview")) {
        rules_review(r, review); /* the one whose answer is not what was sent */
        return;
    }
    review = managed_update(r->a, &m, JV_ABSENT, review, JV_ABSENT);
    if (str_eqz(kind, "SelfSubjectAccessReview"))
        access_review(r, review, true);
    else if (str_eqz(kind, "SubjectAccessReview") || str_eqz(kind, "LocalSubjectAccessReview"))
        access_review(r, review, false);
    else if (str_eqz(kind, "SelfSubjectReview"))
        answer(r, with_times(r, review), jobj(r->a, { "userInfo", user_info(r, &r->user) }));
    else if (str_eqz(kind, "TokenReview"))
        token_review(r, review);
    else if (str_eqz(kind, "Binding"))
        bind_pod(r, meta_name(review), review);
    else
        fail_unknown_resource(r);
}
