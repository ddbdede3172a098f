/* A bounded queue of events ready to be sent. Names of what is told once derive from the job's uid
 * and the fact, so that an operator that starts anew and tells it again is answered AlreadyExists.
 */

#include "ctl/events.h"

#include "base/mem.h"
#include "base/time.h"
#include "ctl/queue.h"
#include "kube/event_id.h"
#include "kube/meta.h"
#include "loop/log.h"
#include "plan/planner.h"

#include <inttypes.h>

enum {
    TOKENS = 25,
    TOKEN_MS = 30 * 1000,
    TOLD_MAX = 8192,
    MESSAGE_MAX = 1024,
    NAME_MAX_BYTES = 253,
    REASON_MAX = 128,
    QUEUE_MAX = 20000,          /* plain ones ... */
    QUEUE_TERMINAL_MAX = 50000, /* ... and all */
    IN_FLIGHT = 32,
    IN_FLIGHT_BUSY = 2,
    MAX_WAIT_US = 5 * 1000 * 1000, /* longest wait for others that have something to send */
    RETRY_MS = 1000,
    RETRY_MOST_MS = 30 * RETRY_MS,
    TRIES = 4,
    TRIES_TERMINAL = 12,
};

/* Kept as what differs between events, as thousands may wait when many jobs begin at once. */
enum field { F_NS, F_JOB, F_UID, F_VERSION, F_REASON, F_MESSAGE, N_FIELDS };

struct event {
    struct event *next;
    struct events *ev;
    struct event *next_sent, *prev_sent;
    struct kube_call *call;
    const struct kube_resource *res;
    const char *component;
    int64_t since_us;
    int64_t at_ms; /* since 1970 */
    uint64_t id;   /* of its name */
    bool terminal;
    bool warning;
    uint8_t tries;
    uint16_t n[N_FIELDS];
    char text[]; /* the fields, one after the other */
};

struct events {
    struct loop *loop;
    struct kube_api *api;
    int64_t (*wall_ms)(void);
    struct event *first, *last;
    struct event *sent; /* not answered yet */
    size_t n_queued;
    unsigned in_flight;
    struct loop_timer *pause; /* after a failure */
    struct event_ids ids;
    uint64_t n_sent, n_dropped;
    enum err_code told; /* of the failure logged last */
    void (*on_answer)(void *ctx);
    void *ctx;
};

/* ---- budgets */

void event_budget_done(struct event_budget *b)
{
    free(b->told);
    *b = (struct event_budget){ 0 };
}

static uint64_t *told_slot(const struct event_budget *b, uint64_t h)
{
    uint32_t i = (uint32_t)h & (b->cap - 1);

    while (b->told[i] && b->told[i] != h)
        i = (i + 1) & (b->cap - 1);
    return &b->told[i];
}

bool event_first_time(struct event_budget *b, str fact)
{
    uint64_t h = str_hash(fact) | 1;

    if (b->n >= TOLD_MAX) {
        free(b->told);
        b->told = NULL;
        b->n = b->cap = 0;
    }
    if ((b->n + 1) * 4 > b->cap * 3) {
        struct event_budget old = *b;
        b->cap = old.cap ? old.cap * 2 : 16;
        b->told = mem_array(b->cap, sizeof(*b->told));
        for (uint32_t i = 0; i < old.cap; i++)
            if (old.told[i])
                *told_slot(b, old.told[i]) = old.told[i];
        free(old.told);
    }
    uint64_t *slot = told_slot(b, h);
    if (*slot)
        return false;
    *slot = h;
    b->n++;
    return true;
}

static bool take_token(struct event_tokens *t, int64_t now_ms)
{
    if (!t->at_ms)
        t->n = TOKENS;
    else
        t->n += (float)(now_ms - t->at_ms) / TOKEN_MS;
    t->at_ms = now_ms;
    if (t->n > TOKENS)
        t->n = TOKENS;
    if (t->n < 1)
        return false;
    t->n -= 1;
    return true;
}

/* ---- making one */

static uint64_t id_of(struct events *ev, struct arena *a, str uid, const struct plan_note *note)
{
    str fact = note->once;

    if (!fact.n)
        fact = arena_printf(a, "%" PRI_STR "/%" PRId64, STR_ARG(note->message), wall_now_us());
    uint64_t hash =
        str_hash(arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(uid), STR_ARG(fact)));

    return note->once.n ? event_id_once(hash, note->terminal)
                        : event_id_now(&ev->ids, ev->wall_ms(), hash);
}

static struct event *event_new(struct events *ev, const struct event_about *about,
                               const struct plan_note *note)
{
    AUTO(arena) struct arena *a = arena_new();
    const str fields[N_FIELDS] = {
        [F_NS] = str_clip(meta_namespace(about->job), NAME_MAX_BYTES),
        [F_JOB] = str_clip(meta_name(about->job), NAME_MAX_BYTES),
        [F_UID] = str_clip(meta_uid(about->job), NAME_MAX_BYTES),
        [F_VERSION] = str_clip(meta_resource_version(about->job), NAME_MAX_BYTES),
        [F_REASON] = str_clip(note->reason, REASON_MAX),
        [F_MESSAGE] = str_clip(note->message, MESSAGE_MAX),
    };
    size_t size = 0;

    for (size_t i = 0; i < N_FIELDS; i++)
        size += fields[i].n;
    struct event *x = mem_new(sizeof(*x) + size);
    char *to = x->text;
    for (size_t i = 0; i < N_FIELDS; i++) {
        if (fields[i].n)
            memcpy(to, fields[i].p, fields[i].n);
        to += fields[i].n;
        x->n[i] = (uint16_t)fields[i].n;
    }
    x->ev = ev;
    x->res = about->res;
    x->component = about->component;
    x->since_us = queue_us();
    x->at_ms = ev->wall_ms();
    x->id = id_of(ev, a, fields[F_UID], note);
    x->terminal = note->terminal;
    x->warning = note->warning;
    return x;
}

static str field(const struct event *x, enum field f)
{
    const char *p = x->text;

    for (size_t i = 0; i < f; i++)
        p += x->n[i];
    return (str){ p, x->n[f] };
}

static jv event_json(struct arena *a, const struct event *x)
{
    const struct kube_resource *r = x->res;
    str api = *r->group ? arena_printf(a, "%s/%s", r->group, r->version) : str_of(r->version);
    str name = arena_printf(a, "%" PRI_STR ".%016" PRIx64,
                            STR_ARG(str_clip(field(x, F_JOB), NAME_MAX_BYTES - 17)), x->id);
    jv ns = jstr(a, field(x, F_NS)), at = jstr(a, time_text(a, x->at_ms));
    jv component = jstr(a, str_of(x->component));

    return jobj(a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "Event") },
                { "metadata", jobj(a, { "name", jstr(a, name) }, { "namespace", ns }) },
                { "involvedObject",
                  jobj(a, { "apiVersion", jstr(a, api) }, { "kind", jstr(a, str_of(r->kind)) },
                       { "name", jstr(a, field(x, F_JOB)) }, { "namespace", ns },
                       { "uid", jstr(a, field(x, F_UID)) },
                       { "resourceVersion", jstr(a, field(x, F_VERSION)) }) },
                { "reason", jstr(a, field(x, F_REASON)) },
                { "message", jstr(a, field(x, F_MESSAGE)) },
                { "source", jobj(a, { "component", component }) }, { "firstTimestamp", at },
                { "lastTimestamp", at }, { "count", jint(a, 1) },
                { "type", x->warning ? jstrz(a, "Warning") : jstrz(a, "Normal") },
                { "reportingComponent", component }, { "reportingInstance", jstrz(a, "") });
}

void events_tell(struct events *ev, const struct event_about *about, struct event_budget *b,
                 const struct plan_note *note)
{
    if (note->once.n && !event_first_time(b, note->once))
        return;
    log_line(note->warning    ? LOG_WARN
             : note->terminal ? LOG_INFO
                              : LOG_DEBUG,
             "event",
             (struct log_kv[]){ KV("namespace", meta_namespace(about->job)),
                                KV("job", meta_name(about->job)), KV("reason", note->reason),
                                KV("message", str_clip(note->message, MESSAGE_MAX)) },
             4);
    if (ev->n_queued >= (note->terminal ? QUEUE_TERMINAL_MAX : QUEUE_MAX) ||
        (!note->terminal &&
         !take_token(note->warning ? &b->warning : &b->normal, loop_now_ms(ev->loop)))) {
        ev->n_dropped++;
        return;
    }
    struct event *x = event_new(ev, about, note);
    *(ev->last ? &ev->last->next : &ev->first) = x;
    ev->last = x;
    ev->n_queued++;
}

/* ---- sending */

static void on_pause_over(void *arg)
{
    struct events *ev = arg;

    loop_timer_stop(ev->pause);
    ev->pause = NULL;
    ev->on_answer(ev->ctx);
}

static bool try_again(struct events *ev, struct event *x, const struct kube_answer *ans)
{
    bool passes = ans->status == 0 || ans->status == 429 || ans->status >= 500;

    if (ans->err.code != ev->told && !kube_namespace_ends(ans)) {
        ev->told = ans->err.code;
        log_warn("cannot write event", KVZ("error", ans->err.msg));
    }
    if (!passes || ++x->tries >= (x->terminal ? TRIES_TERMINAL : TRIES))
        return false;
    x->next = ev->first;
    ev->first = x;
    if (!ev->last)
        ev->last = x;
    ev->n_queued++;
    if (!ev->pause) {
        int64_t ms = queue_backoff_ms(x->tries - 1, RETRY_MS, RETRY_MOST_MS);
        ev->pause = loop_timer_start(ev->loop, ans->retry_after_ms > ms ? ans->retry_after_ms : ms,
                                     0, on_pause_over, ev);
    }
    return true;
}

static void on_answer(void *ctx, const struct kube_answer *ans)
{
    struct event *x = ctx;
    struct events *ev = x->ev;

    *(x->prev_sent ? &x->prev_sent->next_sent : &ev->sent) = x->next_sent;
    if (x->next_sent)
        x->next_sent->prev_sent = x->prev_sent;
    x->call = NULL;
    ev->in_flight--;
    bool fine = ans->err.code == ERR_OK || ans->err.code == ERR_EXISTS;
    if (fine)
        ev->told = ERR_OK;
    if (fine || !try_again(ev, x, ans)) {
        ev->n_sent += fine;
        ev->n_dropped += !fine;
        free(x);
    }
    ev->on_answer(ev->ctx);
}

static void send(struct events *ev, struct event *x)
{
    AUTO(arena) struct arena *a = arena_new();
    struct kube_request r = {
        .verb = KUBE_CREATE,
        .res = &kube_events,
        .ns = field(x, F_NS),
        .body = event_json(a, x),
    };

    x->prev_sent = NULL;
    x->next_sent = ev->sent;
    if (ev->sent)
        ev->sent->prev_sent = x;
    ev->sent = x;
    ev->in_flight++;
    x->call = kube_send(ev->api, &r, on_answer, x);
}

void events_kick(struct events *ev, bool busy)
{
    while (ev->first && !ev->pause && ev->in_flight < (busy ? IN_FLIGHT_BUSY : IN_FLIGHT)) {
        struct event *x = ev->first;
        if (busy && queue_us() - x->since_us < MAX_WAIT_US)
            return;
        ev->first = x->next;
        if (!ev->first)
            ev->last = NULL;
        x->next = NULL;
        ev->n_queued--;
        send(ev, x);
    }
}

/* ---- */

struct events *events_new(struct loop *l, struct kube_api *api, int64_t (*wall_ms)(void),
                          void (*answered)(void *ctx), void *ctx)
{
    struct events *ev = mem_new(sizeof(*ev));

    ev->loop = l;
    ev->api = api;
    ev->wall_ms = wall_ms;
    ev->on_answer = answered;
    ev->ctx = ctx;
    return ev;
}

void events_free(struct events *ev)
{
    if (!ev)
        return;
    loop_timer_stop(ev->pause);
    for (struct event *x = ev->first, *next; x; x = next) {
        next = x->next;
        free(x);
    }
    for (struct event *x = ev->sent, *next; x; x = next) {
        next = x->next_sent;
        kube_cancel(ev->api, x->call);
        free(x);
    }
    free(ev);
}

size_t events_pending(const struct events *ev)
{
    return ev->n_queued + ev->in_flight;
}

uint64_t events_sent(const struct events *ev)
{
    return ev->n_sent;
}

uint64_t events_dropped(const struct events *ev)
{
    return ev->n_dropped;
}
