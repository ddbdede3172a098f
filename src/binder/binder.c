/* Reads everything, then works when something changed: volumes first, then pods. */

#include "binder/binder.h"

#include "base/mem.h"
#include "binder/groups.h"

#include <string.h>

enum { RETRY_MS = 1000 };

bool binder_is_synced(const struct binder *b)
{
    const struct shelf *all[] = { &b->pods,   &b->nodes,   &b->namespaces,
                                  &b->claims, &b->volumes, &b->classes };

    for (size_t i = 0; i < COUNT(all); i++)
        if (!informer_is_listed(all[i]->inf))
            return false;
    return gangs_are_synced(b);
}

static void on_class(struct binder *b, str key, const struct kube_answer *ans)
{
    (void)key;
    if (ans->err.code != ERR_OK && ans->err.code != ERR_EXISTS) {
        b->class_checked = false;
        binder_retry(b);
    }
}

static void ensure_class(struct binder *b)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r = { .verb = KUBE_CREATE,
                              .res = &kube_classes,
                              .body = local_path_class(a) };

    b->class_checked = true;
    if (!shelf_find(&b->classes, STR_NONE, S("local-path")))
        send_write(b, &r, on_class, S("class"));
}

static void work_on(struct binder *b)
{
    if (b->o.no_volumes)
        b->volumes_due = false;
    else if (!b->class_checked)
        ensure_class(b);
    if (b->volumes_due)
        claims_pass(b);
    if (b->place_due || b->groups_due)
        place_pass(b);
    place_send(b);
    evictions_send(b);
    groups_send(b);
    events_kick(b->events, b->n_sent >= SENT_MAX);
}

static void work(void *arg)
{
    struct binder *b = arg;

    b->deferred = false;
    if (b->dead)
        free(b);
    else if (binder_is_synced(b))
        work_on(b);
}

void binder_work(struct binder *b)
{
    if (b->deferred)
        return;
    b->deferred = true;
    loop_defer(b->loop, work, b);
}

static void on_retry(void *arg)
{
    struct binder *b = arg;

    loop_timer_stop(TAKE(b->retry));
    b->place_due = b->place_all = b->volumes_due = b->groups_dirty = true;
    binder_work(b);
}

void binder_retry(struct binder *b)
{
    if (!b->retry)
        b->retry = loop_timer_start(b->loop, RETRY_MS, 0, on_retry, b);
}

int64_t binder_rest(struct binder *b)
{
    binder_retry(b);
    return loop_now_ms(b->loop) + RETRY_MS;
}

bool binder_is_resting(struct binder *b, int64_t until_ms)
{
    if (loop_now_ms(b->loop) >= until_ms)
        return false;
    binder_retry(b); /* the one that woke us was another's */
    return true;
}

static void on_event_answer(void *ctx)
{
    struct binder *b = ctx;

    events_kick(b->events, b->n_sent >= SENT_MAX);
}

void binder_tell(struct binder *b, jv obj, const struct kube_resource *res, const char *component,
                 struct event_budget *budget, const struct plan_note *note)
{
    struct event_about about = { obj, res, component };

    if (*res->plural && !res->cluster_wide)
        events_tell(b->events, &about, budget, note);
}

struct binder *binder_new(struct loop *l, struct kube_api *api, const struct binder_opts *o)
{
    struct binder *b = mem_new(sizeof(*b));

    b->loop = l;
    b->api = api;
    b->o = *o;
    b->o.wall_ms = o->wall_ms ? o->wall_ms : wall_now_ms;
    b->scheduler = mem_or_abort(strndup(o->scheduler.p ? o->scheduler.p : "", o->scheduler.n));
    b->o.scheduler = str_of(b->scheduler);
    b->dir = mem_or_abort(strndup(o->volumes_dir.p ? o->volumes_dir.p : "", o->volumes_dir.n));
    b->events = events_new(l, api, b->o.wall_ms, on_event_answer, b);
    shelf_init(&b->classes, b, &class_shelf);
    shelf_init(&b->volumes, b, &volume_shelf);
    shelf_init(&b->claims, b, &claim_shelf);
    shelf_init(&b->namespaces, b, &namespace_shelf);
    shelf_init(&b->nodes, b, &node_shelf);
    shelf_init(&b->pods, b, &pod_shelf);
    gangs_init(b);
    b->guard.patience_ms = o->patience_ms;
    return b;
}

void binder_start(struct binder *b)
{
    struct shelf *all[] = { &b->classes, &b->volumes,    &b->claims,
                            &b->nodes,   &b->namespaces, &b->pods };

    gangs_start(b);
    for (size_t i = 0; i < COUNT(all); i++)
        informer_start(all[i]->inf);
    if (!b->o.no_volumes)
        trash_sweep(b);
}

void binder_free(struct binder *b)
{
    if (!b)
        return;
    struct shelf *all[] = { &b->pods,    &b->claims, &b->volumes,
                            &b->classes, &b->nodes,  &b->namespaces };
    send_cancel_all(b);
    b->dead = b->deferred;
    b->deferred = true; /* nothing more is begun */
    for (size_t i = 0; i < COUNT(all); i++)
        shelf_done(all[i]);
    gangs_done(b);
    evictions_done(b);
    events_free(b->events);
    loop_timer_stop(b->retry);
    loop_timer_stop(b->later);
    loop_timer_stop(b->trash);
    free(b->dir);
    free(b->scheduler);
    if (!b->dead)
        free(b);
}

bool binder_is_idle(const struct binder *b)
{
    return binder_is_synced(b) && !b->deferred && !b->n_sent && !b->first && !b->retry &&
           !b->evictions && !b->place_due && !b->groups_due && !b->groups_dirty &&
           !b->volumes_due && !events_pending(b->events);
}

uint64_t binder_writes(const struct binder *b)
{
    return b->writes;
}
