/* Servers that fail in every way: what the caller is told, and what the client does by itself. */

#include "faulty.h"

#include <netinet/tcp.h>
#include <signal.h>

#define OK_BODY  "{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[]}"
#define OK_REPLY "HTTP/1.1 200 OK\r\nContent-Length: 61\r\n\r\n" OK_BODY
#define HEAD     "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" /* until it closes */
#define EVENT(n) "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"" n "\"}}}\n"
#define EMPTY(s) "HTTP/1.1 " s "\r\nContent-Length: 0\r\n"

static const struct kube_resource pods = { "", "v1", "pods", "Pod", false };
static const struct kube_request list = { .verb = KUBE_LIST, .res = &pods };
static const struct kube_request watch = { .verb = KUBE_WATCH, .res = &pods };

struct rig {
    struct arena *a;
    struct loop *loop;
    struct faulty f;
    struct client_config cfg;
    struct client *client;
    struct kube_api *api;
};

static void open_client(struct rig *r)
{
    struct err e = { 0 };

    r->cfg.server = arena_printf(r->a, "http://127.0.0.1:%d", r->f.port).p;
    if (client_new(&r->client, r->loop, &r->cfg, &e) < 0)
        printf("Bail out! %s\n", e.msg);
    r->api = client_api(r->client);
}

static void new_client(struct rig *r)
{
    client_free(r->client);
    open_client(r);
}

static struct got ask(struct rig *r)
{
    struct got g = { 0 };

    kube_send(r->api, &list, on_got, &g);
    ok(run_until(r->loop, &g.n, 1, 60000), "an answer comes");
    return g;
}

static struct seen see(struct rig *r)
{
    struct seen s = { 0 };
    struct kube_watcher w = watcher(&s);

    kube_watch(r->api, &watch, &w);
    ok(run_until(r->loop, &s.ends, 1, 60000), "the watch ends");
    return s;
}

/* ---- requests */

static void failures_are_told_for_what_they_are(struct rig *r)
{
    static const struct {
        const char *what;
        struct step step;
        enum err_code code;
        int status;
    } rows[] = {
        { "no answer at all", { NULL, CLOSE, 0, 0 }, ERR_UNAVAILABLE, 0 },
        { "a reset", { NULL, RESET, 0, 0 }, ERR_UNAVAILABLE, 0 },
        { "half a head", { "HTTP/1.1 200 OK\r\nCont", CLOSE, 0, 0 }, ERR_INTERNAL, 200 },
        { "garbage", { "\x16\x03\x01 what?\r\n\r\n", CLOSE, 0, 0 }, ERR_UNAVAILABLE, 0 },
        { "half a body",
          { "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" OK_BODY, CLOSE, 0, 0 },
          ERR_UNAVAILABLE,
          0 },
        { "no JSON",
          { "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", KEEP, 0, 0 },
          ERR_INTERNAL,
          200 },
        { "500", { EMPTY("500 x") "\r\n", KEEP, 0, 0 }, ERR_INTERNAL, 500 },
        { "503 that names no time", { EMPTY("503 x") "\r\n", KEEP, 0, 0 }, ERR_UNAVAILABLE, 503 },
        { "429 that names too long a time",
          { EMPTY("429 x") "Retry-After: 120\r\n\r\n", KEEP, 0, 0 },
          ERR_TOO_MANY_REQUESTS,
          429 },
        { "410", { EMPTY("410 x") "\r\n", KEEP, 0, 0 }, ERR_EXPIRED, 410 },
        { "401 with nothing else to try",
          { EMPTY("401 x") "\r\n", KEEP, 0, 0 },
          ERR_UNAUTHORIZED,
          401 },
        { "a redirect", { EMPTY("302 x") "Location: /\r\n\r\n", KEEP, 0, 0 }, ERR_INTERNAL, 302 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        new_client(r);
        faulty_script(&r->f, &rows[i].step, 1);
        struct got g = ask(r);
        is_int(g.err.code, rows[i].code, rows[i].what);
        is_int(g.status, rows[i].status, g.err.msg);
        is_int(r->f.asked, 1, "it was asked once");
        if (rows[i].status == 429)
            is_int(g.retry_after_ms, 120000, "the time is passed on");
        got_done(&g);
    }
}

static void nobody_there_is_unavailable(struct rig *r)
{
    int port = r->f.port;

    r->f.port = 1;
    new_client(r);
    struct got g = ask(r);
    is_int(g.err.code, ERR_UNAVAILABLE, "connection refused");
    is_int(g.status, 0, g.err.msg);
    got_done(&g);
    r->f.port = port;
}

static void retry_after_is_obeyed(struct rig *r)
{
    int64_t start = loop_now_ms(r->loop);

    new_client(r);
    SCRIPT(&r->f, { EMPTY("429 x") "Retry-After: 1\r\n\r\n", KEEP, 0, 0 },
           { EMPTY("503 x") "Retry-After: 1\r\n\r\n", KEEP, 0, 0 }, { OK_REPLY, KEEP, 0, 0 });
    struct got g = ask(r);
    is_int(g.status, 200, "in the end it succeeds");
    ok(loop_now_ms(r->loop) - start >= 2000, "after the time the server said");
    is_int(client_stats(r->client).retries, 2, "two retries are counted");
    is_int(client_stats(r->client).requests, 3, "three requests");
    got_done(&g);
}

static void a_proxy_is_asked(struct rig *r)
{
    struct err e = { 0 };

    client_free(r->client);
    r->cfg.server = "http://cluster.invalid:6443";
    r->cfg.proxy = arena_printf(r->a, "http://127.0.0.1:%d", r->f.port).p;
    if (client_new(&r->client, r->loop, &r->cfg, &e) < 0)
        printf("Bail out! %s\n", e.msg);
    r->api = client_api(r->client);
    buf_clear(&r->f.text);
    SCRIPT(&r->f, { OK_REPLY, KEEP, 0, 0 });
    struct got g = ask(r);
    is_int(g.status, 200, "a server that only a proxy knows answers through it");
    ok(str_contains(buf_str(&r->f.text), S("GET http://cluster.invalid:6443/api/v1/pods")),
       "the proxy is asked for it");
    got_done(&g);
    r->cfg = (struct client_config){ 0 };
}

/* $http_proxy is for what is far away. */
static void this_machine_is_asked_directly(struct rig *r)
{
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    new_client(r);
    SCRIPT(&r->f, { OK_REPLY, KEEP, 0, 0 });
    struct got g = ask(r);
    is_int(g.status, 200, "127.0.0.1 is asked without the proxy of the environment");
    got_done(&g);
    unsetenv("http_proxy");
}

static void silence_ends_in_a_timeout(struct rig *r)
{
    r->cfg.timeout_ms = 3000;
    new_client(r);
    SCRIPT(&r->f, { NULL, KEEP, 0, 0 }, { OK_REPLY, KEEP, 0, 0 });
    struct got g = ask(r);
    is_int(g.err.code, ERR_TIMEOUT, g.err.msg);
    got_done(&g);
    g = ask(r);
    is_int(g.status, 200, "the next one succeeds");
    got_done(&g);
    r->cfg.timeout_ms = 0;
}

static void r1_answers_have_a_limit(struct rig *r)
{
    static char block[1024 * 1024];
    struct step s = { block, CLOSE, 80, 0 };

    memset(block, ' ', sizeof(block) - 1);
    memcpy(block, HEAD, sizeof(HEAD) - 1);
    new_client(r);
    faulty_script(&r->f, &s, 1);
    struct got g = ask(r);
    is_int(g.err.code, ERR_TOO_LARGE, g.err.msg);
    got_done(&g);
}

static void a_dead_kept_connection_is_replaced(struct rig *r)
{
    new_client(r);
    SCRIPT(&r->f, { OK_REPLY, CLOSE, 0, 0 }, { OK_REPLY, KEEP, 0, 0 });
    struct got g = ask(r);
    got_done(&g);
    int zero = 0;
    run_until(r->loop, &zero, 1, 50);
    g = ask(r);
    is_int(g.status, 200, "a connection that was closed meanwhile is no error");
    got_done(&g);
}

/* A peer that is gone without a word cannot be had here; what makes the kernel notice can be seen.
 */
static void half_open_connections_are_looked_for(struct rig *r)
{
    int found = 0;

    new_client(r);
    SCRIPT(&r->f, { OK_REPLY, KEEP, 0, 0 });
    struct got g = ask(r);
    for (int fd = 3; fd < 200; fd++) {
        int probes = 0;
        int unheard_ms = 0;
        socklen_t n = sizeof(int);
        if (getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &probes, &n) == 0 && probes &&
            getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unheard_ms, &n) == 0)
            found += unheard_ms > 0 && unheard_ms <= 60000;
    }
    is_int(found, 1, "the connection is probed when idle, and given up when nobody acknowledges");
    got_done(&g);
}

/* ---- watches */

static void watches_end_with_the_reason(struct rig *r)
{
    static const struct {
        const char *what;
        struct step step;
        const char *events;
        enum err_code code; /* ERR_OK: ended in peace */
        int64_t after_ms;
    } rows[] = {
        { "the end between lines",
          { HEAD EVENT("a") EVENT("b"), CLOSE, 0, 0 },
          "ADDED a, ADDED b, ",
          ERR_OK,
          0 },
        { "in pieces of three bytes",
          { HEAD EVENT("a") EVENT("b"), CLOSE, 0, 3 },
          "ADDED a, ADDED b, ",
          ERR_OK,
          0 },
        { "cut in the middle of a line",
          { HEAD EVENT("a") "{\"type\":", CLOSE, 0, 0 },
          "ADDED a, ",
          ERR_UNAVAILABLE,
          0 },
        { "a reset", { HEAD EVENT("a"), RESET, 0, 7 }, NULL, ERR_UNAVAILABLE, 0 },
        { "a chunk cut short",
          { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n99\r\n" EVENT("a"), CLOSE, 0, 0 },
          "ADDED a, ",
          ERR_UNAVAILABLE,
          0 },
        { "garbage in the stream",
          { HEAD EVENT("a") "<html>\n", KEEP, 0, 0 },
          "ADDED a, ",
          ERR_INTERNAL,
          0 },
        { "410 in the stream",
          { HEAD
            "{\"type\":\"ERROR\",\"object\":{\"code\":410,\"reason\":\"Expired\",\"message\":\"old\"}}\n",
            KEEP, 0, 0 },
          "",
          ERR_EXPIRED,
          0 },
        { "410 at once", { EMPTY("410 x") "\r\n", KEEP, 0, 0 }, "", ERR_EXPIRED, 0 },
        { "429 at once",
          { EMPTY("429 x") "Retry-After: 3\r\n\r\n", KEEP, 0, 0 },
          "",
          ERR_TOO_MANY_REQUESTS,
          3000 },
        { "429 until the sun is cold",
          { EMPTY("429 x") "Retry-After: 9999999999\r\n\r\n", KEEP, 0, 0 },
          "",
          ERR_TOO_MANY_REQUESTS,
          300000 },
        { "429 until later than that",
          { EMPTY("429 x") "Retry-After: 1000000000000000000000\r\n\r\n", KEEP, 0, 0 },
          "",
          ERR_TOO_MANY_REQUESTS,
          0 },
        { "429 until yesterday",
          { EMPTY("429 x") "Retry-After: -86400\r\n\r\n", KEEP, 0, 0 },
          "",
          ERR_TOO_MANY_REQUESTS,
          0 },
        { "silence", { HEAD EVENT("a"), KEEP, 0, 0 }, "ADDED a, ", ERR_TIMEOUT, 0 },
        { "not even a head", { NULL, KEEP, 0, 0 }, "", ERR_TIMEOUT, 0 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        r->cfg.watch_idle_ms = rows[i].code == ERR_TIMEOUT ? 300 : 0;
        new_client(r);
        faulty_script(&r->f, &rows[i].step, 1);
        struct seen s = see(r);
        is_int(s.failed ? s.err.code : ERR_OK, rows[i].code, rows[i].what);
        if (rows[i].events) /* a reset may overtake what was sent before it */
            is_str(buf_str(&s.text), str_of(rows[i].events), s.failed ? s.err.msg : "in peace");
        is_int(s.retry_after_ms, rows[i].after_ms, "when to come back");
        is_int(client_stats(r->client).watches, 0, "none is open");
        seen_done(&s);
    }
    r->cfg.watch_idle_ms = 0;
}

static void many_watches_leave_room_for_requests(struct rig *r)
{
    enum { N = 40 };
    struct step steps[N + 1];
    struct seen seen[N] = { 0 };
    struct kube_watcher w;

    for (int i = 0; i < N; i++) {
        steps[i] = (struct step){ HEAD EVENT("a"), KEEP, 0, 0 };
        w = watcher(&seen[i]);
    }
    steps[N] = (struct step){ OK_REPLY, KEEP, 0, 0 };
    new_client(r);
    faulty_script(&r->f, steps, COUNT(steps));
    for (int i = 0; i < N; i++) {
        w = watcher(&seen[i]);
        kube_watch(r->api, &watch, &w);
    }
    for (int i = 0; i < N; i++)
        run_until(r->loop, &seen[i].events, 1, 60000);
    struct got g = ask(r);
    is_int(g.status, 200, "a request gets through beside many watches over HTTP/1.1");
    got_done(&g);
    client_free(r->client);
    r->client = NULL;
    for (int i = 0; i < N; i++) {
        if (seen[i].events != 1 || seen[i].ends)
            ok(false, "watch %d saw %d events, %d ends", i, seen[i].events, seen[i].ends);
        seen_done(&seen[i]);
    }
}

/* ---- cancelling */

struct bomb {
    struct rig *r;
    struct kube_call *calls[3];
};

static void cancel_all(void *ctx)
{
    struct bomb *b = ctx;

    for (size_t i = 0; i < COUNT(b->calls); i++)
        if (b->calls[i])
            kube_cancel(b->r->api, TAKE(b->calls[i]));
}

static void free_client(void *ctx)
{
    struct bomb *b = ctx;

    client_free(TAKE(b->r->client));
}

static void anything_may_be_done_from_within(struct rig *r, void (*what)(void *ctx), bool all)
{
    struct bomb b = { .r = r };
    struct got first = { .then = what, .ctx = &b };
    struct got rest[3] = { 0 };
    struct seen s = { 0 };
    struct kube_watcher w = watcher(&s);
    int zero = 0;

    new_client(r);
    SCRIPT(&r->f, { HEAD EVENT("a"), KEEP, 0, 0 }, { OK_REPLY, KEEP, 0, 0 },
           { OK_REPLY, KEEP, 0, 0 }, { OK_REPLY, KEEP, 0, 0 }, { NULL, KEEP, 0, 0 });
    b.calls[0] = kube_watch(r->api, &watch, &w);
    run_until(r->loop, &s.events, 1, 60000);
    kube_send(r->api, &list, on_got, &first);
    b.calls[1] = kube_send(r->api, &list, on_got, &rest[1]);
    b.calls[2] = kube_send(r->api, &list, on_got, &rest[2]);
    while (!first.n && !rest[1].n && !rest[2].n)
        uv_run(loop_uv(r->loop), UV_RUN_ONCE);
    if (!first.n) { /* another came first: then it is told that it cannot be cancelled any more */
        b.calls[1] = rest[1].n ? NULL : b.calls[1];
        b.calls[2] = rest[2].n ? NULL : b.calls[2];
    }
    run_until(r->loop, &first.n, 1, 60000);
    int before = rest[1].n + rest[2].n + s.ends;
    run_until(r->loop, &zero, 1, 50);
    is_int(rest[1].n + rest[2].n + s.ends, before, "nothing is told after that");
    if (all)
        ok(!r->client, "the client is gone");
    else
        is_int(client_stats(r->client).open, 0, "nothing is open");
    got_done(&first);
    got_done(&rest[1]);
    got_done(&rest[2]);
    seen_done(&s);
}

static void requests_carry_who_we_are(struct rig *r)
{
    AUTO(jdoc) struct jdoc *groups = J("['g1', 'g2']");
    AUTO(jdoc) struct jdoc *extra = J("{'a/b': ['v']}");

    r->cfg.component = "operator";
    r->cfg.username = "me";
    r->cfg.password = "pw";
    r->cfg.as = "other";
    r->cfg.as_groups = jdoc_root(groups);
    r->cfg.as_extra = jdoc_root(extra);
    new_client(r);
    SCRIPT(&r->f, { OK_REPLY, KEEP, 0, 0 });
    struct got g = ask(r);
    got_done(&g);
    str text = buf_str(&r->f.text);
    ok(str_starts(text, S("GET /api/v1/pods HTTP/1.1\r\n")), "the request line");
    ok(str_contains(text, S("\r\nUser-Agent: muster/" MUSTER_VERSION " (operator)\r\n")),
       "the agent");
    ok(str_contains(text, S("\r\nAuthorization: Basic bWU6cHc=\r\n")), "name and password");
    ok(str_contains(text, S("\r\nImpersonate-User: other\r\n")), "the impersonated user");
    ok(str_contains(text, S("\r\nImpersonate-Group: g1\r\nImpersonate-Group: g2\r\n")), "groups");
    ok(str_contains(text, S("\r\nImpersonate-Extra-a%2Fb: v\r\n")), "extras");
    ok(str_contains(text, S("\r\nAccept: application/json\r\n")), "what is wanted");
    r->cfg = (struct client_config){ 0 };
}

static void the_rate_limit_holds(struct rig *r)
{
    struct step steps[8];
    struct got g[8] = { 0 };

    for (size_t i = 0; i < COUNT(steps); i++)
        steps[i] = (struct step){ OK_REPLY, KEEP, 0, 0 };
    r->cfg.qps = 20;
    r->cfg.burst = 2;
    new_client(r);
    faulty_script(&r->f, steps, COUNT(steps));
    int64_t start = loop_now_ms(r->loop);
    for (size_t i = 0; i < COUNT(g); i++)
        kube_send(r->api, &list, on_got, &g[i]);
    for (size_t i = 0; i < COUNT(g); i++)
        run_until(r->loop, &g[i].n, 1, 60000);
    int64_t took = loop_now_ms(r->loop) - start;
    ok(took >= 290 && took < 60000, "two at once and six at 20 a second took %" PRId64 " ms", took);
    for (size_t i = 0; i < COUNT(g); i++) {
        if (g[i].status != 200)
            ok(false, "request %zu: %d", i, g[i].status);
        got_done(&g[i]);
    }
    r->cfg = (struct client_config){ 0 };
}

int main(void)
{
    struct rig r = { .a = arena_new(), .loop = loop_new() };

    signal(SIGPIPE, SIG_IGN);
    faulty_start(&r.f, r.loop);
    open_client(&r);
    failures_are_told_for_what_they_are(&r);
    nobody_there_is_unavailable(&r);
    retry_after_is_obeyed(&r);
    a_proxy_is_asked(&r);
    this_machine_is_asked_directly(&r);
    silence_ends_in_a_timeout(&r);
    r1_answers_have_a_limit(&r);
    a_dead_kept_connection_is_replaced(&r);
    half_open_connections_are_looked_for(&r);
    watches_end_with_the_reason(&r);
    many_watches_leave_room_for_requests(&r);
    anything_may_be_done_from_within(&r, cancel_all, false);
    anything_may_be_done_from_within(&r, free_client, true);
    requests_carry_who_we_are(&r);
    the_rate_limit_holds(&r);
    client_free(r.client);
    faulty_stop(&r.f);
    loop_free(r.loop);
    buf_done(&r.f.text);
    arena_free(r.a);
    return tap_done();
}
