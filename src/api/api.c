/* Putting the server together: what is stored, and who listens to changes. */

#include "api/api.h"

#include "api/admit.h"
#include "api/auth/rbac.h"
#include "api/control/addresses.h"
#include "api/control/admit_quota.h"
#include "api/control/basics.h"
#include "api/control/crds.h"
#include "api/control/event_cache.h"
#include "api/control/expiry.h"
#include "api/control/gc.h"
#include "api/control/namespaces.h"
#include "api/metrics.h"
#include "api/stream/watch.h"
#include "api/subresource.h"
#include "base/mem.h"

#include <stdlib.h>

enum { EVENT_TTL_MS = 60 * 60 * 1000 };

static void on_event(void *ctx, struct store_coll *c, struct store_event *ev)
{
    struct api *api = ctx;

    addresses_on_event(api->addresses, c, ev);
    crds_on_event(api->crds, c, ev);
    namespaces_on_event(api->namespaces, c, ev);
    expiry_on_event(api->expiry, c, ev);
    quotas_on_event(api->quotas, c, ev);
    gc_on_event(api->gc, c, ev);
    basics_on_event(api, c, ev);
    rbac_on_event(api->rbac, c);
    accounts_on_event(api, c, ev);
}

static void load(struct api *api)
{
    crds_load(api->crds);
    addresses_load(api->addresses);
    quotas_load(api->quotas);
    expiry_load(api->expiry);
    namespaces_load(api->namespaces);
    for (struct store_coll *c = NULL; (c = store_coll_next(api->store, c));)
        for (struct store_obj *o = store_seek(c, STR_NONE); o; o = store_next(c, o))
            gc_load(api->gc, c, o);
    for (struct store_coll *c = NULL; (c = store_coll_next(api->store, c));)
        for (struct store_obj *o = store_seek(c, STR_NONE); o; o = store_next(c, o))
            gc_load_ending(api->gc, c, o);
}

/* ---- life */

struct api *api_new(const struct api_opts *o, void (*done)(void *ctx, const struct err *e),
                    void *ctx)
{
    struct api *api = mem_new(sizeof(*api));

    api->a = arena_new();
    api->o = *o;
    api->o.token = arena_str(api->a, o->token);
    api->loop = o->loop;
    api->store = o->store;
    registry_init(&api->registry, o->store);
    if (o->pods && o->pods->usage)
        registry_add_metrics(&api->registry);
    if (o->groups_pods)
        registry_group_pods(&api->registry);
    api->metrics = metrics_new();
    api->event_cache = event_cache_new();
    api->gc = gc_new(api);
    api->namespaces = namespaces_new(api);
    api->crds = crds_new(api);
    api->expiry = expiry_new(api, o->event_ttl_ms ? o->event_ttl_ms : EVENT_TTL_MS);
    api->addresses = addresses_new(api);
    api->quotas = quotas_new(api);
    api->rbac = rbac_new(api);
    load(api);
    store_on_event(o->store, on_event, api);
    basics_make(api, done, ctx);
    return api;
}

void api_stop(struct api *api)
{
    api->stopping = true;
    watches_stop(api);
    pod_waits_stop(api);
    basics_stop(api);
}

void api_set_server(struct api *api, struct http_server *s)
{
    api->server = s;
}

struct http_server *api_server(const struct api *api)
{
    return api->server;
}

void api_free(struct api *api)
{
    if (!api)
        return;
    basics_stop(api);
    quotas_free(api->quotas);
    rbac_free(api->rbac);
    addresses_free(api->addresses);
    expiry_free(api->expiry);
    crds_free(api->crds);
    namespaces_free(api->namespaces);
    gc_free(api->gc);
    event_cache_free(api->event_cache);
    metrics_free(api->metrics);
    registry_done(&api->registry);
    arena_free(api->a);
    free(api);
}
