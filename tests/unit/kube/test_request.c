/* Requests as paths, answers as errors. */

#include "kube/api.h"
#include "tap.h"

static const struct kube_resource pods = { "", "v1", "pods", "Pod", false };
static const struct kube_resource nodes = { "", "v1", "nodes", "Node", true };
static const struct kube_resource tfjobs = { "kubeflow.org", "v1", "tfjobs", "TFJob", false };

static void paths_have_what_the_verb_needs(void)
{
    AUTO(arena) struct arena *a = arena_new();
    static const struct {
        const char *what;
        struct kube_request r;
        const char *method;
        const char *path;
    } rows[] = {
        { "a get",
          { .verb = KUBE_GET, .res = &pods, .ns = S_INIT("a"), .name = S_INIT("b") },
          "GET",
          "/api/v1/namespaces/a/pods/b" },
        { "a get of what is in no namespace, whatever is said",
          { .verb = KUBE_GET, .res = &nodes, .ns = S_INIT("a"), .name = S_INIT("b") },
          "GET",
          "/api/v1/nodes/b" },
        { "a page of a list",
          { .verb = KUBE_LIST,
            .res = &tfjobs,
            .labels = S_INIT("a/b=c,d!=e"),
            .fields = S_INIT("x=y"),
            .version = S_INIT("0"),
            .limit = 500 },
          "GET",
          "/apis/kubeflow.org/v1/tfjobs?labelSelector=a%2Fb%3Dc%2Cd%21%3De&fieldSelector=x%3Dy"
          "&limit=500&resourceVersion=0" },
        { "the next page has no version of its own",
          { .verb = KUBE_LIST, .res = &pods, .version = S_INIT("7"), .cont = S_INIT("e+/=") },
          "GET",
          "/api/v1/pods?continue=e%2B%2F%3D" },
        { "a watch asks for bookmarks",
          { .verb = KUBE_WATCH,
            .res = &pods,
            .ns = S_INIT("a"),
            .version = S_INIT("12"),
            .timeout_ms = 1500 },
          "GET",
          "/api/v1/namespaces/a/pods?watch=true&allowWatchBookmarks=true&timeoutSeconds=2"
          "&resourceVersion=12" },
        { "a watch of one object",
          { .verb = KUBE_WATCH, .res = &pods, .name = S_INIT("p"), .fields = S_INIT("a=b") },
          "GET",
          "/api/v1/pods?watch=true&allowWatchBookmarks=true"
          "&fieldSelector=metadata.name%3Dp%2Ca%3Db" },
        { "a create goes to the collection",
          { .verb = KUBE_CREATE, .res = &pods, .ns = S_INIT("a"), .name = S_INIT("b") },
          "POST",
          "/api/v1/namespaces/a/pods?fieldManager=muster" },
        { "a binding to its pod",
          { .verb = KUBE_CREATE,
            .res = &pods,
            .ns = S_INIT("a"),
            .name = S_INIT("b"),
            .sub = S_INIT("binding") },
          "POST",
          "/api/v1/namespaces/a/pods/b/binding?fieldManager=muster" },
        { "an update of the status",
          { .verb = KUBE_UPDATE,
            .res = &tfjobs,
            .ns = S_INIT("a"),
            .name = S_INIT("b"),
            .sub = S_INIT("status"),
            .version = S_INIT("3") },
          "PUT",
          "/apis/kubeflow.org/v1/namespaces/a/tfjobs/b/status?fieldManager=muster" },
        { "an apply is forced",
          { .verb = KUBE_PATCH,
            .patch = KUBE_PATCH_APPLY,
            .res = &pods,
            .ns = S_INIT("a"),
            .name = S_INIT("b") },
          "PATCH",
          "/api/v1/namespaces/a/pods/b?fieldManager=muster&force=true" },
        { "a delete",
          { .verb = KUBE_DELETE, .res = &pods, .ns = S_INIT("a"), .name = S_INIT("b") },
          "DELETE",
          "/api/v1/namespaces/a/pods/b" },
        { "a delete of many",
          { .verb = KUBE_DELETE, .res = &pods, .ns = S_INIT("a"), .labels = S_INIT("x") },
          "DELETE",
          "/api/v1/namespaces/a/pods?labelSelector=x" },
        { "names cannot break out of their step",
          { .verb = KUBE_GET, .res = &pods, .ns = S_INIT("../x"), .name = S_INIT("a?b#c\xc3\xa9") },
          "GET",
          "/api/v1/namespaces/..%2Fx/pods/a%3Fb%23c%C3%A9" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        is_str(kube_path(a, &rows[i].r), str_of(rows[i].path), rows[i].what);
        is_str(str_of(kube_method(&rows[i].r)), str_of(rows[i].method), rows[i].method);
    }
}

static void bodies_have_a_type(void)
{
    struct kube_request r = { .verb = KUBE_DELETE, .res = &pods };

    ok(!kube_content_type(&r), "no body, no type");
    r.body = JV_EMPTY_OBJ;
    is_str(str_of(kube_content_type(&r)), S("application/json"), "DeleteOptions");
    r.verb = KUBE_PATCH;
    is_str(str_of(kube_content_type(&r)), S("application/merge-patch+json"), "a merge patch");
    r.patch = KUBE_PATCH_APPLY;
    is_str(str_of(kube_content_type(&r)), S("application/apply-patch+yaml"), "an apply");
}

static void answers_are_read_by_reason_then_code(void)
{
    AUTO(arena) struct arena *a = arena_new();
    static const struct {
        int status;
        const char *body;
        const char *header;
        enum err_code code;
        int64_t after_ms;
        const char *message;
    } rows[] = {
        { 200, "{\"kind\":\"Pod\"}", "", ERR_OK, 0, "" },
        { 204, "", "", ERR_OK, 0, "" },
        { 200, "", "", ERR_INTERNAL, 0,
          "the server answered 200, but not with an object: "
          "it is empty" },
        { 200, "[]", "", ERR_INTERNAL, 0, NULL },
        { 200, "{\"kind\":", "", ERR_INTERNAL, 0, NULL },
        { 409, "{\"reason\":\"AlreadyExists\",\"code\":409,\"message\":\"x\"}", "", ERR_EXISTS, 0,
          "x" },
        { 409, "{\"reason\":\"Conflict\",\"message\":\"x\"}", "", ERR_CONFLICT, 0, "x" },
        { 409, "{\"message\":\"x\"}", "", ERR_CONFLICT, 0, "x" },
        { 410, "{\"reason\":\"Expired\",\"message\":\"old\"}", "", ERR_EXPIRED, 0, "old" },
        { 410, "{\"reason\":\"Gone\",\"message\":\"old\"}", "", ERR_EXPIRED, 0, "old" },
        { 410, "gone", "", ERR_EXPIRED, 0, "the server answered 410: gone" },
        { 500,
          "{\"reason\":\"ServerTimeout\",\"message\":\"x\","
          "\"details\":{\"retryAfterSeconds\":2}}",
          "", ERR_TIMEOUT, 2000, "x" },
        { 429,
          "{\"reason\":\"TooManyRequests\",\"message\":\"x\","
          "\"details\":{\"retryAfterSeconds\":2}}",
          " 7", ERR_TOO_MANY_REQUESTS, 7000, "x" },
        { 429, "slow down", "999999999999", ERR_TOO_MANY_REQUESTS, 300000, NULL },
        { 429, "slow down", "1000000000000000000000", ERR_TOO_MANY_REQUESTS, 0, NULL },
        { 429, "slow down", "-5", ERR_TOO_MANY_REQUESTS, 0, NULL },
        { 429, "{\"message\":\"x\",\"details\":{\"retryAfterSeconds\":99999999999}}", "",
          ERR_TOO_MANY_REQUESTS, 300000, "x" },
        { 429, "{\"message\":\"x\",\"details\":{\"retryAfterSeconds\":1e21}}", "",
          ERR_TOO_MANY_REQUESTS, 0, "x" },
        { 429, "{\"message\":\"x\",\"details\":{\"retryAfterSeconds\":-9223372036854775808}}", "",
          ERR_TOO_MANY_REQUESTS, 0, "x" },
        { 503, "", "Wed, 21 Oct 2015 07:28:00 GMT", ERR_UNAVAILABLE, 0, "the server answered 503" },
        { 502, "<html>\nBad\tGateway", "", ERR_UNAVAILABLE, 0,
          "the server answered 502: <html> Bad Gateway" },
        { 500, "{\"message\":\"boom\"}", "", ERR_INTERNAL, 0, "boom" },
        { 504, "", "", ERR_TIMEOUT, 0, NULL },
        { 401, "{\"reason\":\"Unauthorized\",\"message\":\"Unauthorized\"}", "", ERR_UNAUTHORIZED,
          0, "Unauthorized" },
        { 403, "{\"reason\":\"Odd\",\"message\":\"x\"}", "", ERR_FORBIDDEN, 0, "x" },
        { 418, "{\"message\":\"x\"}", "", ERR_BAD_REQUEST, 0, "x" },
        { 302, "", "", ERR_INTERNAL, 0, "the server answered 302" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct kube_answer ans;
        kube_answer_read(a, rows[i].status, str_of(rows[i].body), NULL, str_of(rows[i].header),
                         &ans);
        ok(ans.err.code == rows[i].code && ans.retry_after_ms == rows[i].after_ms &&
               ans.status == rows[i].status,
           "row %zu, %d: code %d, after %" PRId64, i, rows[i].status, ans.err.code,
           ans.retry_after_ms);
        if (rows[i].message)
            is_str(ans.message, str_of(rows[i].message), "its message");
        ok(ans.err.code == ERR_OK ? !ans.err.msg[0] : ans.err.msg[0] != 0, "and the error says it");
    }
}

static void no_list_goes_on_for_ever(void)
{
    struct kube_pages p = { 0 };
    struct err e = { 0 };
    int more = 1;
    int n = 0;

    for (; more > 0 && n < 1000 * 1000; n++) {
        AUTO(arena) struct arena *a = arena_new();
        str token = arena_printf(a, "%d", n);
        more = kube_pages_next(&p, jobj(a, { "metadata", jobj(a, { "continue", jstr(a, token) }) }),
                               &e);
    }
    ok(more < 0 && n == 20000, "ever new pages: after %d it is enough: %s", n, e.msg);
    kube_pages_done(&p);
    AUTO(jdoc) struct jdoc *doc = J("{'metadata': {'continue': 'x'}}");
    jv same = jdoc_root(doc);
    is_int(kube_pages_next(&p, same, &e), 1, "a second page");
    is_int(kube_pages_next(&p, same, &e), -1, "but not the same one again");
    kube_pages_done(&p);
    is_int(kube_pages_next(&p, JV_ABSENT, &e), 0, "a list without pages");
}

static void long_messages_are_whole_beside_the_error(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    struct kube_answer ans;

    buf_add(&b, S("{\"reason\":\"Invalid\",\"message\":\""));
    for (int i = 0; i < 200; i++)
        buf_add(&b, S("\xc3\xa9"));
    buf_add(&b, S("\"}"));
    kube_answer_read(a, 422, buf_str(&b), NULL, STR_NONE, &ans);
    is_int((int64_t)ans.message.n, 400, "the message is whole");
    ok(str_is_utf8(str_of(ans.err.msg)), "the error's is cut between characters");
}

int main(void)
{
    paths_have_what_the_verb_needs();
    bodies_have_a_type();
    answers_are_read_by_reason_then_code();
    no_list_goes_on_for_ever();
    long_messages_are_whole_beside_the_error();
    return tap_done();
}
