/* Authentication and authorisation reviews. There is one rule: system:masters may do everything,
 * nobody else anything. */

#include "api/reviews.h"

#include "api/strategy.h"
#include "api/subresource.h"
#include "kube/meta.h"

#include <openssl/crypto.h>

static const struct path spec_path = { NULL, S_INIT("spec"), -1 };

static bool is_master(jv groups)
{
    for (struct jv_iter it = jv_iter(groups); jv_next(&it);)
        if (str_eqz(jv_str(it.value, STR_NONE), "system:masters"))
            return true;
    return false;
}

static bool asker_is_master(const struct api_req *r)
{
    for (size_t i = 0; i < r->user.n_groups; i++)
        if (str_eqz(r->user.groups[i], "system:masters"))
            return true;
    return false;
}

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
    struct path p_path = path_field(&spec_path, S("nonResourceAttributes"));
    struct path p_res = path_field(&spec_path, S("resourceAttributes"));
    struct path p_ns = path_field(&p_res, S("namespace"));
    struct path p_user = path_field(&spec_path, S("user"));

    if (jv_exists(resource) && jv_exists(path))
        problem_invalid(
            &ps, &p_path,
            jobj(r->a, { "Path", jv_at(path, "path") }, { "Verb", jv_at(path, "verb") }),
            "cannot be specified in combination with resourceAttributes");
    if (!jv_exists(resource) && !jv_exists(path))
        problem_invalid(
            &ps, &p_res, JV_ABSENT,
            "exactly one of nonResourceAttributes or resourceAttributes must be specified");
    if (!self && !jv_str(jv_at(spec, "user"), STR_NONE).n && !jv_len(jv_at(spec, "groups")))
        problem_invalid(&ps, &p_user, jstrz(r->a, ""),
                        "at least one of user or group must be specified");
    if (r->ns.n && !str_eq(jv_str(jv_at(resource, "namespace"), STR_NONE), r->ns))
        problem_invalid(&ps, &p_ns, jv_at(resource, "namespace"), "must match metadata.namespace");
    if (!ps.n)
        return 0;
    fail_invalid(r, STR_NONE, r->res->group, STR_NONE, &ps);
    return -1;
}

static void access_review(struct api_req *r, jv review, bool self)
{
    if (check_access(r, review, self) < 0)
        return;
    bool allowed = self ? asker_is_master(r) : is_master(jv_at(review, "spec", "groups"));
    answer(r, review, jobj(r->a, { "allowed", jbool(allowed) }));
}

static void rules_review(struct api_req *r, jv review)
{
    struct arena *a = r->a;
    jv all = jarr(a, jstrz(a, "*"));

    if (!jv_str(jv_at(review, "spec", "namespace"), STR_NONE).n) {
        fail_bad_request(r, "no namespace on request");
        return;
    }
    bool master = asker_is_master(r);
    jv rule = jobj(a, { "verbs", all }, { "apiGroups", all }, { "resources", all });
    jv path = jobj(a, { "verbs", all }, { "nonResourceURLs", all });
    jv status = jobj(a, { "resourceRules", master ? jarr(a, rule) : JV_EMPTY_ARR },
                     { "nonResourceRules", master ? jarr(a, path) : JV_EMPTY_ARR },
                     { "incomplete", JV_FALSE });
    answer(r, jv_with(a, review, JV_EMPTY_OBJ, "spec"), status);
}

static jv user_info(struct api_req *r)
{
    struct jbuild groups = jb_arr(r->a);

    for (size_t i = 0; i < r->user.n_groups; i++)
        jb_push(&groups, jstr(r->a, r->user.groups[i]));
    return jobj(r->a, { "username", jstr(r->a, r->user.name) }, { "groups", jb_done(&groups) });
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

    if (!jv_is(jv_at(review, "metadata"), JV_OBJ))
        review = jv_with_key(r->a, review, S("metadata"), JV_EMPTY_OBJ);
    if (str_eqz(kind, "SelfSubjectAccessReview"))
        access_review(r, review, true);
    else if (str_eqz(kind, "SubjectAccessReview") || str_eqz(kind, "LocalSubjectAccessReview"))
        access_review(r, review, false);
    else if (str_eqz(kind, "SelfSubjectRulesReview"))
        rules_review(r, review);
    else if (str_eqz(kind, "SelfSubjectReview"))
        answer(r, with_times(r, review), jobj(r->a, { "userInfo", user_info(r) }));
    else if (str_eqz(kind, "TokenReview"))
        token_review(r, review);
    else if (str_eqz(kind, "Binding"))
        bind_pod(r, meta_name(review), review);
    else
        fail_unknown_resource(r);
}
