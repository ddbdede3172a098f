/* muster operator: flags, a client, the controller, an election and two small servers, from the
 * first line to the last. Losing the lease ends the process where it stands: what is still in its
 * buffers must not get out. */

#include "app/operator.h"

#include "app/operator_internal.h"
#include "builtin/types/types.h"
#include "builtin/wire.h"
#include "job/gang.h"
#include "kube/form.h"
#include "loop/deadman.h"
#include "loop/log.h"
#include "loop/watchdog.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum {
    FINISH_MS = 5500,  /* for what was sent before a signal to be answered */
    RELEASE_MS = 2000, /* for the lease to be let go */
    GRACE_MS = 200,    /* for probes under way */
    OVERTIME_MS = 250, /* after which a loop that does not move is ended by the kernel */
    MARGIN_MS = 250,
    LOOK_AGAIN_MS = 1000 /* whether it is ready */
};

/* ---- stopping */

/* All but the loop, which closes what they leave in it. */
static void end(struct manager *o)
{
    loop_timer_stop(o->readiness);
    ctl_free(o->ctl);
    access_free(o->access);
    elect_free(o->elect);
    fence_free(o->fence);
    client_free(o->lease_client);
    client_free(o->client);
    http_server_free(o->metrics);
    http_server_free(o->probes);
    loop_stop(o->loop);
}

static void on_server_stopped(void *ctx)
{
    struct manager *o = ctx;

    if (--o->servers == 0)
        end(o);
}

static void stop_serving(struct manager *o)
{
    struct http_server *all[] = { o->metrics, o->probes };

    loop_timer_stop(TAKE(o->deadline));
    o->servers = !!o->metrics + !!o->probes;
    if (!o->servers)
        end(o);
    for (size_t i = 0; i < COUNT(all); i++)
        if (all[i])
            http_server_stop(all[i], GRACE_MS, on_server_stopped, o);
}

static void on_lease_over(void *arg)
{
    struct manager *o = arg;

    if (o->lease_is_over)
        return;
    o->lease_is_over = true;
    stop_serving(o);
}

static void on_ctl_over(void *arg)
{
    struct manager *o = arg;

    if (o->ctl_is_over)
        return;
    o->ctl_is_over = true;
    loop_timer_stop(TAKE(o->deadline));
    if (!o->elect) {
        on_lease_over(o);
        return;
    }
    o->deadline = loop_timer_start(o->loop, RELEASE_MS, 0, on_lease_over, o);
    elect_release(o->elect, on_lease_over, o);
}

static void on_finish_late(void *arg)
{
    struct manager *o = arg;

    /* The server may still work on them: the lease runs out by itself. */
    log_warn("not all requests were answered", KVI("waited_ms", FINISH_MS));
    o->ctl_is_over = true;
    on_lease_over(o);
}

static void on_signal(void *ctx, int signo)
{
    struct manager *o = ctx;

    if (o->stopping) {
        log_warn("stopped at once", KVZ("signal", sigabbrev_np(signo)));
        _exit(EXIT_FAILED);
    }
    log_info("stopping", KVZ("signal", sigabbrev_np(signo)));
    o->stopping = true;
    loop_timer_stop(TAKE(o->readiness));
    access_free(TAKE(o->access));
    o->deadline = loop_timer_start(o->loop, FINISH_MS, 0, on_finish_late, o);
    ctl_stop(o->ctl, on_ctl_over, o);
}

/* ---- the lease */

static bool may_write(void *ctx)
{
    const struct manager *o = ctx;

    return elect_holds(o->elect);
}

static void on_held(void *ctx, int64_t until_ms)
{
    struct manager *o = ctx;
    bool json = o->flags.log_format == LOG_JSON;

    deadman_set(until_ms ? until_ms + OVERTIME_MS : 0,
                json ? S("{\"level\":\"error\",\"msg\":\"leader election lost\",\"why\":\"this "
                         "process did not run for too long\"}\n")
                     : S("level=error msg=\"leader election lost\" why=\"this process did not run "
                         "for too long\"\n"));
    if (until_ms)
        ctl_lead(o->ctl, true);
}

static void on_lost(void *ctx, const char *why)
{
    (void)ctx;
    log_error("leader election lost", KVZ("why", why));
    _exit(EXIT_FAILED);
}

static const char *lease_namespace(const struct manager *o)
{
    if (*o->flags.lease_ns)
        return o->flags.lease_ns;
    return o->config.ns && *o->config.ns ? o->config.ns : "default";
}

static int start_election(struct manager *o, struct err *e)
{
    char host[256] = "";
    char uuid[37];

    /* What is sent in the last moment arrives within the lease, or not at all. */
    o->config.unacked_ms = o->flags.lease_ms - o->flags.renew_ms - OVERTIME_MS - MARGIN_MS;
    o->lease_config = o->config;
    o->lease_config.qps = 0;
    if (client_new(&o->lease_client, o->loop, &o->lease_config, e) < 0)
        return -1;
    gethostname(host, sizeof(host) - 1);
    random_uuid(uuid);
    struct elect_opts opts = { .loop = o->loop,
                               .api = client_api(o->lease_client),
                               .ns = str_of(lease_namespace(o)),
                               .name = str_of(o->flags.lease_name),
                               .identity = arena_printf(o->a, "%s_%s", host, uuid),
                               .lease_ms = o->flags.lease_ms,
                               .renew_ms = o->flags.renew_ms,
                               .retry_ms = o->flags.retry_ms,
                               .on_held = on_held,
                               .on_lost = on_lost,
                               .ctx = o };
    o->elect = elect_new(&opts);
    return 0;
}

/* ---- starting */

static void look_ready(void *arg)
{
    struct manager *o = arg;
    const char *why = NULL;

    if (!operator_is_ready(o, &why))
        return;
    loop_timer_stop(TAKE(o->readiness));
    log_info("ready", KVZ("role", !o->elect || elect_leads(o->elect) ? "acting" : "standing by"));
    malloc_trim(0); /* what filling the caches took is not needed again */
}

/* What there are thousands of. */
static const struct kube_form forms[] = {
    { &kube_pods, &core_Pod, &builtin_wire, &seen_pod_type, &seen_wire },
    { &kube_services, &core_Service, &builtin_wire, &seen_service_type, &seen_wire },
};

static int load_config(struct manager *o, struct err *e)
{
    struct client_from from = client_from_env();

    if (*o->flags.kubeconfig)
        from.file = o->flags.kubeconfig;
    if (client_config_load(o->a, &from, &o->config, e) < 0)
        return -1;
    o->config.component = "operator";
    o->config.forms = forms;
    o->config.n_forms = COUNT(forms);
    o->config.qps = o->flags.qps > 0 ? o->flags.qps : 0;
    o->config.burst = (int)(o->flags.burst > 0 ? o->flags.burst : 0);
    return 0;
}

static void say_start(const struct manager *o)
{
    AUTO(buf) struct buf kinds = { 0 };

    for (size_t i = 0; i < o->flags.n_kinds; i++)
        buf_printf(&kinds, "%s%s", i ? "," : "", o->flags.kinds[i]->res->kind);
    log_info("muster operator", KVZ("version", MUSTER_VERSION), KVZ("server", o->config.server),
             KVZ("config", o->config.from), KV("kinds", buf_str(&kinds)),
             KVZ("namespace", *o->flags.ns ? o->flags.ns : "(all)"));
}

static int start(struct manager *o, struct err *e)
{
    if (load_config(o, e) < 0 || (o->flags.elect && start_election(o, e) < 0) ||
        client_new(&o->client, o->loop, &o->config, e) < 0 ||
        operator_listen(o, "metrics", o->flags.metrics_address, operator_on_metrics, &o->metrics,
                        e) < 0 ||
        operator_listen(o, "health-probe", o->flags.probe_address, operator_on_probe, &o->probes,
                        e) < 0 ||
        loop_on_signal(o->loop, SIGTERM, on_signal, o, e) < 0 ||
        loop_on_signal(o->loop, SIGINT, on_signal, o, e) < 0)
        return -1;
    if (o->elect)
        o->fence = fence_new(o->loop, client_api(o->client), may_write, o);
    struct ctl_opts opts = { .planners = o->flags.kinds,
                             .n = o->flags.n_kinds,
                             .settings = &o->flags.settings,
                             .needed = gang_needed(o->flags.settings.gang),
                             .ns = str_of(o->flags.ns),
                             .standby = o->flags.elect };
    o->ctl = ctl_new(o->loop, o->fence ? fence_api(o->fence) : client_api(o->client), &opts);
    say_start(o);
    o->access = access_start(o->loop, client_api(o->client), &o->flags);
    ctl_start(o->ctl);
    if (o->elect)
        elect_start(o->elect);
    o->readiness = loop_timer_start(o->loop, LOOK_AGAIN_MS / 10, LOOK_AGAIN_MS, look_ready, o);
    return 0;
}

static int run(const struct command *c, int argc, char **argv)
{
    struct manager o = { .a = arena_new(), .started_ms = wall_now_ms() };
    struct err e = { 0 };
    int code = operator_flags_read(o.a, &o.flags, argc, argv);

    (void)c;
    if (code < 0) {
        signal(SIGPIPE, SIG_IGN);
        o.loop = loop_new();
        loop_watch(o.loop);
        if (start(&o, &e) < 0) {
            o.exit_code = command_fail(EXIT_FAILED, "%s", e.msg);
            stop_serving(&o);
        }
        loop_run(o.loop);
        loop_free(o.loop);
        code = o.exit_code;
    }
    arena_free(o.a);
    return code;
}

const struct command command_operator = {
    .name = "operator",
    .summary = "run the training jobs of a Kubernetes cluster",
    .run = run,
};
