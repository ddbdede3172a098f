/* Method, path and query as kube-apiserver's RequestInfo reads them. */

#include "api/target.h"
#include "tap.h"

static struct target read(struct arena *a, const char *method, const char *path, const char *query)
{
    struct target t = { 0 };
    struct err e = { 0 };

    if (target_read(a, str_of(method), str_of(path), str_of(query), &t, &e) < 0)
        ok(false, "%s: %s", path, e.msg);
    return t;
}

static void paths_name_what_they_are_about(void)
{
    static const struct {
        const char *method, *path, *query, *want; /* verb group version ns resource name sub */
    } rows[] = {
        { "GET", "/api/v1/pods", "", "list||v1||pods||" },
        { "GET", "/api/v1/namespaces/a/pods/b", "", "get||v1|a|pods|b|" },
        { "HEAD", "/api/v1/namespaces/a/pods/b", "", "get||v1|a|pods|b|" },
        { "GET", "/api/v1/namespaces/a/pods/b/log", "", "get||v1|a|pods|b|log" },
        { "POST", "/apis/apps/v1/namespaces/a/deployments", "", "create|apps|v1|a|deployments||" },
        { "PUT", "/api/v1/namespaces/a/finalize", "", "update||v1|a|namespaces|a|finalize" },
        { "PATCH", "/api/v1/namespaces/a/status", "", "patch||v1|a|namespaces|a|status" },
        { "DELETE", "/api/v1/namespaces/a", "", "delete||v1|a|namespaces|a|" },
        { "DELETE", "/api/v1/namespaces/a/pods", "", "deletecollection||v1|a|pods||" },
        { "BREW", "/api/v1/namespaces/a/pods", "", "||v1|a|pods||" },
        { "GET", "/api/v1/watch/namespaces/a/pods/b", "", "watch||v1|a|pods|b|" },
        { "POST", "/api/v1/watch/namespaces/a/pods", "", "watch||v1|a|pods||" },
        { "GET", "/api/v1/watch", "", "list||v1||watch||" },
        { "GET", "/api/v1/namespaces/a%2Fpods", "", "list||v1|a|pods||" }, /* decoded, then split */
        { "GET", "//api/v1/nodes//", "", "list||v1||nodes||" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct target t = read(a, rows[i].method, rows[i].path, rows[i].query);
        str got = arena_printf(a,
                               "%" PRI_STR "|%" PRI_STR "|%" PRI_STR "|%" PRI_STR "|%" PRI_STR
                               "|%" PRI_STR "|%" PRI_STR,
                               STR_ARG(t.verb), STR_ARG(t.group), STR_ARG(t.version), STR_ARG(t.ns),
                               STR_ARG(t.resource), STR_ARG(t.name), STR_ARG(t.sub));
        ok(t.on_resource, "%s is about a resource", rows[i].path);
        is_str(got, str_of(rows[i].want), rows[i].path);
    }
}

static void other_paths_have_the_method_as_verb(void)
{
    static const char *const paths[] = {
        "/", "/healthz", "/api", "/api/v1", "/apis/apps/v1", "/apis/apps", "/other/v1/namespaces/a"
    };

    for (size_t i = 0; i < COUNT(paths); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct target t = read(a, "POST", paths[i], "watch=1");
        ok(!t.on_resource && str_eqz(t.verb, "post"), "%s", paths[i]);
    }
}

static void a_list_is_a_watch_by_its_query(void)
{
    static const struct {
        const char *query;
        const char *verb;
    } rows[] = {
        { "watch=1", "watch" },      { "watch=true", "watch" },     { "watch=yes", "watch" },
        { "w%61tch=1", "watch" },    { "watch", "watch" },          { "watch=", "watch" },
        { "watch=0", "list" },       { "watch=FALSE", "list" },     { "xwatch=1", "list" },
        { "x=watch=1", "list" },     { "watch=0&watch=1", "list" }, { "watch=1&watch=0", "watch" },
        { "watch=%zz&a=1", "list" }, { "a=1;watch=1", "list" },     { "limit=x&watch=1", "watch" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct target many = read(a, "GET", "/api/v1/namespaces/a/secrets", rows[i].query);
        struct target one = read(a, "GET", "/api/v1/namespaces/a/secrets/s", rows[i].query);
        is_str(many.verb, str_of(rows[i].verb), rows[i].query);
        is_str(one.verb, S("get"), "of a name it is a get");
    }
}

static void a_field_selector_may_choose_a_name(void)
{
    static const struct {
        const char *query, *name;
    } rows[] = {
        { "fieldSelector=metadata.name%3Ds1", "s1" },
        { "fieldSelector=metadata.name%3Ds1&watch=1", "s1" },
        { "fieldSelector=metadata.name!%3Ds1", "" },
        { "fieldSelector=metadata.name%3Da%2Fb", "" },
        { "fieldSelector=a%3Db&fieldSelector=metadata.name%3Ds1", "" },
        { "fieldSelector=metadata.name", "" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct target t = read(a, "GET", "/api/v1/namespaces/a/secrets", rows[i].query);
        is_str(t.selected, str_of(rows[i].name), rows[i].query);
        is_str(t.name, STR_NONE, "which is not in the path");
        t = read(a, "DELETE", "/api/v1/namespaces/a/secrets", rows[i].query);
        is_str(t.selected, STR_NONE, "nor does it count for deletions");
    }
}

static void options_are_decoded_once(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct target t = read(a, "GET", "/", "a=%2525&b=1&a=2&c");

    is_str(target_option(&t, "a"), S("%25"), "the first value");
    ok(!t.query[0].again && t.query[2].again, "the second is known as such");
    ok(target_option(&t, "c").p && !target_option(&t, "d").p,
       "given without a value, and not given");
}

static void what_is_malformed_is_refused(void)
{
    static const struct {
        const char *path, *query, *why;
    } rows[] = {
        { "/a%zz", "", "the path of the request: invalid URL escape \"%zz\"" },
        { "/a%ff", "", "the path of the request is not UTF-8 at byte 2" },
        { "/", "a=%ff", "the query of the request is not UTF-8 at byte 2" },
        { "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29/30/31/32/"
          "33",
          "", "the path of the request has more than 32 parts" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        struct target t;
        struct err e = { 0 };
        is_int(target_read(a, S("GET"), str_of(rows[i].path), str_of(rows[i].query), &t, &e), -1,
               rows[i].path);
        is_str(str_of(e.msg), str_of(rows[i].why), "and why");
    }
}

int main(void)
{
    paths_name_what_they_are_about();
    other_paths_have_the_method_as_verb();
    a_list_is_a_watch_by_its_query();
    a_field_selector_may_choose_a_name();
    options_are_decoded_once();
    what_is_malformed_is_refused();
    return tap_done();
}
