/* One call or one timer at a time: what comes next is decided in the answer to what went before. */

#include "ctl/informer.h"

#include "base/mem.h"
#include "ctl/queue.h"
#include "kube/meta.h"
#include "loop/log.h"

#include <malloc.h>
#include <stdio.h>

enum {
    RETRY_BASE_MS = 100,
    NOT_SERVED_MAX_MS = 10 * 1000, /* definitions are installed at any time */
    LIST_TIMEOUT_MS = 60 * 1000,
    WATCH_MS = 5 * 60 * 1000, /* and up to twice that, so that not all end together */
    SHORT_WATCH_MS = 1000,
    GRANTED_WATCH_MS = 2000, /* refusals come sooner */
    STEADY_WATCH_MS = 10 * 1000,
    TRIM_FROM = 1000, /* objects listed, after which free memory goes back to the system */
};

struct informer {
    struct informer_opts o;
    struct informer *next_turn;
    bool waits_for_turn;
    bool stopped;
    struct kube_call *call;
    struct loop_timer *timer;
    struct buf version; /* to watch from */
    uint64_t rev;
    struct kube_pages pages; /* of the list being read */
    unsigned number;
    size_t n_listed;
    bool whole; /* no pages: they expired before they were all read */
    bool listed;
    bool unserved;
    unsigned failures;
    int64_t since_ms; /* of the watch */
    uint64_t lists, watches;
    enum err_code told; /* code of the trouble logged last */
    char trouble[400];
};

uint64_t revision_of(str version)
{
    int64_t n;

    return str_to_int(version, &n) && n > 0 ? (uint64_t)n : 0;
}

static void list_start(void *arg);
static void watch_start(void *arg);

static void later(struct informer *i, int64_t ms, void (*fn)(void *arg))
{
    loop_timer_stop(i->timer);
    i->timer = i->stopped ? NULL : loop_timer_start(i->o.loop, ms, 0, fn, i);
}

/* Half of it is chance, so that many who lost the same server do not come back as one. */
static int64_t pause_ms(struct informer *i, int64_t max_ms, int64_t retry_after_ms)
{
    uint32_t r;
    int64_t ms =
        queue_backoff_ms(i->failures++, RETRY_BASE_MS < max_ms ? RETRY_BASE_MS : max_ms, max_ms);

    random_bytes(&r, sizeof(r));
    ms = ms / 2 + (int64_t)r % (ms / 2 + 1);
    return retry_after_ms > ms ? retry_after_ms : ms;
}

/* ---- telling people */

static void resource_name(const struct informer *i, char *out, size_t n)
{
    const struct kube_resource *r = i->o.res;

    snprintf(out, n, "%s%s%s", r->plural, *r->group ? "." : "", r->group);
}

static void trouble(struct informer *i, const char *verb, const struct err *e)
{
    char name[128];

    resource_name(i, name, sizeof(name));
    /* A list is never of a thing that is not there, but of a kind that the server does not know. */
    const char *hint = e->code != ERR_NOT_FOUND ? NULL
                       : i->o.install           ? i->o.install
                                                : "is its CRD installed?";
    snprintf(i->trouble, sizeof(i->trouble), "cannot %s %s: %s%s%s", verb, name, hint ? hint : "",
             hint ? " " : "", e->msg);
    if (i->told != e->code) { /* each try fails alike: said once */
        i->told = e->code;
        log_warn("cannot read, retrying", KVZ("verb", verb), KVZ("resource", name),
                 KVZ("error", strstr(i->trouble, ": ") + 2));
    }
    i->o.ops->changed(i->o.ctx);
}

static void recovered(struct informer *i)
{
    char name[128];

    i->failures = 0;
    if (!*i->trouble)
        return;
    *i->trouble = '\0';
    i->told = ERR_OK;
    resource_name(i, name, sizeof(name));
    log_info("reading again after errors", KVZ("resource", name));
    i->o.ops->changed(i->o.ctx);
}

/* ---- lists */

static void turn_take(struct informer *i)
{
    struct informer_turns *t = i->o.turns;

    if (!t->busy) {
        t->busy = i;
        return;
    }
    i->waits_for_turn = true;
    i->next_turn = NULL;
    *(t->last ? &t->last->next_turn : &t->first) = i;
    t->last = i;
}

static void turn_leave(struct informer *i)
{
    struct informer_turns *t = i->o.turns;

    if (i->waits_for_turn) {
        struct informer **p = &t->first;
        struct informer *before = NULL;
        for (; *p != i; p = &(*p)->next_turn)
            before = *p;
        *p = i->next_turn;
        if (t->last == i)
            t->last = before;
        i->waits_for_turn = false;
    }
    if (t->busy != i)
        return;
    t->busy = t->first;
    if (!t->busy)
        return;
    t->first = t->busy->next_turn;
    if (!t->first)
        t->last = NULL;
    t->busy->waits_for_turn = false;
    later(t->busy, 0, list_start);
}

static void on_page(void *ctx, const struct kube_answer *ans);

static void page_ask(struct informer *i)
{
    struct kube_request r = {
        .verb = KUBE_LIST,
        .res = i->o.res,
        .ns = i->o.ns,
        .labels = i->o.labels,
        .cont = buf_str(&i->pages.cont),
        .metadata = i->o.metadata,
        .limit = i->whole ? 0 : i->o.page,
        .timeout_ms = LIST_TIMEOUT_MS,
    };

    i->call = kube_send(i->o.api, &r, on_page, i);
}

static void list_start(void *arg)
{
    struct informer *i = arg;

    loop_timer_stop(i->timer);
    i->timer = NULL;
    if (i->o.turns->busy != i) {
        turn_take(i);
        if (i->waits_for_turn)
            return;
    }
    i->number++;
    i->lists++;
    i->n_listed = 0;
    kube_pages_done(&i->pages);
    page_ask(i);
}

static void list_failed(struct informer *i, const struct kube_answer *ans)
{
    int64_t max_ms = i->o.retry_max_ms;

    turn_leave(i);
    if (ans->err.code == ERR_EXPIRED) {
        i->whole = true;
    } else {
        if (ans->err.code == ERR_NOT_FOUND) {
            i->unserved = true;
            max_ms = max_ms < NOT_SERVED_MAX_MS ? max_ms : NOT_SERVED_MAX_MS;
        }
        trouble(i, "list", &ans->err);
    }
    later(i, pause_ms(i, max_ms, ans->retry_after_ms), list_start);
}

static void on_page(void *ctx, const struct kube_answer *ans)
{
    struct informer *i = ctx;

    i->call = NULL;
    if (ans->err.code != ERR_OK) {
        list_failed(i, ans);
        return;
    }
    for (struct jv_iter it = jv_iter(jv_at(ans->obj, "items")); jv_next(&it); i->n_listed++)
        i->o.ops->put(i->o.ctx, it.value);
    struct kube_answer failed = { 0 };
    int more = kube_pages_next(&i->pages, ans->obj, &failed.err);
    if (more < 0)
        list_failed(i, &failed);
    if (more > 0)
        page_ask(i);
    if (more)
        return;
    str version = meta_resource_version(ans->obj);
    buf_clear(&i->version);
    buf_add(&i->version, version);
    i->rev = revision_of(version);
    i->whole = false;
    i->unserved = false;
    turn_leave(i);
    i->o.ops->listed(i->o.ctx, i->number, i->rev);
    if (i->n_listed >= TRIM_FROM)
        malloc_trim(0);
    recovered(i);
    if (!i->listed) {
        i->listed = true;
        i->o.ops->changed(i->o.ctx);
    }
    later(i, 0, watch_start);
}

/* ---- watches */

static void on_event(void *ctx, enum kube_event type, jv obj)
{
    struct informer *i = ctx;
    str version = meta_resource_version(obj);

    recovered(i);
    if (type == KUBE_DELETED)
        i->o.ops->gone(i->o.ctx, obj);
    else if (type != KUBE_BOOKMARK)
        i->o.ops->put(i->o.ctx, obj);
    if (!version.n)
        return;
    buf_clear(&i->version);
    buf_add(&i->version, version);
    i->rev = revision_of(version);
}

static void on_end(void *ctx, const struct err *e, int64_t retry_after_ms)
{
    struct informer *i = ctx;
    int64_t lasted = loop_now_ms(i->o.loop) - i->since_ms;

    i->call = NULL;
    if (lasted >= STEADY_WATCH_MS)
        recovered(i);
    if (!e || e->code == ERR_OK) {
        later(i, lasted >= SHORT_WATCH_MS ? 0 : pause_ms(i, i->o.retry_max_ms, retry_after_ms),
              watch_start);
        return;
    }
    bool again = e->code == ERR_EXPIRED || e->code == ERR_NOT_FOUND;
    if (e->code != ERR_EXPIRED)
        trouble(i, "watch", e);
    later(i, pause_ms(i, i->o.retry_max_ms, retry_after_ms), again ? list_start : watch_start);
}

/* Nothing may happen to what is watched for a long time: that is no trouble. */
static void watch_goes_on(void *arg)
{
    struct informer *i = arg;

    loop_timer_stop(TAKE(i->timer));
    recovered(i);
}

static void watch_start(void *arg)
{
    struct informer *i = arg;
    uint32_t r;

    random_bytes(&r, sizeof(r));
    loop_timer_stop(i->timer);
    i->timer = NULL;
    i->since_ms = loop_now_ms(i->o.loop);
    i->watches++;
    struct kube_request q = {
        .verb = KUBE_WATCH,
        .res = i->o.res,
        .ns = i->o.ns,
        .labels = i->o.labels,
        .version = buf_str(&i->version),
        .metadata = i->o.metadata,
        .timeout_ms = WATCH_MS + (int64_t)r % WATCH_MS,
    };
    struct kube_watcher w = { .on_event = on_event, .on_end = on_end, .ctx = i };
    i->call = kube_watch(i->o.api, &q, &w);
    if (*i->trouble)
        later(i, GRANTED_WATCH_MS, watch_goes_on);
}

/* ---- */

static str keep(str s)
{
    char *p = mem_room(s.n + 1);

    memcpy(p, s.p ? s.p : "", s.n);
    p[s.n] = '\0';
    return (str){ p, s.n };
}

struct informer *informer_new(const struct informer_opts *o)
{
    struct informer *i = mem_new(sizeof(*i));

    i->o = *o;
    i->o.ns = keep(o->ns);
    i->o.labels = keep(o->labels);
    return i;
}

void informer_start(struct informer *i)
{
    if (!i->call && !i->timer && !i->waits_for_turn)
        list_start(i);
}

void informer_stop(struct informer *i)
{
    i->stopped = true;
    turn_leave(i);
    if (i->call)
        kube_cancel(i->o.api, i->call);
    i->call = NULL;
    loop_timer_stop(i->timer);
    i->timer = NULL;
}

void informer_free(struct informer *i)
{
    if (!i)
        return;
    informer_stop(i);
    buf_done(&i->version);
    kube_pages_done(&i->pages);
    free((char *)(uintptr_t)i->o.ns.p);
    free((char *)(uintptr_t)i->o.labels.p);
    free(i);
}

bool informer_is_listed(const struct informer *i)
{
    return i->listed;
}

bool informer_is_synced(const struct informer *i)
{
    return i->listed && i->told != ERR_FORBIDDEN && i->told != ERR_UNAUTHORIZED &&
           i->told != ERR_NOT_FOUND;
}

bool informer_is_served(const struct informer *i)
{
    return !i->unserved;
}

unsigned informer_number(const struct informer *i)
{
    return i->number;
}

uint64_t informer_rev(const struct informer *i)
{
    return i->rev;
}

uint64_t informer_restarts(const struct informer *i)
{
    return i->watches ? i->watches - 1 : 0;
}

uint64_t informer_lists(const struct informer *i)
{
    return i->lists;
}

str informer_trouble(const struct informer *i)
{
    return str_of(i->trouble);
}
