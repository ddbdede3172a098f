/* Probes over the network, against a server of a few lines. */

#include "node/probes.h"
#include "tap.h"

#include <arpa/inet.h>
#include <unistd.h>
#include <uv.h>

static struct loop *l;
static const char *reply; /* NULL: none */
static char heard[1000];
static uv_tcp_t server;
static bool finished;
static enum probe_result got;
static char said[600];

static void on_close(uv_handle_t *h)
{
    free(h);
}

static void on_alloc(uv_handle_t *h, size_t n, uv_buf_t *b)
{
    static char room[1000];

    (void)h;
    (void)n;
    *b = uv_buf_init(room, sizeof(room) - 1);
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
    if (n > 0) {
        memcpy(heard, b->base, (size_t)n);
        heard[n] = '\0';
        if (reply) {
            uv_buf_t out = uv_buf_init((char *)(uintptr_t)reply, (unsigned)strlen(reply));
            uv_try_write(s, &out, 1);
        }
    }
    if (n < 0 || (reply && !uv_is_closing((uv_handle_t *)s)))
        uv_close((uv_handle_t *)s, on_close);
}

static void on_connection(uv_stream_t *s, int status)
{
    uv_tcp_t *c = calloc(1, sizeof(*c));

    (void)status;
    uv_tcp_init(s->loop, c);
    uv_accept(s, (uv_stream_t *)c);
    uv_read_start((uv_stream_t *)c, on_alloc, on_read);
}

static int listen_somewhere(void)
{
    struct sockaddr_in at;
    int n = sizeof(at);

    uv_ip4_addr("127.0.0.1", 0, &at);
    uv_tcp_init(loop_uv(l), &server);
    uv_tcp_bind(&server, (struct sockaddr *)&at, 0);
    uv_listen((uv_stream_t *)&server, 8, on_connection);
    uv_tcp_getsockname(&server, (struct sockaddr *)&at, &n);
    return ntohs(at.sin_port);
}

static void on_done(void *ctx, enum probe_result result, str message)
{
    (void)ctx;
    finished = true;
    got = result;
    snprintf(said, sizeof(said), "%" PRI_STR, STR_ARG(message));
}

static void ask(const char *handler, const char *answer)
{
    AUTO(jdoc) struct jdoc *h = J(handler);
    AUTO(jdoc) struct jdoc *c = J("{'ports': [{'name': 'web', 'containerPort': 1}]}");
    bool silent = !answer && jv_exists(jv_at(jdoc_root(h), "httpGet"));
    struct probe_opts o = { .loop = l,
                            .handler = jdoc_root(h),
                            .container = jdoc_root(c),
                            .host = S("127.0.0.1"),
                            .timeout_ms = silent ? 200 : 60 * 1000,
                            .done = on_done };

    reply = answer;
    finished = false;
    heard[0] = '\0';
    if (!probe_start(&o)) {
        finished = true;
        got = PROBE_UNKNOWN;
        snprintf(said, sizeof(said), "nothing to ask");
    }
    while (!finished)
        uv_run(loop_uv(l), UV_RUN_ONCE);
}

int main(void)
{
    AUTO(arena) struct arena *a = arena_new();
    l = loop_new();
    int port = listen_somewhere();
    const char *get = arena_printf(a,
                                   "{'httpGet': {'port': %d, 'path': '/healthz', 'httpHeaders': "
                                   "[{'name': 'X-A', 'value': 'b'}]}}",
                                   port)
                          .p;

    ask(get, "HTTP/1.1 200 OK\r\n\r\n");
    is_int(got, PROBE_GOOD, "200 is good");
    ok(strstr(heard, "GET /healthz HTTP/1.1\r\nX-A: b\r\n") == heard &&
           strstr(heard, "User-Agent: kube-probe/"),
       "it asked as kubelet does");
    ask(get, "HTTP/1.0 302 Found\r\n\r\n");
    is_int(got, PROBE_GOOD, "302 is good");
    ask(get, "HTTP/1.1 503 No\r\n\r\n");
    is_int(got, PROBE_BAD, "503 is bad");
    is_str(str_of(said), S("HTTP probe failed with statuscode: 503"), "and says so");
    ask(get, "garbage\r\n");
    is_int(got, PROBE_BAD, "no HTTP is bad");
    ask(get, NULL);
    is_int(got, PROBE_BAD, "silence is bad");
    is_str(str_of(said),
           arena_printf(a,
                        "Get \"http://127.0.0.1:%d/healthz\": context deadline exceeded "
                        "(Client.Timeout exceeded while awaiting headers)",
                        port),
           "and says so");
    ask(arena_printf(a, "{'httpGet': {'port': %d, 'scheme': 'HTTPS'}}", port).p,
        "HTTP/1.1 400 No\r\n\r\n");
    is_int(got, PROBE_BAD, "no TLS where TLS should be is bad");
    ask(arena_printf(a, "{'tcpSocket': {'port': %d}}", port).p, NULL);
    is_int(got, PROBE_GOOD, "a port that listens is good");
    ask("{'tcpSocket': {'port': 'web'}}", NULL);
    is_int(got, PROBE_BAD, "a named port that does not is bad");
    is_str(str_of(said), S("dial tcp 127.0.0.1:1: connect: connection refused"), "and says so");
    ask("{'tcpSocket': {'port': 'other'}}", NULL);
    is_int(got, PROBE_UNKNOWN, "a port of no known name cannot be asked");
    ask("{'exec': {}}", NULL);
    is_str(str_of(said), S("nothing to ask"), "exec is not for the network");
    uv_close((uv_handle_t *)&server, NULL);
    loop_stop(l);
    loop_run(l);
    loop_free(l);
    return tap_done();
}
