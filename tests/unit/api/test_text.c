/* Bytes that are not text: refused where they come in, never in an answer. */

#include "ask.h"

static const char *const nobody = "system:serviceaccount:default:default,system:serviceaccounts";

#define REVIEWS "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

static void is_refused(struct box *b, const char *head, str body, const char *why)
{
    AUTO(reply) struct reply r = ask(b, nobody, head, body);

    is_int(r.status, 400, why);
    ok(str_is_utf8(buf_str(&r.body)), "its answer is text");
    ok(str_contains(buf_str(&r.body), str_of(why)), "and says what is wrong: %s", why);
    if (!str_contains(buf_str(&r.body), str_of(why)))
        printf("# %.*s\n", (int)r.body.n, r.body.p);
}

static void bytes_are_refused_at_the_door(struct box *b)
{
    static const char *const accepts[] = { "application/json", "application/yaml" };
    char head[300];

    for (size_t i = 0; i < COUNT(accepts); i++) {
        snprintf(head, sizeof(head), "POST " REVIEWS "\naccept: %s", accepts[i]);
        is_refused(b, head, S("{\"spec\":\"\xff\"}"),
                   "the body of the request is not UTF-8 at byte 9");
        snprintf(head, sizeof(head), "POST " REVIEWS "\naccept: %s\ncontent-type: application/yaml",
                 accepts[i]);
        is_refused(b, head, S("a: \xc3"), "the body of the request is not UTF-8 at byte 3");
    }
    is_refused(b, "GET /api/v1/namespaces/%ff/pods", STR_NONE,
               "the path of the request is not UTF-8 at byte 19");
    is_refused(b, "GET /api/v1/namespaces/a/pods?x=%c3%a4&y=%c3", STR_NONE,
               "the query of the request is not UTF-8 at byte 11");
    is_refused(b, "GET /api/v1/namespaces/a/pods\nimpersonate-user: a\xff", STR_NONE,
               "the header impersonate-user is not UTF-8 at byte 1");
}

/* Valid text, whose start an error shows: no character of it is cut in two. */
static void excerpts_end_with_a_character(struct box *b)
{
    for (size_t pad = 0; pad < 4; pad++) {
        AUTO(buf) struct buf body = { 0 };
        buf_add(&body, S("{\"kind\":7,\"spec\":\""));
        for (size_t i = 0; i < pad; i++)
            buf_addc(&body, 'x');
        for (size_t i = 0; i < 200; i++)
            buf_add(&body, S("\xf0\x9f\x98\x80"));
        buf_add(&body, S("\"")); /* without its end */
        AUTO(reply)
        struct reply r =
            ask(b, nobody, "POST " REVIEWS "\naccept: application/yaml", buf_str(&body));
        is_int(r.status, 400, "a body without an end");
        ok(str_is_utf8(buf_str(&r.body)), "its start is shown as text");
        ok(!str_contains(buf_str(&r.body), S("\xef\xbf\xbd")), "no character is cut");
    }
}

/* k8s\0 {1: {1: "authorization.k8s.io/v1", 2: "SelfSubjectAccessReview"}, 2: {1: {1: {1: ...}}}} */
static void text_in_protobuf_is_text(struct box *b)
{
    is_refused(b,
               "POST " REVIEWS "\naccept: application/yaml\n"
               "content-type: application/vnd.kubernetes.protobuf",
               S("k8s\0\x12\x05\x0a\x03\x0a\x01\xff"),
               "proto: text is not UTF-8 at byte 4 of the object");
}

int main(void)
{
    struct box b;

    box_open(&b, NULL, NULL);
    bytes_are_refused_at_the_door(&b);
    excerpts_end_with_a_character(&b);
    text_in_protobuf_is_text(&b);
    box_close(&b);
    return tap_done();
}
