/* References, URLs, challenges and credentials. */

#include "image/registry.h"
#include "tap.h"

static void references_are_read(void)
{
    static const struct {
        const char *text, *host, *repository, *tag, *name;
        bool loopback;
    } rows[] = {
        { "busybox", "registry-1.docker.io", "library/busybox", "latest", "busybox:latest", false },
        { "docker.io/library/busybox:1", "registry-1.docker.io", "library/busybox", "1",
          "busybox:1", false },
        { "team/app:2", "registry-1.docker.io", "team/app", "2", "team/app:2", false },
        { "quay.io/team/app", "quay.io", "team/app", "latest", "quay.io/team/app:latest", false },
        { "localhost/app", "localhost", "app", "latest", "localhost/app:latest", true },
        { "localhost:5000/a/b/c:d", "localhost:5000", "a/b/c", "d", "localhost:5000/a/b/c:d",
          true },
        { "127.1.2.3:80/a", "127.1.2.3:80", "a", "latest", "127.1.2.3:80/a:latest", true },
        { "[::1]:5000/a/b:c", "[::1]:5000", "a/b", "c", "[::1]:5000/a/b:c", true },
        { "[0:0::1]/a", "[0:0::1]", "a", "latest", "[0:0::1]/a:latest", true },
        { "[fd00::7]:5000/a", "[fd00::7]:5000", "a", "latest", "[fd00::7]:5000/a:latest", false },
        { "127.0.0.1.example.org/a", "127.0.0.1.example.org", "a", "latest",
          "127.0.0.1.example.org/a:latest", false },
        { "localhost.example.org/a:1", "localhost.example.org", "a", "1",
          "localhost.example.org/a:1", false },
        { "h.org/a@sha256:0000000000000000000000000000000000000000000000000000000000000000",
          "h.org", "a", "sha256:0000000000000000000000000000000000000000000000000000000000000000",
          "h.org/a@sha256:0000000000000000000000000000000000000000000000000000000000000000",
          false },
    };
    static const char *const bad[] = {
        "",     "A",          "a b",     "../x",   "h.org/",     "a/../b",   "a@sha256:1",
        "a?x",  "h.org/a//b", "a:",      "/a",     "http://a/b", "a\nb",     "h.org/a/../b",
        "*",    "[::1]",      "[::g]/a", "[::1/a", "[1]/a",      "[::1]x/a", "a[b]/c",
        "[]/a", "[::1]:5/[a]"
    };
    AUTO(arena) struct arena *a = arena_new();
    struct image_ref r;
    struct err e = { 0 };

    for (size_t i = 0; i < COUNT(rows); i++) {
        is_int(image_ref_parse(a, rows[i].text, &r, &e), 0, rows[i].text);
        is_str(r.host, str_of(rows[i].host), "host");
        is_str(r.repository, str_of(rows[i].repository), "repository");
        is_str(r.tag, str_of(rows[i].tag), "tag");
        is_str(r.name, str_of(rows[i].name), "name");
        ok(r.loopback == rows[i].loopback, "this machine or not");
    }
    for (size_t i = 0; i < COUNT(bad); i++)
        is_int(image_ref_parse(a, bad[i], &r, &e), -1, bad[i]);
}

static void urls_are_checked(void)
{
    static const struct {
        const char *url, *origin; /* NULL: refused */
    } rows[] = {
        { "https://h.org/x", "https://h.org" },
        { "https://h.org:444?x", "https://h.org:444" },
        { "http://127.0.0.1:5000/x", "http://127.0.0.1:5000" },
        { "http://[::1]:5000/x", "http://[::1]:5000" },
        { "http://localhost/x", "http://localhost" },
        { "http://h.org/x", NULL },
        { "http://127.0.0.1.h.org/x", NULL },
        { "http://127.0.0.1@h.org/x", NULL },
        { "https://user:pass@h.org/x", NULL },
        { "http://localhost\\@h.org/", NULL },
        { "file:///etc/passwd", NULL },
        { "ftp://h.org/", NULL },
        { "https:///x", NULL },
        { "https://h.org/a b", NULL },
        { "", NULL },
    };
    AUTO(arena) struct arena *a = arena_new();

    for (size_t i = 0; i < COUNT(rows); i++) {
        str origin = S("(refused)");
        bool loopback;
        int rc = image_url_check(a, str_of(rows[i].url), &origin, &loopback, NULL);
        is_str(rc < 0 ? S("(refused)") : origin,
               rows[i].origin ? str_of(rows[i].origin) : S("(refused)"), rows[i].url);
    }
}

static void challenges_are_read(void)
{
    static const struct {
        const char *text, *realm, *service;
        bool bearer, basic;
    } rows[] = {
        { "Bearer realm=\"https://h/token\",service=\"h\",scope=\"repository:a:pull\"",
          "https://h/token", "h", true, false },
        { "bearer realm=https://h/t, service=\"a\\\"b, c\"", "https://h/t", "a\"b, c", true,
          false },
        { "Basic realm=\"x\"", "", "", false, true },
        { "Basic realm=\"x\", Bearer realm=\"https://h/t\"", "https://h/t", "", true, true },
        { "Bearer", "", "", false, false },
        { "Digest realm=\"x\"", "", "", false, false },
        { ",,,=,=\"", "", "", false, false },
        { "", "", "", false, false },
    };
    AUTO(arena) struct arena *a = arena_new();

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct image_challenge c;
        image_challenge_parse(a, str_of(rows[i].text), &c);
        is_str(c.realm, str_of(rows[i].realm), rows[i].text);
        is_str(c.service, str_of(rows[i].service), "service");
        ok(c.bearer == rows[i].bearer && c.basic == rows[i].basic, "its kind");
    }
}

/* dTpw is u:p */
static void credentials_are_found(void)
{
    static const struct {
        const char *config, *image, *basic, *helper;
    } rows[] = {
        { "{'auths': {'h.org': {'auth': 'dTpw'}}}", "h.org/a", "dTpw", "" },
        { "{'auths': {'https://h.org/v1/': {'auth': 'dTpw'}}}", "h.org/a", "dTpw", "" },
        { "{'auths': {'h.org:5000': {'auth': 'dTpw'}}}", "h.org/a", "", "" },
        { "{'auths': {'h.org': {'auth': 'dTpw'}}}", "evil.h.org/a", "", "" },
        { "{'auths': {'https://index.docker.io/v1/': {'auth': 'dTpw'}}}", "busybox", "dTpw", "" },
        { "{'auths': {'h.org': {}}, 'credsStore': 'desktop'}", "h.org/a", "", "desktop" },
        { "{'auths': {'h.org': {'auth': 'dTpw'}}, 'credsStore': 'desktop'}", "h.org/a", "dTpw",
          "" },
        { "{'credHelpers': {'h.org': 'ecr', 'x.org': 'gcr'}}", "h.org/a", "", "ecr" },
        { "{}", "h.org/a", "", "" },
        { "[]", "h.org/a", "", "" },
    };
    AUTO(arena) struct arena *a = arena_new();
    struct image_login l;
    struct image_ref r;
    struct err e = { 0 };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(jdoc) struct jdoc *d = J(rows[i].config);
        image_ref_parse(a, rows[i].image, &r, &e);
        is_int(image_login_find(a, json_text(a, jdoc_root(d)), &r, &l, &e), 0, rows[i].config);
        is_str(l.basic, str_of(rows[i].basic), "credentials");
        is_str(l.helper, str_of(rows[i].helper), "helper");
    }
    image_ref_parse(a, "h.org/a", &r, &e);
    ok(image_login_find(a, S("{\"auths\": {\"h.org\": {\"auth\": \"dXA=\"}}}"), &r, &l, &e) < 0,
       "without a colon: %s", e.msg);
    str token = S("{\"auths\": {\"h.org\": {\"auth\": \"dTo=\", \"identitytoken\": \"abc\"}}}");
    is_int(image_login_find(a, token, &r, &l, &e), 0, "an identity token");
    is_str(l.identity_token, S("abc"), "is found");
    is_str(l.basic, S(""), "and auth beside it is not used");
    image_ref_parse(a, "x.org/a", &r, &e);
    is_int(image_login_find(a, token, &r, &l, &e), 0, "the token of another registry");
    is_str(l.identity_token, S(""), "is not");
    ok(image_login_find(a, S("{"), &r, &l, &e) < 0, "not JSON: %s", e.msg);
}

int main(void)
{
    references_are_read();
    urls_are_checked();
    challenges_are_read();
    credentials_are_found();
    return tap_done();
}
