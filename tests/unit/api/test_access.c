/* Who may do what, asked by users with few rights: what is allowed is what is served. */

#include "rights.h"

#define SECRETS "/api/v1/namespaces/default/secrets"
#define MAPS    "/api/v1/namespaces/default/configmaps"

static void lists_and_watches_are_different_rights(struct box *b)
{
    static const struct {
        const char *query;
        bool watches;
    } rows[] = {
        { "?watch=1", true },    { "?watch=yes", true },        { "?w%61tch=1", true },
        { "?watch", true },      { "?watch=", true },           { "?watch=TRUE", true },
        { "?watch=0", false },   { "?watch=False", false },     { "", false },
        { "?x=watch=1", false }, { "?watch=0&watch=1", false }, { "?watch=1&watch=0", true },
    };

    rights_give(b, "lister", "'list'", "", "'secrets'");
    rights_give(b, "watcher", "'watch'", "", "'secrets'");
    for (size_t i = 0; i < COUNT(rows); i++) {
        char head[100];
        snprintf(head, sizeof(head), "GET " SECRETS "%s", rows[i].query);
        AUTO(reply) struct reply list = ask(b, "lister", head, STR_NONE);
        AUTO(reply) struct reply watch = ask(b, "watcher", head, STR_NONE);
        is_int(list.status, rows[i].watches ? 403 : 200, head);
        is_int(watch.status, rows[i].watches ? 200 : 403, "and the other way round");
        ok(watch.is_open == rows[i].watches, "what is authorised as a watch is served as one");
        ok(!list.is_open, "and what is not is not");
    }
    is_int(ask_status(b, "watcher", "GET /api/v1/watch/namespaces/default/secrets", ""), 200,
           "a watch by its path");
    is_int(ask_status(b, "lister", "GET /api/v1/watch/namespaces/default/secrets", ""), 403,
           "is no list");
}

static void a_name_is_got_whatever_the_query_says(struct box *b)
{
    rights_give(b, "getter", "'get'", "", "'secrets'");
    AUTO(reply) struct reply got = ask(b, "getter", "GET " SECRETS "/s1?watch=1", STR_NONE);
    is_int(got.status, 200, "get is what it takes");
    ok(!got.is_open && str_contains(buf_str(&got.body), S("\"kind\":\"Secret\"")),
       "and what is served");
    is_int(ask_status(b, "watcher", "GET " SECRETS "/s1?watch=1", ""), 403, "watch is not enough");
    is_int(ask_status(b, "lister", "GET " SECRETS "/s1", ""), 403, "nor is list");
}

static void names_can_be_chosen_by_fields(struct box *b)
{
    rights_give_all(b, "one", "'list','watch','get'", "", "'secrets'", "'s1'");
    is_int(ask_status(b, "one", "GET " SECRETS "?fieldSelector=metadata.name%3Ds1", ""), 200,
           "a list of that name");
    is_int(ask_status(b, "one", "GET " SECRETS "?watch=1&fieldSelector=metadata.name%3Ds1", ""),
           200, "a watch of that name");
    is_int(ask_status(b, "one", "GET " SECRETS "?fieldSelector=metadata.name%3Ds2", ""), 403,
           "of another");
    is_int(ask_status(b, "one", "GET " SECRETS "?fieldSelector=a&fieldSelector=metadata.name%3Ds1",
                      ""),
           403, "the first selector counts");
    is_int(ask_status(b, "one", "GET " SECRETS, ""), 403, "of all");
    is_int(ask_status(b, "one", "GET " SECRETS "/s1", ""), 200, "the object");
}

static void paths_are_read_once(struct box *b)
{
    is_int(ask_status(b, "lister", "GET /api/v1/namespaces/default%2Fsecrets", ""), 200,
           "an escaped slash is a slash to both");
    is_int(ask_status(b, "lister", "GET /api/v1/namespaces/default%2Fconfigmaps", ""), 403,
           "so it hides nothing");
    is_int(ask_status(b, "lister", "GET /api/v1/namespaces/kube-system/secrets", ""), 403,
           "another namespace");
    is_int(ask_status(b, "lister", "GET /api/v1/secrets", ""), 403, "all namespaces");
    is_int(ask_status(b, "lister", "GET /apis//v1/namespaces/default/secrets", ""), 404,
           "a group without a name is not the core");
}

static void unknown_methods_are_no_gets(struct box *b)
{
    is_int(ask_status(b, "getter", "OPTIONS " SECRETS "/s1", ""), 403, "OPTIONS");
    is_int(ask_status(b, "admin,system:masters", "OPTIONS " SECRETS "/s1", ""), 405,
           "for those who may do anything");
}

static void what_creates_needs_create(struct box *b)
{
    static const char apply[] = "PATCH " MAPS "/%s?fieldManager=m\n"
                                "content-type: application/apply-patch+yaml";
    static const char body[] = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                               "\"metadata\":{\"name\":\"%s\"}}";
    static const struct {
        const char *user, *name;
        int apply, update;
    } rows[] = {
        { "patcher", "new", 403, 403 },   { "updater", "new", 403, 404 },
        { "patcher", "there", 200, 403 }, { "updater", "there", 403, 200 },
        { "maker", "new1", 201, 200 },    { "maker", "there", 200, 200 },
    };
    AUTO(arena) struct arena *a = arena_new();
    char head[200], text[200];

    rights_give(b, "patcher", "'patch'", "", "'configmaps','leases'");
    rights_give(b, "updater", "'update'", "", "'configmaps'");
    rights_give(b, "maker", "'patch','update','create'", "", "'configmaps'");
    rights_post(b, a, MAPS, "{'metadata':{'name':'there'}}");
    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(head, sizeof(head), apply, rows[i].name);
        snprintf(text, sizeof(text), body, rows[i].name);
        is_int(ask_status(b, rows[i].user, head, text), rows[i].apply, rows[i].user);
        snprintf(head, sizeof(head), "PUT " MAPS "/%s", rows[i].name);
        is_int(ask_status(b, rows[i].user, head, text), rows[i].update, "and by PUT");
    }
    is_int(ask_status(b, "admin,system:masters", "GET " MAPS "/new", ""), 404,
           "nothing was made for those who may not");
}

static void a_put_that_creates_needs_create(struct box *b)
{
#define LEASES "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    static const char body[] = "{\"metadata\":{\"name\":\"l\"}}";

    rights_give(b, "holder", "'update'", "coordination.k8s.io", "'leases'");
    AUTO(reply) struct reply r = ask(b, "holder", "PUT " LEASES "/l", str_of(body));
    is_int(r.status, 403, "a lease is created by PUT");
    ok(str_contains(buf_str(&r.body), S("cannot create resource \\\"leases\\\"")), "which is said");
    rights_give(b, "holder", "'create'", "coordination.k8s.io", "'leases'");
    is_int(ask_status(b, "holder", "PUT " LEASES "/l", body), 201, "by who may create");
}

/* ---- in another's name */

static void may_not(struct box *b, const char *user, const char *headers, const char *why)
{
    char head[400];

    snprintf(head, sizeof(head), "GET " MAPS "\n%s", headers);
    AUTO(reply) struct reply r = ask(b, user, head, STR_NONE);
    is_int(r.status, 403, why);
    if (!ok(str_contains(buf_str(&r.body), str_of(why)), "%s", why))
        printf("# %.*s\n", (int)r.body.n, r.body.p);
}

#define CANNOT(what, group, where) \
    "cannot impersonate resource \\\"" what "\\\" in API group \\\"" group "\\\" " where

static void each_part_of_another_is_asked_for(struct box *b)
{
    rights_give_all(b, "actor", "'impersonate'", "", "'users'", "");
    may_not(b, "actor", "impersonate-user: bob\nimpersonate-group: system:masters",
            CANNOT("groups", "", "at the cluster scope"));
    may_not(b, "actor", "impersonate-user: bob\nimpersonate-uid: 1",
            CANNOT("uids", "authentication.k8s.io", "at the cluster scope"));
    may_not(b, "actor", "impersonate-user: bob\nimpersonate-extra-a%2fb: c",
            CANNOT("userextras/a/b", "authentication.k8s.io", "at the cluster scope"));
    may_not(b, "actor", "impersonate-user: system:serviceaccount:default:default",
            CANNOT("serviceaccounts", "", "in the namespace \\\"default\\\""));
    may_not(b, "lister", "impersonate-user: bob", CANNOT("users", "", "at the cluster scope"));
    may_not(b, "actor", "impersonate-user: system:serviceaccount:default:BAD",
            "User \\\"system:serviceaccount:default:BAD\\\" cannot list"); /* a user as any */
    is_int(ask_status(b, "actor", "GET " SECRETS "\nimpersonate-user: lister", ""), 200,
           "what the other may do is done");
    is_int(ask_status(b, "lister", "GET " SECRETS "\nimpersonate-group: x", ""), 500,
           "a group needs a user, in kube-apiserver's way");
}

static void names_of_others_can_be_limited(struct box *b)
{
    rights_give_all(b, "some", "'impersonate'", "", "'users','groups'", "'lister','friends'");
    rights_give_all(b, "some", "'impersonate'", "authentication.k8s.io", "'userextras/a','uids'",
                    "'v','7'");
    rights_give(b, "some", "'impersonate'", "", "'serviceaccounts'");
    is_int(ask_status(b, "some",
                      "GET " SECRETS "\nimpersonate-user: lister\nimpersonate-group: friends\n"
                      "impersonate-uid: 7\nimpersonate-extra-a: v",
                      ""),
           200, "all that was given");
    may_not(b, "some", "impersonate-user: lister\nimpersonate-group: friends\nimpersonate-group: x",
            "groups \\\"x\\\" is forbidden");
    may_not(b, "some", "impersonate-user: lister\nimpersonate-extra-a: w", "userextras");
    may_not(b, "some", "impersonate-user: lister\nimpersonate-extra-b: v", "userextras/b");
    may_not(b, "some", "impersonate-user: lister\nimpersonate-uid: 8", "uids");
    may_not(b, "some", "impersonate-user: system:serviceaccount:kube-system:x", "kube-system");
    may_not(b, "some", "impersonate-user: system:serviceaccount:default:x",
            "User \\\"system:serviceaccount:default:x\\\" cannot list");
}

static void another_is_who_the_headers_say(struct box *b)
{
    static const struct {
        const char *headers, *want;
    } rows[] = {
        { "impersonate-user: u", "{'username':'u','groups':['system:authenticated']}" },
        { "impersonate-user: u\nimpersonate-group: g\nimpersonate-uid: 7\n"
          "impersonate-extra-K%2fx: 1\nimpersonate-extra-k%2fx: 2",
          "{'username':'u','uid':'7','groups':['g','system:authenticated'],"
          "'extra':{'k/x':['1','2']}}" },
        { "impersonate-user: u\nimpersonate-group: system:unauthenticated",
          "{'username':'u','groups':['system:unauthenticated']}" },
        { "impersonate-user: system:serviceaccount:n:a",
          "{'username':'system:serviceaccount:n:a','groups':['system:serviceaccounts',"
          "'system:serviceaccounts:n','system:authenticated']}" },
        { "impersonate-user: system:serviceaccount:n:a\nimpersonate-group: g",
          "{'username':'system:serviceaccount:n:a','groups':['g','system:authenticated']}" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(arena) struct arena *a = arena_new();
        char head[400];
        snprintf(head, sizeof(head), "POST /apis/authentication.k8s.io/v1/selfsubjectreviews\n%s",
                 rows[i].headers);
        bool anonymous = strstr(rows[i].headers, "unauthenticated");
        AUTO(reply) struct reply r = ask(b, "admin,system:masters", head, S("{}"));
        jv v = json_parse(a, buf_str(&r.body), NULL, NULL);
        if (anonymous)
            is_int(r.status, 403, "who is in no group that may ask");
        else
            is_json(jv_at(v, "status", "userInfo"), rows[i].want, rows[i].want);
    }
}

int main(void)
{
    struct box b;

    box_open(&b, NULL, NULL);
    AUTO(arena) struct arena *a = arena_new();
    rights_post(&b, a, SECRETS, "{'metadata':{'name':'s1'}}");
    lists_and_watches_are_different_rights(&b);
    a_name_is_got_whatever_the_query_says(&b);
    names_can_be_chosen_by_fields(&b);
    paths_are_read_once(&b);
    unknown_methods_are_no_gets(&b);
    what_creates_needs_create(&b);
    a_put_that_creates_needs_create(&b);
    each_part_of_another_is_asked_for(&b);
    names_of_others_can_be_limited(&b);
    another_is_who_the_headers_say(&b);
    box_close(&b);
    return tap_done();
}
