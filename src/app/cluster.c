/* See cluster.h. */

#include "app/cluster.h"

#include "app/up_operator.h"
#include "app/up_rights.h"
#include "base/mem.h"
#include "cli/data.h"
#include "cli/kubeconfig.h"
#include "http/pki.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { STOP_MS = 1800, LEAST_MS = 200 };

struct cluster {
    struct cluster_opts o;
    struct arena *a;
    struct arena *until_ready; /* what the API is to have from the start */
    struct store *store;
    struct api *api;
    struct http_server *server;
    struct up_operator *operator; /* NULL: without */
    struct up_node *node;         /* NULL: without, or not yet */
    struct up_binder *binder;     /* so, too */
    const char *url;
    str token;
    str account_key;
    str ca;
    int running; /* parts that are not done yet, once stopping */
    int64_t stop_ms;
    bool operating;
    bool stopping;
    void (*on_stopped)(void *ctx);
    void *stopped_ctx;
};

/* ---- stopping */

/* When operator and node are done with the API. */
static void part_stopped(void *ctx)
{
    struct cluster *c = ctx;
    int64_t left_ms = c->stop_ms + STOP_MS - loop_now_ms(c->o.loop);

    if (--c->running > 0)
        return;
    if (c->api)
        api_stop(c->api);
    if (c->server)
        http_server_stop(c->server, left_ms > LEAST_MS ? left_ms : LEAST_MS, c->on_stopped,
                         c->stopped_ctx);
    else
        c->on_stopped(c->stopped_ctx);
}

void cluster_stop(struct cluster *c, void (*done)(void *ctx), void *ctx)
{
    if (c->stopping) {
        if (c->node && c->running > 0)
            up_node_hurry(c->node);
        return;
    }
    c->stopping = true;
    c->on_stopped = done;
    c->stopped_ctx = ctx;
    c->stop_ms = loop_now_ms(c->o.loop);
    up_binder_free(TAKE(c->binder));
    c->running = 1 + c->operating + (c->node != NULL);
    if (c->node)
        up_node_stop(c->node, part_stopped, c);
    if (c->operating)
        up_operator_stop(c->operator, part_stopped, c);
    part_stopped(c);
}

void cluster_free(struct cluster *c)
{
    if (!c)
        return;
    up_binder_free(c->binder);
    up_node_free(c->node);
    up_node_unprepare(&c->o.node);
    if (c->store)
        store_close(c->store);
    http_server_free(c->server);
    api_free(c->api);
    up_pods_free(c->o.node.pods);
    up_operator_free(c->operator);
    arena_free(c->until_ready);
    arena_free(c->a);
    free(c);
}

/* ---- starting */

struct api *cluster_api(struct cluster *c)
{
    return c->api;
}

const char *cluster_server(const struct cluster *c)
{
    return c->url;
}

static const char *url_host(struct cluster *c)
{
    const char *host = c->o.host;

    if (strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0)
        return "127.0.0.1";
    return strchr(host, ':') ? arena_printf(c->a, "[%s]", host).p : host;
}

static int write_kubeconfigs(struct cluster *c, struct err *e)
{
    str text;
    const char *own = arena_printf(c->a, "%s/kubeconfig", c->o.dir).p;

    if (kubeconfig_text(c->a, c->o.dir, c->url, &text, e) < 0 || data_write(own, text, e) < 0)
        return -1;
    return c->o.kubeconfig ? up_hide_write(&c->o.node.hide, c->o.kubeconfig, text, e) : 0;
}

/* Without a node there are no directories for volumes: others make these. */
static void start_binder(struct cluster *c)
{
    struct up_binder_opts o = c->o.binder;

    if (c->o.no_node && o.no_scheduler)
        return;
    o.whole_jobs = !c->o.no_operator && up_gang_way(&c->o.gang) == UP_GANG_WHOLE;
    o.scheduler = up_gang_way(&c->o.gang) == UP_GANG_GROUPS ? c->o.gang.name : NULL;
    o.named = c->o.node.claims;
    o.volumes = c->o.no_node ? NULL : up_node_claims(c->a, &c->o.node).p;
    up_binder_start(&c->binder, c->o.loop, c->api, &o);
}

static int serve(struct cluster *c, struct err *e)
{
    const char *dir = c->o.dir;
    struct http_server_opts o = { .host = c->o.host,
                                  .port = c->o.port,
                                  .cert_pem_path = arena_printf(c->a, "%s/pki/server.crt", dir).p,
                                  .key_pem_path = arena_printf(c->a, "%s/pki/server.key", dir).p,
                                  .client_ca_pem_path = arena_printf(c->a, "%s/pki/ca.crt", dir).p,
                                  .on_request = api_on_request,
                                  .ctx = c->api };

    if (http_server_start(&c->server, c->o.loop, &o, e) < 0)
        return -1;
    api_set_server(c->api, c->server);
    c->url = arena_printf(c->a, "https://%s:%d", url_host(c), http_server_port(c->server)).p;
    if (write_kubeconfigs(c, e) < 0)
        return -1;
    if (c->o.on_serving)
        c->o.on_serving(c->o.ctx);
    if (c->operator) {
        up_operator_start(c->operator, c->o.loop, c->api);
        c->operating = true;
    }
    c->o.node.api_ca = c->ca;
    c->o.node.api_host = c->o.host;
    c->o.node.api_port = http_server_port(c->server);
    if (!c->o.no_node && up_node_start(&c->node, c->o.loop, c->api, &c->o.node, e) < 0)
        return -1;
    start_binder(c);
    return 0;
}

static void on_api_ready(void *ctx, const struct err *why)
{
    struct cluster *c = ctx;
    struct err e = { 0 };

    arena_free(TAKE(c->until_ready));
    if (why)
        e = *why;
    bool failed = why || serve(c, &e) < 0;
    c->o.on_ready(c->o.ctx, failed ? &e : NULL);
}

/* What signs tokens of service accounts; made at first use. */
static int account_key(struct cluster *c, str *out, struct err *e)
{
    const char *path = arena_printf(c->a, "%s/pki/accounts.key", c->o.dir).p;
    unsigned char secret[32];
    AUTO(buf) struct buf b = { 0 };
    struct err why = { 0 };

    if (data_read(c->a, path, out, &why) == 0 && out->n >= sizeof(secret))
        return 0;
    if (why.code != ERR_OK && why.code != ERR_NOT_FOUND) {
        *e = why;
        return -1;
    }
    random_bytes(secret, sizeof(secret));
    for (size_t i = 0; i < sizeof(secret); i++)
        buf_printf(&b, "%02x", secret[i]);
    *out = arena_str(c->a, buf_str(&b));
    return data_write(path, *out, e);
}

static int open_all(struct cluster *c, struct err *e)
{
    const char *pki = arena_printf(c->a, "%s/pki", c->o.dir).p;
    const char *hosts[] = { c->o.host };

    if (mkdir(pki, 0700) < 0 && errno != EEXIST)
        return err_sys(e, "make %s", pki);
    if (pki_ensure(pki, hosts, 1, e) < 0 || data_token(c->a, c->o.dir, &c->token, e) < 0)
        return -1;
    if (!c->o.no_node && (account_key(c, &c->account_key, e) < 0 ||
                          data_read(c->a, arena_printf(c->a, "%s/ca.crt", pki).p, &c->ca, e) < 0))
        return -1;
    struct store_opts o = { .accept_loss = c->o.accept_data_loss };
    return store_open(
        &c->store, c->o.loop,
        c->o.node.ephemeral ? ":memory:" : arena_printf(c->a, "%s/muster.db", c->o.dir).p, &o, e);
}

/* Where guides and examples of jobs put things. */
static const char *const up_namespaces[] = { "kubeflow", NULL };

int cluster_start(struct cluster **out, const struct cluster_opts *o, struct err *e)
{
    struct cluster *c = mem_new(sizeof(*c));

    c->o = *o;
    c->o.node.dir = o->dir;
    c->a = arena_new();
    *out = c;
    if (up_hide_begin(c->a, o->dir, o->kubeconfig, &c->o.node.hide, e) < 0)
        return -1;
    if (!o->no_node)
        up_node_prepare(&c->o.node, o->loop);
    if (o->node.must_isolate && o->node.isolation && *c->o.node.why.msg)
        return err_set(e, ERR_INVALID,
                       "--isolation %s is not possible here: %s; run with --isolation shared",
                       o->node.isolation, c->o.node.why.msg);
    if (open_all(c, e) < 0)
        return -1;
    struct api_opts api = { .loop = o->loop,
                            .store = c->store,
                            .token = c->token,
                            .account_key = c->account_key,
                            .protect_storage = !o->no_node };
    struct api_role *roles = ARENA_ARRAY(c->a, struct api_role, 3);
    api.roles = roles;
    c->operator= o->no_operator ? NULL : up_operator_new(o->legacy_labels, &o->gang);
    if (c->operator) {
        up_operator_describe(c->operator, & api);
        roles[api.n_roles++] = *up_operator_role(c->operator);
    }
    if (!o->binder.no_scheduler) {
        c->until_ready = arena_new();
        up_groups_describe(c->until_ready, &api);
    }
    if (!o->no_node) {
        roles[api.n_roles++] = up_node_role(c->a);
        api.namespaces = up_namespaces;
    }
    if (!o->no_node || !o->binder.no_scheduler)
        roles[api.n_roles++] = up_scheduler_role(c->a, o->binder.preempts);
    c->o.node.pods = o->no_node ? NULL : up_pods_new();
    if (c->o.node.pods)
        up_pods_describe(c->o.node.pods, &api);
    c->api = api_new(&api, on_api_ready, c);
    return 0;
}
