/* A server with one object, and candidates for it. */

#include "seat.h"

#include <stdio.h>
#include <stdlib.h>

int64_t clock_ms = 1000;
struct loop *loop;

static int64_t now_ms(void)
{
    return clock_ms;
}

/* ---- a server with one object */

static struct kube_call *link_send(struct kube_api *api, const struct kube_request *r,
                                   kube_done *done, void *ctx)
{
    struct link *l = (struct link *)api;

    arena_free(l->a);
    l->a = arena_new();
    l->r = *r;
    l->r.body = jv_copy(l->a, r->body);
    l->done = done;
    l->ctx = ctx;
    l->last = r->verb;
    l->sent++;
    return (struct kube_call *)l;
}

static void link_cancel(struct kube_api *api, struct kube_call *c)
{
    struct link *l = (struct link *)api;

    (void)c;
    l->done = NULL;
}

static const struct kube_api_ops link_ops = { .send = link_send, .cancel = link_cancel };

void lease_put(struct lease_server *f, struct arena *a, jv obj)
{
    obj = jv_with(a, obj, jstr(a, arena_printf(a, "%d", ++f->rev)), "metadata", "resourceVersion");
    struct arena *own = arena_new();
    jv copy = jv_copy(own, obj);
    jdoc_unref(f->lease);
    f->lease = jdoc_of(own, copy);
}

struct kube_answer lease_refuse(enum err_code code, const char *msg)
{
    struct kube_answer ans = { .status = err_http_status(code) };

    err_set(&ans.err, code, "%s", msg);
    return ans;
}

struct kube_answer lease_serve(struct link *l)
{
    struct lease_server *f = l->server;
    jv have = f->lease ? jdoc_root(f->lease) : JV_ABSENT;

    if (l->r.verb == KUBE_CREATE && f->lease)
        return lease_refuse(ERR_EXISTS, "it is there");
    if (l->r.verb != KUBE_CREATE && !f->lease)
        return lease_refuse(ERR_NOT_FOUND, "it is not there");
    if (l->r.verb == KUBE_UPDATE && !jv_equal(jv_at(have, "metadata", "resourceVersion"),
                                              jv_at(l->r.body, "metadata", "resourceVersion")))
        return lease_refuse(ERR_CONFLICT, "it has changed");
    if (l->r.verb != KUBE_GET)
        lease_put(f, l->a, l->r.body);
    return (struct kube_answer){ .status = 200, .obj = jdoc_root(f->lease) };
}

void lease_reply(struct link *l, struct kube_answer ans)
{
    kube_done *done = l->done;
    AUTO(jdoc) struct jdoc *held = l->server->lease ? jdoc_ref(l->server->lease) : NULL;

    l->done = NULL;
    if (done)
        done(l->ctx, &ans);
}

void lease_settle(struct link *l)
{
    while (l->done)
        lease_reply(l, lease_serve(l));
}

/* ---- candidates */

static void on_held(void *ctx, int64_t until_ms)
{
    struct seat *s = ctx;

    s->until_ms = until_ms;
    s->held++;
}

static void on_lost(void *ctx, const char *why)
{
    struct seat *s = ctx;

    s->lost++;
    snprintf(s->why, sizeof(s->why), "%s", why);
}

void seat_take(struct seat *s, struct lease_server *f, const char *identity)
{
    struct elect_opts o = { .loop = loop,
                            .api = &s->link.api,
                            .ns = S("kubeflow"),
                            .name = S("lock"),
                            .identity = str_of(identity),
                            .now_ms = now_ms,
                            .on_held = on_held,
                            .on_lost = on_lost,
                            .ctx = s };

    *s = (struct seat){ .link = { .api = { &link_ops }, .server = f } };
    s->e = elect_new(&o);
}

void seat_leave(struct seat *s)
{
    elect_free(s->e);
    arena_free(s->link.a);
}

void seat_tick(struct seat *s)
{
    elect_tick(s->e);
    lease_settle(&s->link);
}

void seat_wait_ms(struct seat *s, int64_t ms, int64_t step_ms)
{
    for (int64_t end = clock_ms + ms; clock_ms < end;) {
        clock_ms += step_ms;
        seat_tick(s);
    }
}

void lease_server_done(struct lease_server *f)
{
    jdoc_unref(f->lease);
}

jv lease_spec(const struct lease_server *f)
{
    return jv_at(jdoc_root(f->lease), "spec");
}
