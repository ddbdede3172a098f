/* Options after '?', asked by a user who may do everything in one namespace. */

#include "rights.h"

#include "base/limits.h"

#define PODS "/api/v1/namespaces/default/pods"
#define MAPS "/api/v1/namespaces/default/configmaps"

static const char *const user = "editor";

static int status(struct box *b, const char *head, const char *body)
{
    return ask_status(b, user, head, body);
}

static jv answer(struct box *b, struct arena *a, const char *head, const char *body)
{
    AUTO(reply) struct reply r = ask(b, user, head, str_of(body));

    return json_parse(a, arena_str(a, buf_str(&r.body)), NULL, NULL);
}

static void pod(struct box *b, const char *name)
{
    AUTO(arena) struct arena *a = arena_new();

    rights_post(b, a, PODS,
                arena_printf(a,
                             "{'metadata':{'name':'%s'},'spec':{'nodeName':'n','containers':"
                             "[{'name':'c','image':'i'}]}}",
                             name)
                    .p);
}

/* The grace that a deleted pod has; -1: it is gone. */
static int64_t grace_after(struct box *b, const char *query, const char *body)
{
    AUTO(arena) struct arena *a = arena_new();
    static int n;
    str name = arena_printf(a, "p%d", n++);

    pod(b, name.p);
    is_int(status(b, arena_printf(a, "DELETE " PODS "/%s%s", name.p, query).p, body), 200, query);
    jv p = answer(b, a, arena_printf(a, "GET " PODS "/%s", name.p).p, "");
    return jv_int(jv_at(p, "metadata", "deletionGracePeriodSeconds"), -1);
}

static void a_body_replaces_the_query_of_a_deletion(struct box *b)
{
    is_int(grace_after(b, "?gracePeriodSeconds=7", ""), 7, "the query alone counts");
    is_int(grace_after(b, "?gracePeriodSeconds=7", "{\"gracePeriodSeconds\":8}"), 8,
           "the body counts before it");
    is_int(grace_after(b, "?gracePeriodSeconds=0", "{}"), 30, "also where it says nothing");
    is_int(grace_after(b, "?gracePeriodSeconds=x&dryRun=x&propagationPolicy=x", "{}"), 30,
           "and the query is not looked at");
    is_int(grace_after(b, "?dryRun=All", "{\"gracePeriodSeconds\":9}"), 9, "so this deletes");
    is_int(grace_after(b, "?dryRun=All", ""), -1, "and this does not");
    is_int(grace_after(b, "?gracePeriodSeconds=-5", ""), 1, "less than nothing is a second");
}

static void options_are_checked(struct box *b)
{
    static const struct {
        const char *head;
        int status;
        const char *what;
    } rows[] = {
        { "GET " MAPS "?limit=x", 400, "a limit that is no number" },
        { "GET " MAPS "?limit=1&limit=x", 200, "the first value counts" },
        { "GET " MAPS "?labelSelector=a%20b", 400, "a selector that is none" },
        { "GET " MAPS "?resourceVersionMatch=Exact", 422, "Exact without a version" },
        { "GET " MAPS "?sendInitialEvents=true", 422, "sendInitialEvents for a list" },
        { "GET " MAPS "?unknown=1", 200, "options that nobody knows" },
        { "POST " MAPS "?dryRun=Some", 422, "a dry run of another kind" },
        { "POST " MAPS "?dryRun=All&dryRun=Some", 422, "one of several" },
        { "POST " MAPS "?fieldValidation=Loose", 422, "a validation of another kind" },
        { "POST " MAPS "?fieldManager=a%01", 422, "a manager that cannot be printed" },
        { "POST " MAPS "?dryRun=All", 201, "a dry run" },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        is_int(status(b, rows[i].head, "{\"metadata\":{\"name\":\"q\"}}"), rows[i].status,
               rows[i].what);
    is_int(status(b, "GET " MAPS "/q", ""), 404, "nothing was made of it");
}

static void selectors_have_a_limit(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf q = { 0 };

    buf_add(&q, S("GET " MAPS "?labelSelector=a"));
    for (int i = 1; i < LIMIT_SELECTOR_TERMS; i++)
        buf_printf(&q, ",!k%d", i);
    is_int(status(b, arena_z(a, buf_str(&q)), ""), 200, "many terms");
    buf_add(&q, S(",z"));
    is_int(status(b, arena_z(a, buf_str(&q)), ""), 400, "too many");
}

int main(void)
{
    struct box b;

    box_open(&b, NULL, NULL);
    rights_give(&b, user, "'*'", "", "'*'");
    a_body_replaces_the_query_of_a_deletion(&b);
    options_are_checked(&b);
    selectors_have_a_limit(&b);
    box_close(&b);
    return tap_done();
}
