/* Long lists are made in slices (L1), and in every form they are what short ones would be. */

#include "rights.h"

#include "base/yaml.h"
#include "loop/watchdog.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

enum { MANY = 300 }; /* more than two slices */

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

static void a_client_may_leave_in_between(struct box *b)
{
    struct reply r = { .a = arena_new() };
    AUTO(arena) struct arena *a = arena_new();
    struct http_header h[] = { { S("accept"), S("application/yaml") } };
    str groups[] = { S("system:masters") };
    struct http_ask q = {
        .a = arena_new(), .headers = h, .n_headers = 1, .method = S("GET"), .target = S(MAPS)
    };
    struct http_local l = { .loop = b->loop,
                            .on_request = api_on_request,
                            .ctx = b->api,
                            .to = { reply_on_head, reply_on_piece, &r },
                            .who = { .user = S("admin"), .groups = groups, .n_groups = 1 } };
    struct http_req *req = http_local_start(&l, &q);

    while (!r.status)
        box_turn(b);
    ok(!r.done, "a list is on its way");
    http_local_cancel(req);
    for (int i = 0; i < 10; i++)
        box_turn(b);
    ok(jv_exists(answer(b, a, "GET " MAPS "?limit=1", false)), "its reader leaves, others go on");
    reply_auto(&r);
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
    all_are_deleted_at_once(&b);
    is_int(loop_slow().turns, 0, "L1: no turn was slow");
    box_close(&b);
    return tap_done();
}
