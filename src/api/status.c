/* Status objects: the errors kube-apiserver words in its own way. */

#include "api/request.h"

jv status_new(struct arena *a, int code, str reason, str message, jv details)
{
    return jobj(a, { "kind", jstrz(a, "Status") }, { "apiVersion", jstrz(a, "v1") },
                { "metadata", JV_EMPTY_OBJ }, { "status", jstrz(a, "Failure") },
                { "message", jstr(a, message) },
                { "reason", reason.n ? jstr(a, reason) : JV_ABSENT }, { "details", details },
                { "code", jint(a, code) });
}

/* What an error is about: name, group, kind, each left out when empty. */
static jv details_of(struct arena *a, str name, str group, str kind, jv causes)
{
    return jobj(a, { "name", name.n ? jstr(a, name) : JV_ABSENT },
                { "group", group.n ? jstr(a, group) : JV_ABSENT },
                { "kind", kind.n ? jstr(a, kind) : JV_ABSENT }, { "causes", causes });
}

static void fail(struct api_req *r, enum err_code code, str message, jv details)
{
    answer_status(
        r, status_new(r->a, err_http_status(code), str_of(err_reason(code)), message, details));
}

void fail_not_found(struct api_req *r, const struct resource *res, str name)
{
    fail(r, ERR_NOT_FOUND,
         arena_printf(r->a, "%" PRI_STR " \"%" PRI_STR "\" not found", STR_ARG(res->group_resource),
                      STR_ARG(name)),
         details_of(r->a, name, res->group, res->plural, JV_ABSENT));
}

void fail_exists(struct api_req *r, str name, bool being_deleted)
{
    fail(r, ERR_EXISTS,
         arena_printf(r->a, "%s%" PRI_STR " \"%" PRI_STR "\" already exists",
                      being_deleted ? "object is being deleted: " : "",
                      STR_ARG(r->res->group_resource), STR_ARG(name)),
         details_of(r->a, name, r->res->group, r->res->plural, JV_ABSENT));
}

#define FORMAT(a, fmt, out)                    \
    do {                                       \
        va_list ap;                            \
        va_start(ap, fmt);                     \
        (out) = arena_vprintf((a), (fmt), ap); \
        va_end(ap);                            \
    } while (0)

void fail_conflict(struct api_req *r, str name, const char *fmt, ...)
{
    str text;

    FORMAT(r->a, fmt, text);
    fail(r, ERR_CONFLICT,
         arena_printf(r->a,
                      "Operation cannot be fulfilled on %" PRI_STR " \"%" PRI_STR "\": %" PRI_STR,
                      STR_ARG(r->res->group_resource), STR_ARG(name), STR_ARG(text)),
         details_of(r->a, name, r->res->group, r->res->plural, JV_ABSENT));
}

void fail_precondition(struct api_req *r, str name, const char *fmt, ...)
{
    str text;
    const struct resource *res = r->res;

    FORMAT(r->a, fmt, text);
    str what = res->group.n ? arena_printf(r->a, "%" PRI_STR ".%" PRI_STR, STR_ARG(res->kind),
                                           STR_ARG(res->group))
                            : res->kind;
    fail(r, ERR_CONFLICT,
         arena_printf(r->a,
                      "Operation cannot be fulfilled on %" PRI_STR " \"%" PRI_STR "\": %" PRI_STR,
                      STR_ARG(what), STR_ARG(name), STR_ARG(text)),
         details_of(r->a, name, res->group, res->kind, JV_ABSENT));
}

void fail_invalid(struct api_req *r, str kind, str group, str name, const struct problems *ps)
{
    struct jbuild causes = jb_arr(r->a);
    str of = group.n ? arena_printf(r->a, "%" PRI_STR ".%" PRI_STR, STR_ARG(kind), STR_ARG(group))
                     : kind;

    for (size_t i = 0; i < ps->n; i++)
        jb_push(&causes,
                jobj(r->a, { "reason", jstr(r->a, str_of(problem_reason(ps->at[i].type))) },
                     { "message", jstr(r->a, ps->at[i].message) },
                     { "field", jstr(r->a, ps->at[i].field) }));
    fail(r, ERR_INVALID,
         arena_printf(r->a, "%" PRI_STR " \"%" PRI_STR "\" is invalid: %" PRI_STR, STR_ARG(of),
                      STR_ARG(name), STR_ARG(problems_text(r->a, ps))),
         details_of(r->a, name, group, kind, ps->n ? jb_done(&causes) : JV_ABSENT));
}

void fail_bad_request(struct api_req *r, const char *fmt, ...)
{
    str text;

    FORMAT(r->a, fmt, text);
    fail(r, ERR_BAD_REQUEST, text, JV_ABSENT);
}

void fail_forbidden(struct api_req *r, str name, const char *fmt, ...)
{
    str text;

    FORMAT(r->a, fmt, text);
    fail(r, ERR_FORBIDDEN,
         arena_printf(r->a, "%" PRI_STR " \"%" PRI_STR "\" is forbidden: %" PRI_STR,
                      STR_ARG(r->res->group_resource), STR_ARG(name), STR_ARG(text)),
         details_of(r->a, name, r->res->group, r->res->plural, JV_ABSENT));
}

void fail_method(struct api_req *r)
{
    str method = http_method(r->http);
    const char *verb = str_eqz(method, "POST")     ? "create"
                       : str_eqz(method, "PUT")    ? "update"
                       : str_eqz(method, "PATCH")  ? "patch"
                       : str_eqz(method, "DELETE") ? "delete"
                                                   : "get";

    if (!r->res || !r->res->crdv) {
        fail(r, ERR_METHOD_NOT_ALLOWED,
             S("the server does not allow this method on the requested resource"), JV_EMPTY_OBJ);
        return;
    }
    fail(r, ERR_METHOD_NOT_ALLOWED,
         arena_printf(r->a, "%s is not supported on resources of kind \"%" PRI_STR "\"", verb,
                      STR_ARG(r->res->group_resource)),
         details_of(r->a, STR_NONE, r->res->group, r->res->plural, JV_ABSENT));
}

void fail_no_page(struct api_req *r)
{
    answer_text(r->http, 404, S("text/plain; charset=utf-8"), S("404 page not found\n"));
}

void fail_unknown_resource(struct api_req *r)
{
    fail(r, ERR_NOT_FOUND, S("the server could not find the requested resource"), JV_EMPTY_OBJ);
}

/* Some of kube-apiserver's errors carry no reason; clients see a plain 500. */
void fail_plain(struct api_req *r, int code, const char *fmt, ...)
{
    str text;

    FORMAT(r->a, fmt, text);
    answer_status(r, status_new(r->a, code, STR_NONE, text, JV_ABSENT));
}

void fail_code(struct api_req *r, enum err_code code, const char *fmt, ...)
{
    str text;

    FORMAT(r->a, fmt, text);
    fail(r, code, text, JV_ABSENT);
}

void fail_with(struct api_req *r, enum err_code code, str message, jv details)
{
    fail(r, code, message, details);
}

void fail_internal(struct api_req *r, const struct err *e)
{
    str text = arena_str(r->a, str_of(e->msg));
    jv cause = jobj(r->a, { "message", jstr(r->a, text) });

    fail(r, ERR_INTERNAL, arena_cat(r->a, S("Internal error occurred: "), text),
         jobj(r->a, { "causes", jarr(r->a, cause) }));
}

void answer_err(struct api_req *r, const struct err *e)
{
    fail(r, e->code, arena_str(r->a, str_of(e->msg)), JV_ABSENT);
}

void answer_patch_err(struct api_req *r, const struct err *e, str message)
{
    str text = message.n ? message : arena_str(r->a, str_of(e->msg));

    if (e->code == ERR_UNKNOWN)
        fail_plain(r, 500, "%" PRI_STR, STR_ARG(text));
    else
        fail(r, e->code, text, e->code == ERR_INVALID ? JV_EMPTY_OBJ : JV_ABSENT);
}
