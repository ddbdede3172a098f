/* One call from start to end: it waits for its turn and a credential, goes to curl, and is told
 * when curl is done; answers that say "later" send it round again. Whatever is told may cancel any
 * call, this one too, or free the client. */

#include "client/internal.h"

#include "base/limits.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- queues */

void queue_push(struct call_queue *q, struct kube_call *call)
{
    call->queue = q;
    call->queue_next = NULL;
    call->queue_prev = q->last;
    if (q->last)
        q->last->queue_next = call;
    else
        q->first = call;
    q->last = call;
}

/* From the queue it is in, if any. */
static void queue_remove(struct kube_call *call)
{
    struct call_queue *q = call->queue;

    if (!q)
        return;
    if (call->queue_prev)
        call->queue_prev->queue_next = call->queue_next;
    else
        q->first = call->queue_next;
    if (call->queue_next)
        call->queue_next->queue_prev = call->queue_prev;
    else
        q->last = call->queue_prev;
    call->queue = NULL;
}

struct kube_call *queue_pop(struct call_queue *q)
{
    struct kube_call *call = q->first;

    if (!call)
        return NULL;
    q->first = call->queue_next;
    if (q->first)
        q->first->queue_prev = NULL;
    else
        q->last = NULL;
    call->queue = NULL;
    return call;
}

/* ---- out */

static void deliver_later(void *arg)
{
    struct client *c = arg;

    if (!c->stopped)
        calls_deliver(c);
    client_unref(c);
}

void call_fail(struct kube_call *call, const struct err *e)
{
    struct client *c = call->c;
    struct err *copy = ARENA_NEW(call->a, struct err);

    *copy = *e;
    call->failed = copy;
    call->finished = true;
    queue_remove(call);
    queue_push(&c->ready, call);
    c->holds++;
    loop_defer(c->loop, deliver_later, c);
}

static void begin(struct kube_call *call, struct headers *h)
{
    call->generation = h->generation;
    if (call->done) {
        call->c->running++;
        call->c->begun++;
    }
    call->tries++;
    multi_begin(call, h);
}

static bool has_room(const struct client *c)
{
    return c->running < RUNNING_MOST && c->begun < BEGUN_MOST;
}

/* Every call that is done with curl, or gives up before, makes room for another. */
void calls_start_waiting(struct client *c)
{
    struct kube_call *next;

    while (!c->stopped && has_room(c) && (next = queue_pop(&c->full)))
        call_authorize(next);
}

static void end(struct kube_call *call)
{
    if (!call->line)
        return;
    struct client *c = call->c;
    multi_end(call);
    c->running -= call->done != NULL;
    if (c->begun > c->running)
        c->begun = c->running; /* curl never looks at one that was canceled first */
}

void call_authorize(struct kube_call *call)
{
    struct err e = { 0 };

    if (call->done && !has_room(call->c)) {
        queue_push(&call->c->full, call);
        return;
    }
    struct headers *h = credential_get(call->c, &e);

    if (h)
        begin(call, h);
    else if (e.code)
        call_fail(call, &e);
    else
        queue_push(&call->c->waiting, call);
}

void calls_authorized(struct client *c, const struct err *e)
{
    struct kube_call *call;
    struct kube_call *last = c->waiting.last;

    while ((call = queue_pop(&c->waiting))) {
        bool is_last = call == last; /* what is queued again waits for the next round */
        if (e)
            call_fail(call, e);
        else
            call_authorize(call);
        if (is_last)
            break;
    }
}

void call_start(struct kube_call *call)
{
    if (pace_take(call->c))
        call_authorize(call);
    else
        pace_wait(call->c, call);
}

/* ---- in */

static bool is_good(int status)
{
    return status >= 200 && status < 300;
}

bool call_is_stream(const struct kube_call *call)
{
    return !call->done || call->on_bytes;
}

static void count(struct kube_call *call)
{
    struct client *c = call->c;

    if (call->counted)
        return;
    call->counted = true;
    c->stats.requests++;
    for (size_t i = 0; i < c->counts.n; i++) {
        struct request_count *r = &c->counts.at[i];
        if (r->code == call->status && strcmp(r->method, call->method) == 0) {
            r->n++;
            return;
        }
    }
    vec_push(&c->counts, (struct request_count){ call->method, call->status, 1 });
}

void call_got(struct kube_call *call, str bytes)
{
    struct client *c = call->c;

    if (call->status == 0) {
        long status = 0;
        curl_easy_getinfo(call->line->easy, CURLINFO_RESPONSE_CODE, &status);
        call->status = (int)status;
        count(call);
    }
    if (bytes.n > LIMIT_ANSWER_BYTES - call->got.n) {
        call->too_large = true;
        return;
    }
    buf_add(&call->got, bytes);
    call->last_byte_ms = loop_now_ms(c->loop);
    if (call_is_stream(call) && is_good(call->status) && !call->queue)
        queue_push(&c->ready, call);
}

static void curl_err(const struct kube_call *call, struct err *e)
{
    const char *why = call->line->error[0] ? call->line->error : curl_easy_strerror(call->rc);

    if (call->too_large)
        err_set(e, ERR_TOO_LARGE, "the answer has more than %d bytes", LIMIT_ANSWER_BYTES);
    else if (call->rc == CURLE_OPERATION_TIMEDOUT)
        err_set(e, ERR_TIMEOUT, "%s: %s", call->c->host, why);
    else
        err_set(e, ERR_UNAVAILABLE, "%s: %s", call->c->host, why);
}

/* Off all lists, so that it is nobody's but ours while the caller is told. */
static void detach(struct kube_call *call)
{
    struct client *c = call->c;

    queue_remove(call);
    loop_timer_stop(TAKE(call->retry));
    end(call);
    if (call->next)
        call->next->prev = call->prev;
    if (call->prev)
        call->prev->next = call->next;
    else
        c->calls = call->next;
    c->stats.open--;
    if (c->telling == call)
        c->telling = NULL;
    c->stats.watches -= call_is_stream(call);
    calls_start_waiting(c);
}

static void release(struct kube_call *call)
{
    kube_lines_free(call->lines);
    buf_done(&call->got);
    arena_free(call->a);
    free(call);
}

void call_free(struct kube_call *call)
{
    detach(call);
    release(call);
}

static void on_retry(void *arg)
{
    struct kube_call *call = arg;

    loop_timer_stop(TAKE(call->retry));
    call_start(call);
}

static void again(struct kube_call *call, int64_t after_ms)
{
    end(call);
    buf_clear(&call->got);
    call->counted = call->finished = false;
    call->status = 0;
    call->c->stats.retries++;
    calls_start_waiting(call->c);
    if (after_ms)
        call->retry = loop_timer_start(call->c->loop, after_ms, 0, on_retry, call);
    else
        call_start(call);
}

/* Whether it goes round again. */
static bool retried(struct kube_call *call, const struct kube_answer *ans)
{
    if (ans->status == 401 && !call->reauthorized &&
        credential_refused(call->c, call->generation)) {
        call->reauthorized = true;
        again(call, 0);
        return true;
    }
    if (ans->status == 415 && call->written) {
        call->c->only_json = true;
        call->body = kube_form_json(call->a, call->written, call->body);
        call->type = "Content-Type: application/json";
        call->written = NULL;
        again(call, 0);
        return true;
    }
    if ((ans->status != 429 && ans->status != 503) || !call->done || ans->retry_after_ms <= 0 ||
        ans->retry_after_ms > RETRY_AFTER_MOST_MS || call->tries >= TRIES)
        return false;
    uint32_t spread; /* so that those turned away together do not come back together */
    random_bytes(&spread, sizeof(spread));
    again(call, ans->retry_after_ms + (int64_t)(spread % (uint32_t)(ans->retry_after_ms / 4 + 1)));
    return true;
}

static void read_answer(struct kube_call *call, struct kube_answer *ans)
{
    char after[24] = "";

    *ans = (struct kube_answer){ 0 };
    if (call->failed) {
        ans->err = *call->failed;
    } else if (call->rc != CURLE_OK) {
        curl_err(call, &ans->err);
    } else {
        if (call->retry_after_s > 0)
            snprintf(after, sizeof(after), "%" PRId64, call->retry_after_s);
        kube_answer_read(call->a, call->status, buf_str(&call->got), call->read, str_of(after),
                         ans);
    }
    if (!call->failed)
        count(call);
}

static void finish(struct kube_call *call)
{
    bool streamed = call_is_stream(call) && is_good(call->status);
    struct kube_answer ans;

    if (streamed && !call->failed && call->rc == CURLE_OK) {
        ans = (struct kube_answer){ .status = call->status };
        count(call);
        if (call->lines && kube_lines_is_partial(call->lines))
            err_set(&ans.err, ERR_UNAVAILABLE, "%s: the watch was cut in the middle of an event",
                    call->c->host);
    } else {
        read_answer(call, &ans);
    }
    if (!streamed && ans.status && retried(call, &ans))
        return;
    detach(call);
    if (call->done)
        call->done(call->ctx, &ans);
    else
        call->watcher.on_end(call->watcher.ctx, ans.err.code ? &ans.err : NULL, ans.retry_after_ms);
    release(call);
}

/* Tells a watch's events, or bytes. Whether the call is still there, and not over. */
static bool stream(struct kube_call *call)
{
    AUTO(buf) struct buf got = call->got;
    struct err e = { 0 };

    call->got = (struct buf){ 0 };
    if (call->on_bytes) {
        struct client *c = call->c;
        c->telling = call;
        call->on_bytes(call->ctx, buf_str(&got));
        bool is_there = c->telling == call;
        c->telling = NULL;
        return is_there;
    }
    int rc = kube_lines_feed(call->lines, buf_str(&got), &e);
    if (rc == 0)
        return true;
    if (rc < 0) {
        detach(call);
        call->watcher.on_end(call->watcher.ctx, &e, 0);
        release(call);
    }
    return false;
}

void calls_deliver(struct client *c)
{
    struct kube_call *call;

    while ((call = queue_pop(&c->ready))) {
        if (call_is_stream(call) && call->got.n && is_good(call->status) && !stream(call))
            continue;
        if (call->finished)
            finish(call);
    }
}
