/* The client: its making and end, the verbs, and the watch over idle watches. */

#include "client/internal.h"

#include <stdio.h>

/* ---- calls */

static struct kube_call *call_new(struct client *c, const char *method, const char *accept)
{
    struct kube_call *call = mem_new(sizeof(*call));

    call->c = c;
    call->a = arena_new();
    call->method = method;
    call->accept = arena_printf(call->a, "Accept: %s", accept ? accept : "application/json").p;
    call->next = c->calls;
    if (call->next)
        call->next->prev = call;
    c->calls = call;
    c->stats.open++;
    return call;
}

#define AS_METADATA      ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
#define AS_METADATA_LIST ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

/* JSON is what every server has. */
static const char *accept_of(const struct kube_request *r, bool protobuf)
{
    if (!r->metadata)
        return protobuf ? KUBE_PROTOBUF ",application/json" : r->accept;
    if (r->verb == KUBE_LIST)
        return "application/json" AS_METADATA_LIST ",application/json";
    return protobuf ? KUBE_PROTOBUF AS_METADATA ",application/json" AS_METADATA ",application/json"
                    : "application/json" AS_METADATA ",application/json";
}

/* Whether what comes back is to be in protobuf. */
static bool reads_form(const struct kube_request *r, const struct kube_form *f)
{
    return f && f->reads && !r->accept &&
           (r->verb == KUBE_WATCH || (r->verb == KUBE_CREATE && r->metadata));
}

static void set_body(struct kube_call *call, const struct kube_request *r,
                     const struct kube_form *f)
{
    const char *type = kube_content_type(r);

    if (!type)
        return;
    if (r->verb == KUBE_CREATE && !call->c->only_json)
        call->body = kube_form_write(call->a, f, r->body);
    if (call->body.n) {
        call->type = "Content-Type: " KUBE_PROTOBUF;
        call->written = f;
        return;
    }
    call->type = arena_printf(call->a, "Content-Type: %s", type).p;
    call->body = json_text(call->a, r->body);
}

static struct kube_call *call_for(struct client *c, const struct kube_request *r)
{
    const struct kube_form *f = kube_form_find(c->cfg->forms, c->cfg->n_forms, r->res);
    bool reads = reads_form(r, f);
    struct kube_call *call = call_new(c, kube_method(r), accept_of(r, reads));

    call->url = arena_cat(call->a, str_of(c->base), kube_path(call->a, r)).p;
    call->read = reads ? f : NULL;
    set_body(call, r, f);
    return call;
}

static void begin(struct kube_call *call, int64_t timeout_ms, kube_done *done, void *ctx)
{
    call->done = done;
    call->ctx = ctx;
    call->timeout_ms = timeout_ms ? timeout_ms : call->c->cfg->timeout_ms;
    if (call->timeout_ms <= 0)
        call->timeout_ms = TIMEOUT_MS;
    call_start(call);
}

static struct kube_call *do_send(struct kube_api *api, const struct kube_request *r,
                                 kube_done *done, void *ctx)
{
    struct client *c = (struct client *)api;
    struct kube_call *call = call_for(c, r);

    assert_on_loop(c->loop);
    begin(call, r->timeout_ms, done, ctx);
    return call;
}

static struct kube_call *do_get(struct kube_api *api, const struct kube_get *g, kube_done *done,
                                void *ctx)
{
    struct client *c = (struct client *)api;
    struct kube_call *call = call_new(c, "GET", g->accept);

    assert_on_loop(c->loop);
    call->url = arena_cat(call->a, str_of(c->base), g->path).p;
    call->on_bytes = g->on_bytes;
    if (!g->on_bytes) {
        begin(call, 0, done, ctx);
        return call;
    }
    call->done = done;
    call->ctx = ctx;
    c->stats.watches++; /* it may last as long as one */
    call_start(call);
    return call;
}

static int64_t idle_limit(const struct client *c)
{
    return c->cfg->watch_idle_ms > 0 ? c->cfg->watch_idle_ms : WATCH_IDLE_MS;
}

static void on_idle(void *arg)
{
    struct client *c = arg;
    int64_t now = loop_now_ms(c->loop);

    for (struct kube_call *call = c->calls; call; call = call->next) {
        struct err e;
        if (call->done || !call->line || call->finished || now - call->last_byte_ms < idle_limit(c))
            continue;
        err_set(&e, ERR_TIMEOUT, "%s: received nothing on the watch for %lld s", c->host,
                (long long)(now - call->last_byte_ms) / 1000);
        call_fail(call, &e);
    }
    if (c->stats.watches)
        return;
    loop_timer_stop(TAKE(c->idle_timer));
}

static struct kube_call *do_watch(struct kube_api *api, const struct kube_request *r,
                                  const struct kube_watcher *w)
{
    struct client *c = (struct client *)api;
    struct kube_request timed = *r;
    int64_t tick = idle_limit(c) / 4;
    uint32_t spread;

    assert_on_loop(c->loop);
    if (timed.timeout_ms <= 0) {
        random_bytes(&spread, sizeof(spread)); /* not all watches end at once */
        timed.timeout_ms = WATCH_LEAST_MS + spread % WATCH_LEAST_MS;
    }
    struct kube_call *call = call_for(c, &timed);
    call->watcher = *w;
    call->lines = kube_lines_new(call->read, w->on_event, w->ctx);
    c->stats.watches++;
    if (!c->idle_timer) {
        tick = tick > 30000 ? 30000 : tick < 10 ? 10 : tick;
        c->idle_timer = loop_timer_start(c->loop, tick, tick, on_idle, c);
    }
    call_start(call);
    return call;
}

static void do_cancel(struct kube_api *api, struct kube_call *call)
{
    (void)api;
    assert_on_loop(call->c->loop);
    call_free(call);
}

static const struct kube_api_ops ops = { do_send, do_watch, do_cancel, do_get };

/* ---- the client */

/* Splits the server's URL, and with a name of its own for TLS connects to the one under the name of
 * the other. */
static int find_host(struct client *c, struct err *e)
{
    str url = str_of(c->cfg->server);
    bool tls = str_starts(url, S("https://"));
    str rest = str_sub(url, tls ? 8 : 7, url.n);
    ptrdiff_t slash = str_find(rest, '/');
    str host = slash < 0 ? rest : str_sub(rest, 0, (size_t)slash);
    str prefix = slash < 0 ? S("") : str_sub(rest, (size_t)slash, rest.n);
    CURLU *u = mem_or_abort(curl_url());
    bool good = curl_url_set(u, CURLUPART_URL, c->cfg->server, 0) == CURLUE_OK;

    curl_url_cleanup(u);
    if (!good || !host.n)
        return err_set(e, ERR_INVALID, "server %s is not a valid URL", c->cfg->server);
    c->host = arena_z(c->a, host);
    c->base = c->cfg->server;
    c->http1 = !tls;
    if (!tls || !c->cfg->tls_server_name)
        return 0;
    c->base = arena_printf(c->a, "https://%s%" PRI_STR, c->cfg->tls_server_name, STR_ARG(prefix)).p;
    c->connect_to = curl_slist_append(
        NULL, arena_printf(c->a, "::%s%s", c->host,
                           str_rfind(host, ':') > str_rfind(host, ']') ? "" : ":443")
                  .p);
    return 0;
}

int client_load(struct err *e)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) /* counts, and is safe with threads */
        return err_set(e, ERR_INTERNAL, "libcurl (libcurl.so.4) cannot be loaded");
    return 0;
}

int client_new(struct client **out, struct loop *l, const struct client_config *cfg, struct err *e)
{
    assert_on_loop(l);
    if (client_load(e) < 0)
        return -1;
    struct client *c = mem_new(sizeof(*c));
    c->api.ops = &ops;
    c->loop = l;
    c->cfg = cfg;
    c->a = arena_new();
    if (find_host(c, e) < 0 || credential_init(c, e) < 0) {
        c->stopped = true;
        credential_done(c);
        c->holds = 1;
        client_unref(c);
        return -1;
    }
    multi_init(c);
    *out = c;
    return 0;
}

void client_unref(struct client *c)
{
    c->holds--;
    if (!c->stopped || c->holds > 0)
        return;
    curl_slist_free_all(c->connect_to);
    vec_done(&c->counts);
    arena_free(c->a);
    free(c);
    curl_global_cleanup();
}

void client_free(struct client *c)
{
    if (!c || c->stopped)
        return;
    assert_on_loop(c->loop);
    c->stopped = true;
    while (c->calls)
        call_free(c->calls);
    loop_timer_stop(TAKE(c->idle_timer));
    pace_done(c);
    credential_done(c);
    multi_done(c);
}

struct kube_api *client_api(struct client *c)
{
    return &c->api;
}

/* ---- counters */

struct client_stats client_stats(const struct client *c)
{
    return c->stats;
}

const char *client_host(const struct client *c)
{
    return c->host;
}

void client_requests_each(const struct client *c,
                          void (*fn)(void *ctx, const char *method, const char *code, int64_t n),
                          void *ctx)
{
    for (size_t i = 0; i < c->counts.n; i++) {
        const struct request_count *r = &c->counts.at[i];
        char code[16] = "<error>";
        if (r->code)
            snprintf(code, sizeof(code), "%d", r->code);
        fn(ctx, r->method, code, r->n);
    }
}
