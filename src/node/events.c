/* Sent events are remembered by their hash for KEPT_MS. The first of a kind is a CREATE; repeats
 * are PATCHes of its count, at most one in REPEAT_MS. */

#include "node/events.h"

#include "base/mem.h"
#include "base/time.h"
#include "base/vec.h"
#include "kube/event_id.h"
#include "kube/meta.h"
#include "loop/log.h"
#include "plan/planner.h"

#include <inttypes.h>

enum {
    KEPT = 1024, /* facts remembered; the place is taken by what comes later */
    KEPT_MS = 10 * 60 * 1000,
    REPEAT_MS = 5 * 1000, /* repeats within it are only counted */
    IN_FLIGHT = 1024,     /* more at once are lost */
    MESSAGE_MAX = 1024,
};

struct fact {
    uint64_t hash;
    uint64_t id; /* of the event's name */
    int64_t wrote_ms, told_ms;
    int64_t count;
};

struct sent {
    struct node_events *t;
    struct sent *next, *prev;
    struct kube_call *call;
};

struct node_events {
    struct loop *loop;
    struct kube_api *api;
    int64_t (*wall_ms)(void);
    char host[254];
    struct fact facts[KEPT];
    struct event_ids ids;
    struct sent *sent;
    size_t n_sent;
};

struct node_events *node_events_new(struct loop *l, struct kube_api *api, int64_t (*wall_ms)(void),
                                    str host)
{
    struct node_events *t = mem_new(sizeof(*t));

    t->loop = l;
    t->api = api;
    t->wall_ms = wall_ms;
    memcpy(t->host, host.p, host.n < sizeof(t->host) ? host.n : sizeof(t->host) - 1);
    return t;
}

static void sent_done(struct node_events *t, struct sent *s)
{
    if (t->sent == s)
        t->sent = s->next;
    else
        s->prev->next = s->next;
    if (s->next)
        s->next->prev = s->prev;
    t->n_sent--;
    free(s);
}

void node_events_free(struct node_events *t)
{
    if (!t)
        return;
    while (t->sent) {
        kube_cancel(t->api, t->sent->call);
        sent_done(t, t->sent);
    }
    free(t);
}

static void on_answer(void *ctx, const struct kube_answer *ans)
{
    struct sent *s = ctx;

    if (ans->err.code != ERR_OK && ans->err.code != ERR_EXISTS && ans->err.code != ERR_NOT_FOUND)
        log_debug("cannot write event", KVZ("error", ans->err.msg));
    sent_done(s->t, s);
}

static void send(struct node_events *t, const struct kube_request *r)
{
    struct sent *s = mem_new(sizeof(*s));

    s->t = t;
    s->next = t->sent;
    if (t->sent)
        t->sent->prev = s;
    t->sent = s;
    t->n_sent++;
    s->call = kube_send(t->api, r, on_answer, s);
}

static jv event_json(struct arena *a, const struct node_events *t, const struct node_event *w,
                     str name, const struct fact *f)
{
    str ns = meta_namespace(w->obj);
    static const char *const lists[] = { "containers", "initContainers", "ephemeralContainers" };
    const char *list = lists[0];
    jv at = jstr(a, time_text(a, f->told_ms)), space = jstr(a, ns.n ? ns : S("default"));

    for (size_t i = 1; i < COUNT(lists); i++)
        JV_EACH (it, jv_at(w->obj, "spec", lists[i]))
            if (str_eq(jv_str(jv_at(it.value, "name"), S("")), w->container))
                list = lists[i];
    str path = arena_printf(a, "spec.%s{%" PRI_STR "}", list, STR_ARG(w->container));
    str message = str_clip(w->message, MESSAGE_MAX);
    jv component = jstrz(a, "kubelet"), host = jstr(a, str_of(t->host));
    return jobj(
        a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "Event") },
        { "metadata", jobj(a, { "name", jstr(a, name) }, { "namespace", space }) },
        { "involvedObject",
          jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstr(a, str_of(w->res->kind)) },
               { "name", jstr(a, meta_name(w->obj)) },
               { "namespace", ns.n ? jstr(a, ns) : JV_ABSENT },
               { "uid", jstr(a, meta_uid(w->obj)) },
               { "resourceVersion", jstr(a, meta_resource_version(w->obj)) },
               { "fieldPath", w->container.n ? jstr(a, path) : JV_ABSENT }) },
        { "reason", jstr(a, str_of(w->reason)) }, { "message", jstr(a, message) },
        { "source", jobj(a, { "component", component }, { "host", host }) },
        { "firstTimestamp", at }, { "lastTimestamp", at }, { "count", jint(a, 1) },
        { "type", w->warning ? jstrz(a, "Warning") : jstrz(a, "Normal") },
        { "reportingComponent", component }, { "reportingInstance", host });
}

void node_events_send(struct node_events *t, const struct node_event *w)
{
    AUTO(arena) struct arena *a = arena_new();
    int64_t now = t->wall_ms();
    uint64_t hash = str_hash(arena_printf(a, "%" PRI_STR "/%" PRI_STR "/%s/%" PRI_STR,
                                          STR_ARG(meta_uid(w->obj)), STR_ARG(w->container),
                                          w->reason, STR_ARG(w->message)));
    struct fact *f = &t->facts[hash % KEPT];
    bool again = f->hash == hash && f->count && now - f->told_ms < KEPT_MS;
    str ns = meta_namespace(w->obj);

    if (!again)
        *f = (struct fact){ .hash = hash, .id = event_id_now(&t->ids, now, hash) };
    f->count++;
    f->told_ms = now;
    if (t->n_sent >= IN_FLIGHT || (again && now - f->wrote_ms < REPEAT_MS))
        return;
    f->wrote_ms = now;
    /* with a dot and 16 digits it stays within the 253 bytes of a name */
    str base = str_clip(meta_name(w->obj), 230);
    str name = arena_printf(a, "%" PRI_STR ".%016" PRIx64, STR_ARG(base), f->id);
    struct kube_request r = { .verb = again ? KUBE_PATCH : KUBE_CREATE,
                              .res = &kube_events,
                              .ns = ns.n ? ns : S("default"),
                              .name = again ? name : STR_NONE };
    r.body = again ? jobj(a, { "count", jint(a, f->count) },
                          { "lastTimestamp", jstr(a, time_text(a, now)) })
                   : event_json(a, t, w, name, f);
    send(t, &r);
}
