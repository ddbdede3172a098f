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
    box_close(&b);
    return tap_done();
}
