/* Long lists are made in slices (L1), and in every form they are what short ones would be. */

#include "rights.h"

#include "base/yaml.h"
#include "loop/watchdog.h"

#define MAPS  "/api/v1/namespaces/default/configmaps"
#define LARGE "/api/v1/namespaces/large/configmaps"

enum { MANY = 300, LARGE_BYTES = 300 * 1024 }; /* more than two slices */

static const char *const user = "admin,system:masters";

static jv answer(struct box *b, struct arena *a, const char *head, bool yaml)
{
    AUTO(reply) struct reply r = ask(b, user, head, S(""));
    struct err e = { 0 };
    str text = arena_str(a, buf_str(&r.body));

    is_int(r.status, 200, "it is answered");
    struct yaml_docs docs = { 0 };
    jv v = yaml ? JV_ABSENT : json_parse(a, text, NULL, &e);
    if (yaml && yaml_parse(a, STR_NONE, text, NULL, &docs, &e) == 0 && docs.n == 1)
        v = docs.at[0].root;
    if (!jv_exists(v))
        printf("# %s\n", e.msg);
    return v;
}

static void forms_agree(struct box *b)
{
    static const struct {
        const char *accept;
        const char *items;
    } forms[] = {
        { "application/json", "items" },
        { "application/json;as=Table;v=v1;g=meta.k8s.io", "rows" },
        { "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "items" },
    };

    for (size_t i = 0; i < COUNT(forms); i++) {
        AUTO(arena) struct arena *a = arena_new();
        jv plain = answer(
            b, a, arena_printf(a, "GET " MAPS "?limit=1000\naccept: %s", forms[i].accept).p, false);
        jv pretty = answer(
            b, a,
            arena_printf(a, "GET " MAPS "?limit=1000&pretty=1\naccept: %s", forms[i].accept).p,
            false);
        jv list = jv_get(plain, str_of(forms[i].items));
        is_int((int64_t)jv_len(list), MANY, "all objects are listed");
        jv again = jv_get(pretty, str_of(forms[i].items));
        ok(jv_len(again) == MANY && (i == 1 || jv_equal(plain, pretty)), /* rows tell the age */
           "and the same when indented");
    }
    AUTO(arena) struct arena *a = arena_new();
    jv json = answer(b, a, "GET " MAPS "\naccept: application/json", false);
    jv yaml = answer(b, a, "GET " MAPS "\naccept: application/yaml", true);
    ok(jv_equal(json, yaml), "and as YAML");
}

static struct http_req *start(struct box *b, struct reply *r, const char *target,
                              const char *accept)
{
    struct arena *a = arena_new();
    struct http_header *h = ARENA_NEW(a, struct http_header);
    str *groups = ARENA_NEW(a, str);
    struct http_ask q = {
        .a = a, .headers = h, .n_headers = 1, .method = S("GET"), .target = str_of(target)
    };
    struct http_local l = { .loop = b->loop,
                            .on_request = api_on_request,
                            .ctx = b->api,
                            .to = { reply_on_head, reply_on_piece, r },
                            .who = { .user = S("admin"), .groups = groups, .n_groups = 1 } };

    *h = (struct http_header){ S("accept"), str_of(accept) };
    *groups = S("system:masters");
    *r = (struct reply){ .a = arena_new() };
    return http_local_start(&l, &q);
}

static void a_client_may_leave_in_between(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(reply) struct reply r;
    struct http_req *req = start(b, &r, MAPS, "application/yaml");

    while (!r.status)
        box_turn(b);
    ok(!r.done, "a list is on its way");
    http_local_cancel(req);
    for (int i = 0; i < 10; i++)
        box_turn(b);
    ok(jv_exists(answer(b, a, "GET " MAPS "?limit=1", false)), "its reader leaves, others go on");
}

/* Few objects may be much work, too. */
static void others_have_their_turn(struct box *b)
{
    static const char meta[] = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
    static const char *const targets[] = { LARGE, LARGE "?labelSelector=!a" };
    AUTO(arena) struct arena *a = arena_new();
    char *text = arena_alloc(a, LARGE_BYTES);

    memset(text, 'x', LARGE_BYTES);
    rights_post(b, a, "/api/v1/namespaces", "{'metadata':{'name':'large'}}");
    for (int i = 0; i < 12; i++)
        rights_post(
            b, a, LARGE,
            arena_printf(a, "{'metadata':{'name':'l%d'},'data':{'k':'%.*s'}}", i, LARGE_BYTES, text)
                .p);
    for (size_t i = 0; i < COUNT(targets); i++) {
        AUTO(reply) struct reply list, small;
        start(b, &list, targets[i], i ? "application/json" : meta);
        start(b, &small, MAPS "/m1", "application/json");
        while (!small.done)
            box_turn(b);
        ok(!list.done && (!i || !list.status), "one that came later is served before a long list");
        box_until(b, &list.done);
        jv v = json_parse(a, buf_str(&list.body), NULL, NULL);
        is_int((int64_t)jv_len(jv_at(v, "items")), 12, "which is whole then");
    }
    AUTO(reply) struct reply gone;
    http_local_cancel(start(b, &gone, targets[1], "application/json"));
    answer(b, a, "GET " LARGE "?labelSelector=a&limit=1", false);
    is_int(gone.status, 0, "and one whose reader left is not answered");
}

static void all_are_deleted_at_once(struct box *b)
{
    AUTO(arena) struct arena *a = arena_new();

    answer(b, a, "DELETE " MAPS, false);
    jv left = answer(b, a, "GET " MAPS, false);
    is_int((int64_t)jv_len(jv_at(left, "items")), 0, "a collection is deleted whole");
}

int main(void)
{
    AUTO(arena) struct arena *a = arena_new();
    struct box b;

    box_open(&b, NULL, NULL);
    for (int i = 0; i < MANY; i++)
        rights_post(
            &b, a, MAPS,
            arena_printf(a, "{'metadata':{'name':'m%d'},'data':{'k':'a: b\\n- c\\n'}}", i).p);
    forms_agree(&b);
    a_client_may_leave_in_between(&b);
    others_have_their_turn(&b);
    all_are_deleted_at_once(&b);
    is_int(loop_slow().turns, 0, "L1: no turn was slow");
    box_close(&b);
    return tap_done();
}
