/* Watches, by a user who may watch ConfigMaps of one namespace and nothing else. */

#include "rights.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

static const char *const user = "watcher";

/* How many events of that type came. */
static int64_t count(const struct reply *r, const char *type)
{
    AUTO(arena) struct arena *a = arena_new();
    int64_t n = 0;

    for (str rest = buf_str(&r->body); rest.n;) {
        jv ev = json_parse(a, str_cut(&rest, '\n'), NULL, NULL);
        n += str_eqz(jv_str(jv_at(ev, "type"), STR_NONE), type);
    }
    return n;
}

static void what_is_there_comes_first(struct box *b)
{
    AUTO(reply) struct reply all = ask(b, user, "GET " MAPS "?watch=1", STR_NONE);
    AUTO(reply)
    struct reply some = ask(b, user, "GET " MAPS "?watch=1&labelSelector=app%3Dx", STR_NONE);
    AUTO(reply)
    struct reply one =
        ask(b, user, "GET " MAPS "?watch=1&fieldSelector=metadata.name%3Dm1", STR_NONE);
    AUTO(reply)
    struct reply path =
        ask(b, user, "GET /api/v1/watch/namespaces/default/configmaps/m1", STR_NONE);

    ok(all.is_open && count(&all, "ADDED") == 2, "all of them");
    is_int(count(&some, "ADDED"), 1, "those with the label");
    is_int(count(&one, "ADDED"), 1, "that with the name");
    ok(path.is_open && count(&path, "ADDED") == 1, "also by its path");
}

static void a_stream_may_begin_with_a_bookmark(struct box *b)
{
    AUTO(reply)
    struct reply r = ask(b, user,
                         "GET " MAPS "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
                         "&resourceVersionMatch=NotOlderThan",
                         STR_NONE);

    is_int(count(&r, "ADDED"), 2, "what is there");
    is_int(count(&r, "BOOKMARK"), 1, "and its end");
}

static void mistakes_are_told(struct box *b)
{
    static const struct {
        const char *query;
        int status;
    } rows[] = {
        { "?watch=1&sendInitialEvents=true", 422 },
        { "?watch=1&resourceVersionMatch=Exact&resourceVersion=1", 422 },
        { "?watch=1&labelSelector=a%20b", 400 },
        { "?watch=1&timeoutSeconds=x", 400 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char head[200];
        snprintf(head, sizeof(head), "GET " MAPS "%s", rows[i].query);
        is_int(ask_status(b, user, head, ""), rows[i].status, rows[i].query);
    }
}

static void other_things_are_not_theirs(struct box *b)
{
    is_int(ask_status(b, user, "GET " MAPS, ""), 403, "no list");
    is_int(ask_status(b, user, "GET " MAPS "/m1", ""), 403, "no get");
    is_int(ask_status(b, user, "GET " MAPS "/m1?watch=1", ""), 403, "which a name is, in any case");
    is_int(ask_status(b, user, "GET /api/v1/configmaps?watch=1", ""), 403, "not all namespaces");
    is_int(ask_status(b, user, "GET /api/v1/namespaces/default/secrets?watch=1", ""), 403,
           "nor secrets");
    is_int(ask_status(b, user, "POST /api/v1/watch/namespaces/default/configmaps", "{}"), 405,
           "a watch is no way to create");
}

int main(void)
{
    struct box b;
    AUTO(arena) struct arena *a = arena_new();

    box_open(&b, NULL, NULL);
    rights_give(&b, user, "'watch'", "", "'configmaps'");
    rights_post(&b, a, MAPS, "{'metadata':{'name':'m1','labels':{'app':'x'}}}");
    rights_post(&b, a, MAPS, "{'metadata':{'name':'m2'}}");
    what_is_there_comes_first(&b);
    a_stream_may_begin_with_a_bookmark(&b);
    mistakes_are_told(&b);
    other_things_are_not_theirs(&b);
    box_close(&b);
    return tap_done();
}
