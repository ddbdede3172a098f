/* latency: from the POST of a pod to its event on another connection, one in flight. */

#include "watch.h"

#include <stdio.h>

struct timing {
    int64_t event_ns; /* 0: not yet */
    struct tally to_event;
    struct tally to_answer;
};

static void on_event(struct eye *x)
{
    struct timing *t = x->ctx;

    t->event_ns = now_ns();
}

static int create_one(struct session *s, struct timing *t, str path, long i, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    struct call c = { .method = "POST", .path = path, .body = body_pod(a, s->o->name_space, i) };
    int64_t answer_ns = 0;

    t->event_ns = 0;
    if (wire_call(s->wire, &c, e) < 0)
        return -1;
    while (!answer_ns || !t->event_ns) {
        if (net_step(s->net, -1, e) < 0)
            return -1;
        if (c.is_over && !answer_ns)
            answer_ns = now_ns();
        if (c.is_over && c.status != 201)
            return err_set(e, ERR_IO, "create: status %d", c.status);
    }
    vec_push(&t->to_event, t->event_ns - c.sent_ns);
    vec_push(&t->to_answer, answer_ns - c.sent_ns);
    return 0;
}

static int measure(struct session *s, struct eye *x, struct timing *t, struct err *e)
{
    str path = arena_printf(s->a, "/api/v1/namespaces/%s/pods", s->o->name_space);
    int64_t rev = 0;

    if (list_revision(s, arena_printf(s->a, "%" PRI_STR "?limit=1", STR_ARG(path)), &rev, e) < 0)
        return -1;
    struct wire *w = net_connect(s->net, e);
    if (!w || eye_open(x, w,
                       arena_printf(s->a, "%" PRI_STR "?watch=1&resourceVersion=%lld",
                                    STR_ARG(path), (long long)rev),
                       e) < 0)
        return -1;
    while (!x->call.status)
        if (net_step(s->net, -1, e) < 0)
            return -1;
    x->on_event = on_event;
    x->ctx = t;
    for (long i = 0; i < s->o->count; i++)
        if (create_one(s, t, path, s->o->first + i, e) < 0)
            return -1;
    return x->is_wrong ? err_set(e, ERR_IO, "events were out of order") : 0;
}

int cmd_latency(const struct opts *o, struct err *e)
{
    struct session s = { 0 };
    struct eye x = { 0 };
    struct timing t = { 0 };
    struct line l = { 0 };

    if (session_start(&s, o, true, e) < 0)
        return -1;
    int rc = measure(&s, &x, &t, e);
    if (rc == 0) {
        tally_sort(&t.to_event);
        tally_sort(&t.to_answer);
        line_start(&l, "latency");
        line_int(&l, "count", (long)t.to_event.n);
        line_num(&l, "event_p50_us", tally_us(&t.to_event, 0.5));
        line_num(&l, "event_p99_us", tally_us(&t.to_event, 0.99));
        line_num(&l, "answer_p50_us", tally_us(&t.to_answer, 0.5));
        line_num(&l, "answer_p99_us", tally_us(&t.to_answer, 0.99));
        line_end(&l);
    }
    vec_done(&t.to_event);
    vec_done(&t.to_answer);
    session_stop(&s);
    eye_done(&x);
    return rc;
}
