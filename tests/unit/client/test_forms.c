/* What goes as protobuf: to a server that takes it (our own, or with a kubeconfig as argument
 * whatever that names), and to one that does not. */

#include "builtin/types/types.h"
#include "builtin/wire.h"
#include "faulty.h"
#include "kube/form.h"
#include "spawn.h"

static const struct kube_resource maps = { "", "v1", "configmaps", "ConfigMap", false };
static const struct kube_form forms[] = {
    { &maps, &core_ConfigMap, &builtin_wire, &core_ConfigMap, &builtin_wire },
};

struct rig {
    struct arena *a;
    struct loop *loop;
    struct client_config cfg;
    struct client *client;
    struct kube_api *api;
};

static void open_client(struct rig *r)
{
    struct err e = { 0 };

    r->cfg.forms = forms;
    r->cfg.n_forms = COUNT(forms);
    ok(client_new(&r->client, r->loop, &r->cfg, &e) == 0, "there is a client: %s", e.msg);
    r->api = client_api(r->client);
}

static struct got ask(struct rig *r, struct kube_request q)
{
    struct got g = { 0 };

    kube_send(r->api, &q, on_got, &g);
    ok(run_until(r->loop, &g.n, 1, 60000), "an answer comes");
    return g;
}

static jv map_named(struct arena *a, str name)
{
    return jobj(a, { "kind", jstrz(a, "ConfigMap") }, { "apiVersion", jstrz(a, "v1") },
                { "metadata", jobj(a, { "name", jstr(a, name) }) },
                { "data", jobj(a, { "k", jstrz(a, "\xc3\xa9\n") }, { "l", jstrz(a, "") }) });
}

static struct kube_request create(struct arena *a, str name)
{
    return (struct kube_request){
        .verb = KUBE_CREATE, .res = &maps, .ns = S("default"), .body = map_named(a, name)
    };
}

static void remove_it(struct rig *r, str name)
{
    struct got g =
        ask(r, (struct kube_request){
                   .verb = KUBE_DELETE, .res = &maps, .ns = S("default"), .name = name });

    got_done(&g);
}

static void a_server_reads_what_json_would_say(struct rig *r)
{
    struct kube_request q = create(r->a, S("muster-forms"));

    remove_it(r, S("muster-forms"));
    q.metadata = true;
    struct got g = ask(r, q);
    is_int(g.status, 201, "created");
    is_str(jv_str(jv_at(jdoc_root(g.obj), "metadata", "name"), S("")), S("muster-forms"),
           "the answer has its name");
    ok(jv_exists(jv_at(jdoc_root(g.obj), "metadata", "uid")), "and its uid");
    got_done(&g);
    g = ask(r, (struct kube_request){
                   .verb = KUBE_GET, .res = &maps, .ns = S("default"), .name = S("muster-forms") });
    is_json(jv_at(jdoc_root(g.obj), "data"), "{'k': '\xc3\xa9\\n', 'l': ''}", "all of it is there");
    got_done(&g);
    g = ask(r, q);
    is_int(g.err.code, ERR_EXISTS, "errors are told as ever");
    is_str(str_of(g.message), S("configmaps \"muster-forms\" already exists"), "in their words");
    got_done(&g);
}

static void a_watch_tells_the_same(struct rig *r)
{
    struct seen s = { 0 };
    struct kube_watcher w = watcher(&s);
    struct got g =
        ask(r, (struct kube_request){ .verb = KUBE_LIST, .res = &maps, .ns = S("default") });
    str version =
        arena_str(r->a, jv_str(jv_at(jdoc_root(g.obj), "metadata", "resourceVersion"), S("")));
    struct kube_request q = { .verb = KUBE_WATCH,
                              .res = &maps,
                              .ns = S("default"),
                              .name = S("muster-forms"),
                              .version = version };

    got_done(&g);
    struct kube_call *call = kube_watch(r->api, &q, &w);
    remove_it(r, S("muster-forms"));
    g = ask(r, create(r->a, S("muster-forms")));
    got_done(&g);
    ok(run_until(r->loop, &s.events, 2, 60000), "two events come");
    is_str(buf_str(&s.text), S("DELETED muster-forms, ADDED muster-forms, "), "with their objects");
    kube_cancel(r->api, call);
    seen_done(&s);
    remove_it(r, S("muster-forms"));
}

#define ANSWER(code, text) "HTTP/1.1 " code "\r\nContent-Length: " text

static void a_server_that_wants_json_gets_it(struct arena *a)
{
    struct rig r = { .a = a, .loop = loop_new() };
    struct faulty f = { 0 };

    faulty_start(&f, r.loop);
    r.cfg.server = arena_printf(a, "http://127.0.0.1:%d", f.port).p;
    open_client(&r);
    SCRIPT(&f, { ANSWER("415 x", "0\r\n\r\n"), KEEP, 0, 0 },
           { ANSWER("201 x", "2\r\n\r\n{}"), KEEP, 0, 0 },
           { ANSWER("201 x", "2\r\n\r\n{}"), KEEP, 0, 0 });
    struct got g = ask(&r, create(a, S("one")));
    is_int(g.status, 201, "the caller is told of success alone");
    is_int(f.asked, 2, "at the second try");
    got_done(&g);
    str asked = buf_str(&f.text);
    ok(memmem(asked.p, asked.n, "Content-Type: " KUBE_PROTOBUF, 49), "the first is protobuf");
    ok(memmem(asked.p, asked.n, "\"metadata\":{\"name\":\"one\"}", 25), "the second JSON");
    buf_clear(&f.text);
    g = ask(&r, create(a, S("two")));
    is_int(f.asked, 3, "the next is JSON at once");
    asked = buf_str(&f.text);
    ok(memmem(asked.p, asked.n, "Content-Type: application/json", 30), "and says so");
    got_done(&g);
    client_free(r.client);
    faulty_stop(&f);
    buf_done(&f.text);
    loop_free(r.loop);
}

int main(int argc, char **argv)
{
    struct rig r = { .a = arena_new() };
    struct spawned server = { 0 };

    spawn_config(&server, r.a, argc, argv, &r.cfg);
    r.loop = loop_new();
    open_client(&r);
    a_server_reads_what_json_would_say(&r);
    a_watch_tells_the_same(&r);
    client_free(r.client);
    loop_free(r.loop);
    spawn_stop(&server, r.a);
    a_server_that_wants_json_gets_it(r.a);
    arena_free(r.a);
    return tap_done();
}
