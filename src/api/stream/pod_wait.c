/* After a restart the node looks for what it ran before: a moment in which pods run, as their
 * status says, and nobody can be let in yet. Who asks for that then is answered a little later. */

#include "api/subresource.h"
#include "base/mem.h"

#include <stdlib.h>

enum { LOOK_MS = 50, MOST_MS = 10 * 1000 };

struct pod_wait {
    struct pod_wait *next; /* of the api */
    struct api_req *r;
    void (*run)(struct api_req *r);
    struct loop_timer *timer;
    int64_t until_ms;
};

static bool is_sought(const struct api_req *r)
{
    AUTO(arena) struct arena *a = arena_new();
    const struct api_pods *pods = r->api->o.pods;
    struct api_pod of = { .ns = r->ns, .name = r->name };
    struct store_obj *o = store_get(r->res->coll, resource_key(a, r->res, r->ns, r->name));

    if (!o || !pods || !pods->is_sought || r->api->stopping || http_is_gone(r->http))
        return false;
    of.pod = resource_parse_value(a, r->res, o->value);
    return pods->is_sought(pods->ctx, &of);
}

/* Whatever it was that ended the wait, run() answers as it is now. */
static void resume(struct api *api, struct pod_wait *w)
{
    struct pod_wait **at = &api->pod_waits;
    struct api_req *r = w->r;
    void (*run)(struct api_req *) = w->run;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    loop_timer_stop(w->timer);
    free(w);
    run(r);
}

static void look(void *arg)
{
    struct pod_wait *w = arg;

    if (!is_sought(w->r) || loop_now_ms(w->r->api->loop) >= w->until_ms)
        resume(w->r->api, w);
}

void pod_when_found(struct api_req *r, void (*run)(struct api_req *r))
{
    if (!is_sought(r)) {
        run(r);
        return;
    }
    struct pod_wait *w = mem_new(sizeof(*w));
    *w = (struct pod_wait){ .next = r->api->pod_waits,
                            .r = r,
                            .run = run,
                            .until_ms = loop_now_ms(r->api->loop) + MOST_MS };
    w->timer = loop_timer_start(r->api->loop, LOOK_MS, LOOK_MS, look, w);
    r->api->pod_waits = w;
}

void pod_waits_stop(struct api *api)
{
    while (api->pod_waits)
        resume(api, api->pod_waits);
}
