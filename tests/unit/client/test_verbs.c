/* Every verb through the client, against a server of its own: our own program, or with a kubeconfig
 * as argument whatever that names. */

#include "help.h"
#include "spawn.h"

static const struct kube_resource maps = { "", "v1", "configmaps", "ConfigMap", false };
static const struct kube_resource spaces = { "", "v1", "namespaces", "Namespace", true };

struct rig {
    struct loop *loop;
    struct arena *a;
    struct client_config cfg;
    struct client *client;
    struct kube_api *api;
};

static struct got ask(struct rig *r, struct kube_request q)
{
    struct got g = { 0 };

    kube_send(r->api, &q, on_got, &g);
    is_int(g.n, 0, "nothing is told from within the call");
    ok(run_until(r->loop, &g.n, 1, 60000), "an answer comes");
    return g;
}

static jv map_named(struct arena *a, str name, str value)
{
    return jobj(a, { "metadata", jobj(a, { "name", jstr(a, name) }) },
                { "data", jobj(a, { "k", jstr(a, value) }) });
}

static void start_clean(struct rig *r)
{
    struct got g = ask(
        r,
        (struct kube_request){
            .verb = KUBE_CREATE,
            .res = &spaces,
            .body = jobj(r->a, { "metadata", jobj(r->a, { "name", jstrz(r->a, "client-test") }) }),
        });

    ok(g.status == 201 || g.err.code == ERR_EXISTS, "a namespace: %d %s", g.status, g.err.msg);
    got_done(&g);
    g = ask(r, (struct kube_request){ .verb = KUBE_DELETE, .res = &maps, .ns = S("client-test") });
    is_int(g.status, 200, "and nothing in it");
    got_done(&g);
}

static void metadata_alone_can_be_had(struct rig *r)
{
    struct kube_request q = { .verb = KUBE_CREATE, .res = &maps, .ns = S("client-test") };

    q.body = map_named(r->a, S("two"), S("v"));
    q.metadata = true;
    struct got g = ask(r, q);
    is_int(g.status, 201, "created");
    ok(jv_exists(jv_at(jdoc_root(g.obj), "metadata", "uid")), "with metadata in the answer");
    ok(!jv_exists(jv_at(jdoc_root(g.obj), "data")), "and nothing else");
    got_done(&g);
    q = (struct kube_request){
        .verb = KUBE_LIST, .res = &maps, .ns = S("client-test"), .metadata = true
    };
    g = ask(r, q);
    jv first = jv_index(jv_at(jdoc_root(g.obj), "items"), 0);
    is_int(g.status, 200, "lists");
    ok(jv_exists(jv_at(first, "metadata", "uid")) && !jv_exists(jv_at(first, "data")), "as well");
    got_done(&g);
    g = ask(r, (struct kube_request){
                   .verb = KUBE_DELETE, .res = &maps, .ns = S("client-test"), .name = S("two") });
    is_int(g.status, 200, "deleted");
    got_done(&g);
}

static void verbs_do_what_they_say(struct rig *r)
{
    struct kube_request q = { .res = &maps, .ns = S("client-test"), .name = S("one") };

    q.verb = KUBE_CREATE;
    q.body = map_named(r->a, S("one"), S("\xc3\xa9\n"));
    struct got g = ask(r, q);
    is_int(g.status, 201, "created");
    is_int(g.err.code, ERR_OK, "without error");
    is_json(jv_at(jdoc_root(g.obj), "data"), "{'k': '\xc3\xa9\\n'}", "the object comes back");
    is_str(
        jv_str(jv_at(jv_index(jv_at(jdoc_root(g.obj), "metadata", "managedFields"), 0), "manager"),
               STR_NONE),
        S("muster"), "we are the field manager");
    got_done(&g);
    g = ask(r, q);
    is_int(g.err.code, ERR_EXISTS, "a second time it exists");
    is_str(str_of(g.message), S("configmaps \"one\" already exists"), "in the server's words");
    got_done(&g);
    q.verb = KUBE_PATCH;
    q.body = jobj(r->a, { "data", jobj(r->a, { "k", JV_NULL_V }, { "l", jstrz(r->a, "2") }) });
    g = ask(r, q);
    is_json(jv_at(jdoc_root(g.obj), "data"), "{'l': '2'}", "a merge patch");
    jv whole = jv_copy(r->a, jdoc_root(g.obj));
    got_done(&g);
    q.verb = KUBE_UPDATE;
    q.body = jv_with(r->a, whole, jstrz(r->a, "3"), "data", "l");
    g = ask(r, q);
    is_json(jv_at(jdoc_root(g.obj), "data"), "{'l': '3'}", "an update");
    got_done(&g);
    g = ask(r, q);
    is_int(g.err.code, ERR_CONFLICT, "an update of an old version conflicts");
    got_done(&g);
    q.verb = KUBE_GET;
    q.body = JV_ABSENT;
    g = ask(r, q);
    is_json(jv_at(jdoc_root(g.obj), "data"), "{'l': '3'}", "a get");
    got_done(&g);
    q.verb = KUBE_DELETE;
    q.body = jobj(r->a, { "propagationPolicy", jstrz(r->a, "Background") });
    g = ask(r, q);
    is_int(g.status, 200, "a delete with options");
    got_done(&g);
    q.verb = KUBE_GET;
    q.body = JV_ABSENT;
    g = ask(r, q);
    is_int(g.err.code, ERR_NOT_FOUND, "then it is gone");
    got_done(&g);
}

enum { MANY = 300 };

static void many_at_once_are_all_answered(struct rig *r)
{
    static struct got many[MANY];
    int left = MANY;

    for (int i = 0; i < MANY; i++) {
        str name = arena_printf(r->a, "m%d", i);
        kube_send(r->api,
                  &(struct kube_request){ .verb = KUBE_CREATE,
                                          .res = &maps,
                                          .ns = S("client-test"),
                                          .body = map_named(r->a, name, S("v")) },
                  on_got, &many[i]);
    }
    for (int i = 0; i < MANY; i++) {
        run_until(r->loop, &many[i].n, 1, 60000);
        left -= many[i].n == 1 && many[i].status == 201;
        got_done(&many[i]);
    }
    is_int(left, 0, "all of many creates at once succeed");
    is_int(client_stats(r->client).open, 0, "and none is left open");
}

static void lists_come_in_pages(struct rig *r)
{
    struct kube_request q = {
        .verb = KUBE_LIST, .res = &maps, .ns = S("client-test"), .limit = 120
    };
    size_t n = 0;
    int pages = 0;

    do {
        struct got g = ask(r, q);
        n += jv_len(jv_at(jdoc_root(g.obj), "items"));
        q.cont = arena_str(r->a, jv_str(jv_at(jdoc_root(g.obj), "metadata", "continue"), STR_NONE));
        pages++;
        got_done(&g);
    } while (q.cont.n && pages < 10);
    ok(n >= MANY && n <= MANY + 1, "all of them come: %zu", n); /* a cluster adds one of its own */
    is_int(pages, 3, "in three pages");
    q.cont = S("nonsense");
    struct got g = ask(r, q);
    is_int(g.err.code, ERR_BAD_REQUEST, "a bad token is refused");
    got_done(&g);
}

static str version_now(struct rig *r)
{
    struct got g =
        ask(r, (struct kube_request){
                   .verb = KUBE_LIST, .res = &maps, .ns = S("client-test"), .limit = 1 });
    str v = arena_str(r->a, jv_str(jv_at(jdoc_root(g.obj), "metadata", "resourceVersion"), S("")));

    got_done(&g);
    return v;
}

static void watches_tell_changes_in_order(struct rig *r)
{
    struct seen s = { 0 };
    struct seen t = { .cancel_in = r->api };
    struct kube_request q = { .verb = KUBE_WATCH, .res = &maps, .ns = S("client-test") };
    struct kube_watcher w = watcher(&s);
    struct kube_watcher wt = watcher(&t);

    q.version = version_now(r);
    q.name = S("w");
    struct kube_call *call = kube_watch(r->api, &q, &w);
    t.cancel = kube_watch(r->api, &q, &wt);
    is_int(client_stats(r->client).watches, 2, "two watches are open");
    struct kube_request c = { .verb = KUBE_CREATE, .res = &maps, .ns = S("client-test") };
    c.body = map_named(r->a, S("w"), S("1"));
    struct got g = ask(r, c);
    got_done(&g);
    c.verb = KUBE_PATCH;
    c.name = S("w");
    c.body = jobj(r->a, { "data", jobj(r->a, { "k", jstrz(r->a, "2") }) });
    g = ask(r, c);
    got_done(&g);
    c.verb = KUBE_DELETE;
    c.body = JV_ABSENT;
    g = ask(r, c);
    got_done(&g);
    ok(run_until(r->loop, &s.events, 3, 60000), "three events come");
    is_str(buf_str(&s.text), S("ADDED w, MODIFIED w, DELETED w, "), "in order");
    is_int(t.events, 1, "the one that cancelled itself saw one");
    kube_cancel(r->api, call);
    is_int(client_stats(r->client).watches, 0, "no watch is open");
    seen_done(&s);
    q.timeout_ms = 1000;
    q.version = version_now(r);
    kube_watch(r->api, &q, &w);
    ok(run_until(r->loop, &s.ends, 1, 60000) && !s.failed, "a watch ends when the server ends it");
    seen_done(&s);
    seen_done(&t);
}

static void cancelled_calls_say_nothing(struct rig *r)
{
    struct got g[4] = { 0 };
    struct kube_call *calls[4];

    for (int i = 0; i < 4; i++)
        calls[i] = kube_send(r->api, &(struct kube_request){ .verb = KUBE_LIST, .res = &maps },
                             on_got, &g[i]);
    kube_cancel(r->api, calls[1]);
    ok(run_until(r->loop, &g[0].n, 1, 60000), "one is answered");
    if (!g[2].n)
        kube_cancel(r->api, calls[2]);
    ok(run_until(r->loop, &g[3].n, 1, 60000), "another too");
    is_int(g[1].n, 0, "a cancelled one is not");
    for (int i = 0; i < 4; i++)
        got_done(&g[i]);
}

static void on_count(void *ctx, const char *method, const char *code, int64_t n)
{
    if (strcmp(method, "POST") == 0 && strcmp(code, "201") == 0)
        *(int64_t *)ctx += n;
}

static void requests_are_counted(struct rig *r)
{
    int64_t created = 0;

    client_requests_each(r->client, on_count, &created);
    ok(created >= MANY + 2, "%" PRId64 " creates are counted", created);
}

int main(int argc, char **argv)
{
    struct rig r = { .a = arena_new() };
    struct spawned server = { 0 };
    struct err e = { 0 };

    spawn_config(&server, r.a, argc, argv, &r.cfg);
    r.cfg.component = "test";
    r.loop = loop_new();
    ok(client_new(&r.client, r.loop, &r.cfg, &e) == 0, "there is a client: %s", e.msg);
    r.api = client_api(r.client);
    start_clean(&r);
    metadata_alone_can_be_had(&r);
    verbs_do_what_they_say(&r);
    many_at_once_are_all_answered(&r);
    lists_come_in_pages(&r);
    watches_tell_changes_in_order(&r);
    cancelled_calls_say_nothing(&r);
    requests_are_counted(&r);
    client_free(r.client);
    loop_free(r.loop);
    spawn_stop(&server, r.a);
    arena_free(r.a);
    return tap_done();
}
