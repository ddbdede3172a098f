/* Tokens of service accounts, and rules of roles. */

#include "api/auth/rbac.h"
#include "api/auth/tokens.h"
#include "tap.h"

static const str key = S_INIT("0123456789abcdef0123456789abcdef");

static jv claims(struct arena *a, int64_t from, int64_t to)
{
    return jobj(a, { "aud", jarr(a, jstrz(a, TOKENS_ISSUER)) }, { "exp", jint(a, to) },
                { "nbf", jint(a, from) }, { "sub", jstrz(a, "system:serviceaccount:ns:me") });
}

static void tokens_are_ours_and_timely(void)
{
    AUTO(arena) struct arena *a = arena_new();
    str t = token_sign(a, key, claims(a, 100, 200));

    is_str(jv_str(jv_at(token_read(a, key, t, 150), "sub"), S("")),
           S("system:serviceaccount:ns:me"), "what was signed is read");
    ok(!jv_exists(token_read(a, key, t, 99)), "not before its time");
    ok(!jv_exists(token_read(a, key, t, 200)), "nor after");
    ok(!jv_exists(token_read(a, S("another key"), t, 150)), "nor with another key");
    ok(!jv_exists(token_read(a, STR_NONE, t, 150)), "nor without any");
    int read = 0;
    for (size_t i = 0; i < t.n; i++) {
        AUTO(buf) struct buf b = { 0 };
        buf_add(&b, t);
        b.p[i] = b.p[i] == 'A' ? 'B' : 'A';
        read += jv_exists(token_read(a, key, buf_str(&b), 150));
    }
    ok(read <= 1, "changed anywhere it is none"); /* the last letter has bits that mean nothing */
    jv other = jv_with(a, claims(a, 100, 200), jarr(a, jstrz(a, "vault")), "aud");
    ok(!jv_exists(token_read(a, key, token_sign(a, key, other), 150)), "nor one for others");
    static const char *const bad[] = { "", ".", "..", "a.b.c", "a.b.", "eyJ.eyJ" };
    for (size_t i = 0; i < COUNT(bad); i++)
        ok(!jv_exists(token_read(a, key, str_of(bad[i]), 150)), "'%s' is none", bad[i]);
}

static void rules(void)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc)
    struct jdoc *d = J("{'apiGroups': [''], 'resources': ['pods', 'pods/exec', '*/scale'], "
                       "'verbs': ['get', 'list'], 'resourceNames': ['a']}");
    AUTO(jdoc)
    struct jdoc *urls = J("{'nonResourceURLs': ['/metrics', '/logs/*'], 'verbs': ['*']}");
    static const struct {
        const char *verb, *group, *resource, *sub, *name;
        bool allowed;
    } rows[] = {
        { "get", "", "pods", "", "a", true },      { "get", "", "pods", "exec", "a", true },
        { "get", "", "pods", "log", "a", false },  { "get", "", "pods", "", "b", false },
        { "list", "", "pods", "", "", false },     { "delete", "", "pods", "", "a", false },
        { "get", "apps", "pods", "", "a", false }, { "get", "", "things", "scale", "a", true },
        { "get", "", "secrets", "", "a", false },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct access w = { .on_resource = true,
                            .verb = str_of(rows[i].verb),
                            .group = str_of(rows[i].group),
                            .resource = str_of(rows[i].resource),
                            .sub = str_of(rows[i].sub),
                            .name = str_of(rows[i].name) };
        ok(rbac_rule_allows(jdoc_root(d), &w) == rows[i].allowed, "%s %s/%s %s: %s", rows[i].verb,
           rows[i].resource, rows[i].sub, rows[i].name, rows[i].allowed ? "yes" : "no");
    }
    struct access path = { .verb = S("get"), .path = S("/logs/x") };
    ok(rbac_rule_allows(jdoc_root(urls), &path), "a path that a star covers");
    path.path = S("/api");
    ok(!rbac_rule_allows(jdoc_root(urls), &path), "no other");
    (void)a;
}

static void subjects(void)
{
    static const str groups[] = { S_INIT("system:serviceaccounts"), S_INIT("team") };
    struct api_user u = { .name = S("system:serviceaccount:ns:me"),
                          .groups = groups,
                          .n_groups = 2 };
    static const struct {
        const char *subject;
        bool is;
    } rows[] = {
        { "{'kind': 'ServiceAccount', 'name': 'me'}", true },
        { "{'kind': 'ServiceAccount', 'name': 'me', 'namespace': 'ns'}", true },
        { "{'kind': 'ServiceAccount', 'name': 'me', 'namespace': 'other'}", false },
        { "{'kind': 'ServiceAccount', 'name': 'm'}", false },
        { "{'kind': 'User', 'name': 'system:serviceaccount:ns:me'}", true },
        { "{'kind': 'User', 'name': 'me'}", false },
        { "{'kind': 'Group', 'name': 'team'}", true },
        { "{'kind': 'Group', 'name': 'system:masters'}", false },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(jdoc) struct jdoc *d = J(rows[i].subject);
        ok(rbac_is_subject(jdoc_root(d), S("ns"), &u) == rows[i].is, "%s", rows[i].subject);
    }
}

int main(void)
{
    tokens_are_ours_and_timely();
    rules();
    subjects();
    return tap_done();
}
