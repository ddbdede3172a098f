/* See podlog.h. */

#include "cli/podlog.h"

#include "base/limits.h"
#include "base/url.h"
#include "loop/loop.h"

#include <inttypes.h>

str podlog_path(struct arena *a, const struct podlog_opts *o)
{
    AUTO(buf) struct buf b = { 0 };

    buf_add(&b, S("/api/v1/namespaces/"));
    url_encode(&b, o->ns);
    buf_add(&b, S("/pods/"));
    url_encode(&b, o->pod);
    buf_add(&b, S("/log?"));
    if (o->container.n) {
        buf_add(&b, S("container="));
        url_encode(&b, o->container);
        buf_addc(&b, '&');
    }
    if (o->tail >= 0)
        buf_printf(&b, "tailLines=%" PRId64 "&", o->tail);
    if (o->since_ms > 0) /* whole seconds, at least one */
        buf_printf(&b, "sinceSeconds=%" PRId64 "&", (o->since_ms + 999) / 1000);
    buf_printf(&b, "%s%s%s", o->follow ? "follow=true&" : "", o->previous ? "previous=true&" : "",
               o->timestamps ? "timestamps=true&" : "");
    b.n--; /* '?' or '&' */
    return arena_str(a, buf_str(&b));
}

struct reading {
    struct session *s;
    struct buf got;
    bool done;
    struct kube_call *call;
    struct err err;
    str message;
};

static void on_bytes(void *ctx, str bytes)
{
    struct reading *r = ctx;

    if (r->got.n < LIMIT_ANSWER_BYTES)
        buf_add(&r->got, bytes);
}

static void on_done(void *ctx, const struct kube_answer *ans)
{
    struct reading *r = ctx;

    r->done = true;
    r->err = ans->err;
    r->message = arena_str(r->s->a, ans->message);
    loop_wake(r->s->loop);
}

int podlog_read(struct session *s, const struct podlog_opts *o, str *out, str *why)
{
    struct reading r = { .s = s };
    struct kube_get get = { .path = podlog_path(s->a, o), .accept = "*/*", .on_bytes = on_bytes };

    r.call = kube_get(s->api, &get, on_done, &r);
    int code = session_wait(s, &r.done);
    if (!r.done)
        kube_cancel(s->api, r.call);
    *out = arena_str(s->a, buf_str(&r.got));
    *why = r.err.code ? (r.message.n ? r.message : arena_str(s->a, str_of(r.err.msg))) : STR_NONE;
    buf_done(&r.got);
    return code;
}
