/* The options of a deletion: from the body of its request, or, without one, from the query. */

#include "api/decode.h"
#include "api/delete.h"
#include "builtin/types/types.h"

bool delete_has_body(const struct api_req *r)
{
    return (r->verb == VERB_DELETE || r->verb == VERB_DELETE_COLLECTION) &&
           str_trim(http_body(r->http)).n > 0;
}

static int check_policy(struct api_req *r, str policy, bool orphan_given, bool orphan,
                        enum propagation *out)
{
    static const char *const known[] = { "Foreground", "Background", "Orphan", "nil", NULL };
    struct problems ps = { .a = r->a };
    struct path p = path_field(NULL, S("propagationPolicy"));

    *out = str_eqz(policy, "Foreground")   ? PROPAGATE_FOREGROUND
           : str_eqz(policy, "Background") ? PROPAGATE_BACKGROUND
           : str_eqz(policy, "Orphan")     ? PROPAGATE_ORPHAN
           : orphan_given                  ? (orphan ? PROPAGATE_ORPHAN : PROPAGATE_BACKGROUND)
                                           : PROPAGATE_DEFAULT;
    if (policy.n && orphan_given)
        problem_invalid(&ps, &p, jstr(r->a, policy),
                        "orphanDependents and deletionPropagation cannot be both set");
    else if (policy.n && *out == PROPAGATE_DEFAULT)
        problem_not_supported(&ps, &p, jstr(r->a, policy), known);
    if (!ps.n)
        return 0;
    fail_invalid(r, S("DeleteOptions"), S("meta.k8s.io"), STR_NONE, &ps);
    return -1;
}

static jv parse_protobuf(struct api_req *r, const struct body_type *t, struct err *e)
{
    struct protobuf_body body;

    return protobuf_open(http_body(r->http), &body, e) < 0 ? JV_ABSENT
                                                           : body_from_protobuf(r->a, t, &body, e);
}

/* The body in its form, not yet decoded. */
static int parse_form(struct api_req *r, jv *out)
{
    static const struct body_type type = { S_INIT("DeleteOptions"),
                                           { NULL, 0 },
                                           &meta_DeleteOptions };
    struct strict s = { 0 };
    struct err e = { 0 };

    switch (body_form(r)) {
    case BODY_YAML:
        return body_parse(r, &type, &s, out);
    case BODY_PROTOBUF:
        *out = parse_protobuf(r, &type, &e);
        break;
    case BODY_JSON:
        *out = json_parse(r->a, http_body(r->http), NULL, &e);
        if (!jv_exists(*out))
            err_wrap(&e, "couldn't get version/kind; json parse error");
        break;
    case BODY_UNKNOWN:
        body_refuse_form(r, false);
        return -1;
    }
    if (jv_exists(*out))
        return 0;
    fail_plain(r, 500, "%s", e.msg);
    return -1;
}

static int parse_body(struct api_req *r, jv *out)
{
    struct err e = { 0 };
    jv v;

    if (!delete_has_body(r)) {
        *out = JV_EMPTY_OBJ;
        return 0;
    }
    if (parse_form(r, &v) < 0)
        return -1;
    str kind = jv_str(jv_at(v, "kind"), S("DeleteOptions"));
    if (!str_eqz(kind, "DeleteOptions")) {
        fail_plain(r, 500,
                   "no kind \"%" PRI_STR "\" is registered for version \"%" PRI_STR
                   "\" in scheme \"pkg/runtime/scheme.go:110\"",
                   STR_ARG(kind), STR_ARG(jv_str(jv_at(v, "apiVersion"), S("v1"))));
        return -1;
    }
    *out = schema_decode(r->a, &meta_DeleteOptions, v, NULL, &e);
    if (jv_exists(*out))
        return 0;
    fail_plain(r, 500, "%s", e.msg);
    return -1;
}

int delete_read_options(struct api_req *r, struct delete_opts *o)
{
    static const char *const jobs[] = { "jobs.batch", NULL };
    jv v;

    if (parse_body(r, &v) < 0)
        return -1;
    bool in_body = delete_has_body(r);
    str policy = in_body ? jv_str(jv_at(v, "propagationPolicy"), STR_NONE) : r->q.propagation;
    bool orphan_given = in_body ? jv_exists(jv_at(v, "orphanDependents")) : r->q.orphan_given;
    bool orphan = in_body ? jv_bool(jv_at(v, "orphanDependents"), false) : r->q.orphan;
    int64_t grace = in_body ? jv_int(jv_at(v, "gracePeriodSeconds"), -1) : r->q.grace_s;
    bool grace_given = in_body ? jv_exists(jv_at(v, "gracePeriodSeconds")) : r->q.grace_given;

    JV_EACH (it, jv_at(v, "dryRun")) {
        if (str_eqz(jv_str(it.value, STR_NONE), "All")) {
            r->q.dry_run = true;
            continue;
        }
        static const char *const all[] = { "All", NULL };
        struct problems ps = { .a = r->a };
        problem_not_supported(&ps, ROOT("dryRun"), jv_at(v, "dryRun"), all);
        fail_invalid(r, S("DeleteOptions"), S("meta.k8s.io"), STR_NONE, &ps);
        return -1;
    }
    o->grace_s = !grace_given ? -1 : grace < 0 ? 1 : grace;
    o->uid = jv_str(jv_at(v, "preconditions", "uid"), STR_NONE);
    o->resource_version = jv_str(jv_at(v, "preconditions", "resourceVersion"), STR_NONE);
    if (!policy.n && !orphan_given && resource_is_one_of(r->res, jobs))
        request_warn(r, "child pods are preserved by default when jobs are deleted; set "
                        "propagationPolicy=Background to remove them or set "
                        "propagationPolicy=Orphan to suppress this warning");
    return check_policy(r, policy, orphan_given, orphan, &o->propagation);
}
