/* A bounded queue of events ready to be sent. Names derive from the job's uid and the fact, so that
 * an operator that starts anew and tells the same again is answered AlreadyExists. */

#include "ctl/events.h"

#include "base/mem.h"
#include "base/time.h"
#include "ctl/queue.h"
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
    QUEUE_MAX = 10000,          /* plain ones ... */
    QUEUE_TERMINAL_MAX = 50000, /* ... and all */
    IN_FLIGHT = 32,
    IN_FLIGHT_BUSY = 2,
    PATIENCE_US = 5 * 1000 * 1000, /* longest wait for others that have something to send */
    RETRY_MS = 1000,
    TRIES = 4,
    TRIES_TERMINAL = 12,
};

struct event {
    struct event *next;
    struct events *ev;
    struct event *next_sent, *prev_sent;
    struct kube_call *call;
    int64_t since_us;
    bool terminal;
    unsigned tries;
    uint16_t n_ns;
    size_t n_text;
    char text[]; /* namespace, then the object as JSON */
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
    uint64_t counter, n_sent, n_dropped;
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

static bool take_token(struct event_budget *b, int64_t now_ms)
{
    if (!b->at_ms)
        b->tokens = TOKENS;
    else
        b->tokens += (float)(now_ms - b->at_ms) / TOKEN_MS;
    b->at_ms = now_ms;
    if (b->tokens > TOKENS)
        b->tokens = TOKENS;
    if (b->tokens < 1)
        return false;
    b->tokens -= 1;
    return true;
}

/* ---- making one */

static str cut(str s, size_t max)
{
    if (s.n <= max)
        return s;
    str head = str_sub(s, 0, max);
    return str_sub(head, 0, str_utf8_prefix(head));
}

static jv event_json(struct events *ev, struct arena *a, const struct event_about *about,
                     const struct plan_note *note)
{
    str ns = meta_namespace(about->job), name = meta_name(about->job), uid = meta_uid(about->job);
    str at = time_text(a, ev->wall_ms());
    str fact = note->once;
    jv component = jstr(a, str_of(about->component));

    if (!fact.n)
        fact =
            arena_printf(a, "%" PRI_STR "/%" PRI_STR "/%" PRId64 "/%" PRIu64, STR_ARG(note->reason),
                         STR_ARG(note->message), wall_now_us(), ev->counter++);
    uint64_t h = str_hash(arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(uid), STR_ARG(fact)));
    str event_name =
        arena_printf(a, "%" PRI_STR ".%016" PRIx64, STR_ARG(cut(name, NAME_MAX_BYTES - 17)), h);
    return jobj(
        a, { "apiVersion", jstrz(a, "v1") }, { "kind", jstrz(a, "Event") },
        { "metadata", jobj(a, { "name", jstr(a, event_name) }, { "namespace", jstr(a, ns) }) },
        { "involvedObject",
          jobj(a, { "apiVersion", jv_at(about->job, "apiVersion") },
               { "kind", jv_at(about->job, "kind") }, { "name", jstr(a, name) },
               { "namespace", jstr(a, ns) }, { "uid", jstr(a, uid) },
               { "resourceVersion", jv_at(about->job, "metadata", "resourceVersion") }) },
        { "reason", jstr(a, cut(note->reason, 128)) },
        { "message", jstr(a, cut(note->message, MESSAGE_MAX)) },
        { "source", jobj(a, { "component", component }) }, { "firstTimestamp", jstr(a, at) },
        { "lastTimestamp", jstr(a, at) }, { "count", jint(a, 1) },
        { "type", note->warning ? jstrz(a, "Warning") : jstrz(a, "Normal") },
        { "reportingComponent", component }, { "reportingInstance", jstrz(a, "") });
}

void events_tell(struct events *ev, const struct event_about *about, struct event_budget *b,
                 const struct plan_note *note)
{
    AUTO(arena) struct arena *a = arena_new();

    if (note->once.n && !event_first_time(b, note->once))
        return;
    log_line(note->warning ? LOG_WARN : LOG_INFO, "event",
             (struct log_kv[]){ KV("namespace", meta_namespace(about->job)),
                                KV("job", meta_name(about->job)), KV("reason", note->reason),
                                KV("message", cut(note->message, MESSAGE_MAX)) },
             4);
    if (ev->n_queued >= (note->terminal ? QUEUE_TERMINAL_MAX : QUEUE_MAX) ||
        (!note->terminal && !take_token(b, loop_now_ms(ev->loop)))) {
        ev->n_dropped++;
        return;
    }
    str ns = meta_namespace(about->job);
    str text = json_text(a, event_json(ev, a, about, note));
    struct event *x = mem_new(sizeof(*x) + ns.n + text.n);
    x->ev = ev;
    x->since_us = queue_us();
    x->terminal = note->terminal;
    x->n_ns = (uint16_t)ns.n;
    x->n_text = text.n;
    memcpy(x->text, ns.p, ns.n);
    memcpy(x->text + ns.n, text.p, text.n);
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

    if (ans->err.code != ev->told) {
        ev->told = ans->err.code;
        log_warn("event not written", KVZ("error", ans->err.msg));
    }
    if (!passes || ++x->tries >= (x->terminal ? TRIES_TERMINAL : TRIES))
        return false;
    x->next = ev->first;
    ev->first = x;
    if (!ev->last)
        ev->last = x;
    ev->n_queued++;
    if (!ev->pause) {
        int64_t ms = queue_backoff_ms(x->tries - 1, RETRY_MS, 30 * RETRY_MS);
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
        .ns = { x->text, x->n_ns },
        .body = json_parse(a, (str){ x->text + x->n_ns, x->n_text }, NULL, NULL),
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
        if (busy && queue_us() - x->since_us < PATIENCE_US)
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
