/* A watcher holds no queue: it reads the shared history at the client's pace, and when history has
 * moved past it, it is told 410 and ends. Its text buffer exists only while something is in it. */

#include "api/stream/watch.h"

#include "api/control/event_cache.h"
#include "api/metrics.h"
#include "api/select.h"
#include "api/table.h"
#include "base/limits.h"
#include "base/time.h"

#include <inttypes.h>

enum { BOOKMARK_MS = 60 * 1000, BEFORE_END_MS = 2 * 1000, DEFAULT_TIMEOUT_S = 1800 };

enum stage { STAGE_INITIAL, STAGE_LIVE, STAGE_END };

struct watcher {
    struct api_req *r;
    struct watcher *next, *prev;
    struct selection sel;
    struct store_watch *from;
    enum stage stage;
    struct arena *initial_arena; /* holds what is there at the start, until it was sent */
    struct store_snapshot initial;
    size_t initial_i;
    bool end_of_initial; /* a bookmark says that it was sent */
    bool said_columns;
    bool wants_bookmark;
    struct buf text; /* of an event that did not fit */
    size_t offset;
    struct loop_timer *timer;
    int64_t deadline_ms; /* of the loop's clock */
    int64_t bookmark_rev;
};

/* ---- one event as text */

static void event_open(struct buf *b, str type)
{
    buf_add(b, S("{\"type\":\""));
    buf_add(b, type);
    buf_add(b, S("\",\"object\":"));
}

static jv as_form(struct arena *a, struct watcher *w, jv obj)
{
    const struct api_req *r = w->r;

    if (r->form == FORM_META)
        return partial_of(a, r, obj);
    if (r->form != FORM_TABLE)
        return obj;
    jv meta = jobj(a, { "resourceVersion", jv_at(obj, "metadata", "resourceVersion") });
    jv columns = w->said_columns ? JV_ABSENT : table_columns(a, r->res);
    w->said_columns = true;
    return table_new(a, r, meta, columns, jarr(a, table_row(a, r, obj)));
}

static void add_value(struct watcher *w, str type, struct arena *a, jv obj)
{
    event_open(&w->text, type);
    json_print(&w->text, as_form(a, w, obj));
    buf_add(&w->text, S("}\n"));
}

static void add_stored(struct watcher *w, str type, const struct value *value)
{
    const struct resource *res = w->r->res;
    AUTO(blob) struct blob *stored = value_blob(value);
    str bytes = blob_str(stored);

    if (w->r->form == FORM_OBJECT && res->raw) {
        event_open(&w->text, type);
        buf_add(&w->text, res->open);
        buf_add(&w->text, str_sub(bytes, 1, bytes.n));
        buf_add(&w->text, S("}\n"));
        return;
    }
    AUTO(arena) struct arena *a = arena_new();
    add_value(w, type, a, resource_parse(a, res, stored));
}

static void add_expired(struct watcher *w, const char *message)
{
    AUTO(arena) struct arena *a = arena_new();

    event_open(&w->text, S("ERROR"));
    json_print(&w->text, status_new(a, 410, S("Expired"), str_of(message), JV_ABSENT));
    buf_add(&w->text, S("}\n"));
    w->stage = STAGE_END;
}

static void add_bookmark(struct watcher *w, int64_t rev, bool end_of_initial)
{
    AUTO(arena) struct arena *a = arena_new();
    const struct resource *res = w->r->res;
    jv notes = jobj(a, { "k8s.io/initial-events-end", jstrz(a, "true") });
    jv meta = jobj(a, { "resourceVersion", jstr(a, arena_printf(a, "%" PRId64, rev)) },
                   { "annotations", end_of_initial ? notes : JV_ABSENT });

    add_value(w, S("BOOKMARK"), a,
              jobj(a, { "kind", jstr(a, res->kind) }, { "apiVersion", jstr(a, res->api_version) },
                   { "metadata", meta }));
    w->bookmark_rev = rev;
}

/* An update that leaves the selection is a deletion to this watcher: the object as it was last
 * seen, at the revision of the change. */
static void add_left(struct watcher *w, struct store_event *ev)
{
    AUTO(arena) struct arena *a = arena_new();
    jv last = resource_parse_value(a, w->r->res, ev->prev);

    last = jv_with(a, last, jstr(a, arena_printf(a, "%" PRId64, ev->rev)), "metadata",
                   "resourceVersion");
    add_value(w, S("DELETED"), a, last);
}

static void add_event(struct watcher *w, struct store_event *ev)
{
    bool is;
    bool was;

    if (!selection_has_key(&w->sel, ev->key))
        return;
    if (!w->sel.needs_object) {
        is = !w->sel.fields || selection_has(&w->sel, ev->key, JV_ABSENT);
        was = is && ev->prev;
    } else {
        struct parsed_event *p = event_cache_get(w->r->api->event_cache, ev);
        is = selection_has(&w->sel, ev->key, p->value);
        was = ev->prev && selection_has(&w->sel, ev->key, p->prev);
    }
    if (ev->is_delete) {
        if (was)
            add_stored(w, S("DELETED"), ev->value);
    } else if (is) {
        add_stored(w, was ? S("MODIFIED") : S("ADDED"), ev->value);
    } else if (was) {
        add_left(w, ev);
    }
}

/* ---- the flow */

static void drop_initial(struct watcher *w)
{
    arena_free(w->initial_arena);
    w->initial_arena = NULL;
    w->initial = (struct store_snapshot){ 0 };
    w->stage = STAGE_LIVE;
}

static void step_initial(struct watcher *w)
{
    if (w->initial_i < w->initial.n) {
        struct store_item *it = &w->initial.items[w->initial_i++];
        if (selection_has_stored(&w->sel, it->key, it->value))
            add_stored(w, S("ADDED"), it->value);
        return;
    }
    int64_t rev = w->initial.rev;
    drop_initial(w);
    if (w->end_of_initial)
        add_bookmark(w, rev, true);
}

/* Makes more text, or changes the stage. False: nothing to say now. */
static bool step(struct watcher *w)
{
    bool lost = false;

    if (w->stage == STAGE_INITIAL) {
        step_initial(w);
        return true;
    }
    struct store_event *ev = store_watch_peek(w->from, &lost);
    if (lost) {
        add_expired(w, "The resourceVersion for the provided watch is too old.");
        return true;
    }
    if (ev) {
        add_event(w, ev);
        store_watch_advance(w->from);
        return true;
    }
    if (w->wants_bookmark) {
        w->wants_bookmark = false;
        int64_t rev = store_watch_rev(w->from);
        if (rev > w->bookmark_rev)
            add_bookmark(w, rev, false);
        return true;
    }
    return false;
}

static ssize_t watch_read(void *ctx, char *buf, size_t n)
{
    struct watcher *w = ctx;
    size_t done = 0;

    while (done < n) {
        size_t left = w->text.n - w->offset;
        if (left) {
            size_t take = left < n - done ? left : n - done;
            memcpy(buf + done, w->text.p + w->offset, take);
            w->offset += take;
            done += take;
            continue;
        }
        w->text.n = w->offset = 0;
        if (w->stage == STAGE_END)
            return done ? (ssize_t)done : HTTP_END;
        if (!step(w)) {
            buf_done(&w->text); /* an idle watcher keeps no buffer */
            break;
        }
    }
    return done ? (ssize_t)done : HTTP_WAIT;
}

static void unlink_watcher(struct watcher *w)
{
    struct api *api = w->r->api;

    if (w->prev)
        w->prev->next = w->next;
    else
        api->watchers = w->next;
    if (w->next)
        w->next->prev = w->prev;
    api->n_watchers--;
}

static void watch_close(void *ctx)
{
    struct watcher *w = ctx;

    unlink_watcher(w);
    loop_timer_stop(w->timer);
    store_watch_stop(w->from);
    arena_free(w->initial_arena);
    buf_done(&w->text);
}

static void on_news(void *ctx)
{
    struct watcher *w = ctx;

    http_wake(w->r->http);
}

static void on_timer(void *ctx);

static void schedule(struct watcher *w)
{
    struct loop *l = w->r->api->loop;
    int64_t left = w->deadline_ms - loop_now_ms(l);
    int64_t wait = left;

    if (w->r->q.bookmarks && left > BEFORE_END_MS)
        wait = left - BEFORE_END_MS < BOOKMARK_MS ? left - BEFORE_END_MS : BOOKMARK_MS;
    w->timer = loop_timer_start(l, wait > 0 ? wait : 0, 0, on_timer, w);
}

static void on_timer(void *ctx)
{
    struct watcher *w = ctx;

    loop_timer_stop(w->timer);
    w->timer = NULL;
    if (loop_now_ms(w->r->api->loop) >= w->deadline_ms)
        w->stage = STAGE_END;
    else
        w->wants_bookmark = w->r->q.bookmarks;
    if (w->stage != STAGE_END)
        schedule(w);
    http_wake(w->r->http);
}

void watches_stop(struct api *api)
{
    for (struct watcher *w = api->watchers; w; w = w->next) {
        w->stage = STAGE_END;
        http_wake(w->r->http);
    }
}

static int64_t timeout_s(const struct api_req *r)
{
    uint32_t jitter;

    if (r->q.timeout_s != 0)
        return r->q.timeout_s < 0 ? 0 : r->q.timeout_s;
    random_bytes(&jitter, sizeof(jitter));
    return DEFAULT_TIMEOUT_S + jitter % DEFAULT_TIMEOUT_S;
}

/* Where to begin: with what is there now, or after a revision. */
static int begin(struct watcher *w, int64_t rev, struct err *e)
{
    struct api_req *r = w->r;
    bool initial = r->q.send_initial_given ? r->q.send_initial : rev == 0;

    if (initial) {
        w->initial_arena = arena_new();
        if (store_snapshot(r->res->coll, w->initial_arena, 0, w->sel.prefix, STR_NONE, &w->initial,
                           e) < 0)
            return -1;
        rev = w->initial.rev;
    } else if (rev == 0) {
        rev = store_rev(r->api->store);
    }
    w->stage = initial ? STAGE_INITIAL : STAGE_LIVE;
    w->end_of_initial = r->q.send_initial && r->q.bookmarks;
    w->from = store_watch_start(r->res->coll, rev, on_news, w, e);
    return w->from ? 0 : -1;
}

void verb_watch(struct api_req *r)
{
    struct api *api = r->api;
    struct watcher *w = ARENA_NEW(r->a, struct watcher);
    struct http_header *h = NULL;
    struct err e = { 0 };
    int64_t rev;

    if (table_check(r) < 0 || selection_of(r, &w->sel) < 0 ||
        parse_revision(r, r->q.resource_version, "", &rev) < 0)
        return;
    if (api->n_watchers >= LIMIT_WATCHERS) {
        fail_code(r, ERR_TOO_MANY_REQUESTS, "this server has %d watches open, its limit",
                  LIMIT_WATCHERS);
        return;
    }
    if (api->stopping) {
        fail_code(r, ERR_UNAVAILABLE, "the server is shutting down");
        return;
    }
    w->r = r;
    w->next = api->watchers;
    if (w->next)
        w->next->prev = w;
    api->watchers = w;
    api->n_watchers++;
    w->deadline_ms = loop_now_ms(api->loop) + seconds_ms(timeout_s(r));
    if (begin(w, rev, &e) < 0)
        add_expired(w, arena_printf(r->a, "too old resource version: %" PRId64 " (%" PRId64 ")",
                                    rev, store_rev(api->store))
                           .p);
    schedule(w);
    struct http_source source = { watch_read, watch_close, w, -1 };
    if (http_wants_websocket(r->http)) {
        metrics_request(r, 101);
        http_reply_lines(r->http, source);
        return;
    }
    size_t n_h = answer_headers(r, S("application/json"), &h);
    metrics_request(r, 200);
    http_reply_source(r->http, 200, h, n_h, source);
}
