/* fanout: many watchers of one collection, some events, and proof that each saw all of them in
 * order: the chain of revisions of each equals that of the revisions the writes were answered. */

#include "watch.h"

#include <stdio.h>
#include <stdlib.h>

enum { STALL_S = 20, SETTLE_MS = 500 };

struct crowd {
    struct session *s;
    struct eye *eyes;
    str path;
    size_t wires;
    long total; /* events seen by all */
    long next;
    long done;
    long failed;
    struct tally revs; /* as answered, sorted at the end */
    struct err *e;
    bool is_broken;
};

struct slot {
    struct call call;
    struct crowd *c;
    struct arena *a;
    struct buf answer;
};

static void on_event(struct eye *x)
{
    struct crowd *c = x->ctx;

    c->total++;
}

static int open_eyes(struct crowd *c, struct err *e)
{
    struct session *s = c->s;
    int64_t rev = 0;
    struct wire *w = NULL;

    if (list_revision(s, arena_printf(s->a, "%" PRI_STR "?limit=1", STR_ARG(c->path)), &rev, e) < 0)
        return -1;
    str path = arena_printf(s->a, "%" PRI_STR "?watch=1&resourceVersion=%lld", STR_ARG(c->path),
                            (long long)rev);
    for (long i = 0; i < s->o->watchers; i++) {
        if (!w || wire_room(w) == 0) {
            if (!(w = net_connect(s->net, e)))
                return -1;
            c->wires++;
        }
        c->eyes[i].on_event = on_event;
        c->eyes[i].ctx = c;
        if (eye_open(&c->eyes[i], w, path, e) < 0)
            return -1;
        if (i % 50 == 49 && net_step(s->net, 0, e) < 0) /* as a crowd comes, not all at once */
            return -1;
    }
    for (long i = 0; i < s->o->watchers; i++)
        while (!c->eyes[i].call.status)
            if (net_step(s->net, -1, e) < 0)
                return -1;
    return 0;
}

static int settle(struct session *s, int64_t ms, struct err *e)
{
    int64_t until = now_ns() + ms * 1000000;

    while (now_ns() < until)
        if (net_step(s->net, 50, e) < 0)
            return -1;
    return 0;
}

static void write_next(struct slot *s);

static void on_part(struct call *call, str bytes)
{
    struct slot *s = call->ctx;

    buf_add(&s->answer, bytes);
}

static void on_written(struct call *call)
{
    struct slot *s = call->ctx;

    s->c->done++;
    if (call->status != 201 || call->is_cut)
        s->c->failed++;
    else
        vec_push(&s->c->revs, find_revision(buf_str(&s->answer)));
    write_next(s);
}

static void write_next(struct slot *s)
{
    struct crowd *c = s->c;

    arena_free(TAKE(s->a));
    buf_clear(&s->answer);
    if (c->next == c->s->o->count)
        return;
    s->a = arena_new();
    s->call = (struct call){
        .method = "POST",
        .path = c->path,
        .body = body_configmap(s->a, c->s->o->name_space, c->s->o->first + c->next++),
        .on_data = on_part,
        .on_end = on_written,
        .ctx = s,
    };
    if (wire_call(c->s->wire, &s->call, c->e) < 0)
        c->is_broken = true;
}

/* Ends when all is seen, or when nothing more has come for a while. */
static int write_events(struct crowd *c, struct err *e)
{
    const struct opts *o = c->s->o;
    long goal = o->count * o->watchers;
    struct slot *slots = calloc((size_t)o->in_flight, sizeof(*slots));
    int64_t moved_ns = now_ns();
    long last = 0;
    int rc = slots ? 0 : -1;

    for (long i = 0; slots && i < o->in_flight; i++) {
        slots[i].c = c;
        write_next(&slots[i]);
    }
    while (rc == 0 && !c->is_broken && (c->done < o->count || c->total < goal)) {
        rc = net_step(c->s->net, 1000, e);
        if (c->total + c->done != last)
            moved_ns = now_ns();
        last = c->total + c->done;
        if (now_ns() - moved_ns > STALL_S * 1000000000LL)
            break;
    }
    for (long i = 0; slots && i < o->in_flight; i++) {
        arena_free(slots[i].a);
        buf_done(&slots[i].answer);
    }
    free(slots);
    return c->is_broken ? -1 : rc;
}

/* Watchers that did not see exactly the events, in order. */
static long count_wrong(struct crowd *c, long *cut)
{
    uint64_t chain = 0;
    long wrong = 0;

    tally_sort(&c->revs);
    for (size_t i = 0; i < c->revs.n; i++)
        chain = chain_add(chain, c->revs.at[i]);
    for (long i = 0; i < c->s->o->watchers; i++) {
        struct eye *x = &c->eyes[i];
        wrong += x->is_wrong || x->seen != (long)c->revs.n || x->chain != chain;
        *cut += x->call.is_over;
    }
    return wrong;
}

static int measure(struct crowd *c, struct line *l, struct err *e)
{
    const struct opts *o = c->s->o;
    long rss = procs_rss_kb(&o->procs);
    int64_t began = now_ns();
    long cut = 0;

    if (open_eyes(c, e) < 0)
        return -1;
    double open_s = (double)(now_ns() - began) / 1e9;
    if (settle(c->s, SETTLE_MS, e) < 0)
        return -1;
    long rss_idle = procs_rss_kb(&o->procs);
    double cpu = procs_cpu_s(&o->procs);
    began = now_ns();
    if (write_events(c, e) < 0)
        return -1;
    double seconds = (double)(now_ns() - began) / 1e9;
    cpu = procs_cpu_s(&o->procs) - cpu;
    line_int(l, "watchers", o->watchers);
    line_int(l, "events", o->count);
    line_int(l, "connections", (long)c->wires);
    line_int(l, "failed_writes", c->failed);
    line_int(l, "wrong_watchers", count_wrong(c, &cut));
    line_int(l, "cut_watchers", cut);
    line_int(l, "delivered", c->total);
    line_num(l, "open_seconds", open_s);
    line_num(l, "seconds", seconds);
    line_num(l, "deliveries_per_s", (double)c->total / seconds);
    if (o->procs.n) {
        line_num(l, "server_cpu_us_each", cpu * 1e6 / (double)(c->total ? c->total : 1));
        line_int(l, "rss_kb_before", rss);
        line_int(l, "rss_kb_idle_watchers", rss_idle);
        line_int(l, "rss_kb", procs_rss_kb(&o->procs));
        line_num(l, "kb_each_watcher", (double)(rss_idle - rss) / (double)o->watchers);
    }
    return 0;
}

int cmd_fanout(const struct opts *o, struct err *e)
{
    struct session s = { 0 };
    struct line l = { 0 };

    if (session_start(&s, o, true, e) < 0)
        return -1;
    struct crowd c = { .s = &s, .e = e };
    c.path = arena_printf(s.a, "/api/v1/namespaces/%s/configmaps", o->name_space);
    c.eyes = calloc((size_t)o->watchers, sizeof(*c.eyes));
    line_start(&l, "fanout");
    int rc = c.eyes ? measure(&c, &l, e) : -1;
    if (rc == 0)
        line_end(&l);
    session_stop(&s);
    for (long i = 0; c.eyes && i < o->watchers; i++)
        eye_done(&c.eyes[i]);
    free(c.eyes);
    vec_done(&c.revs);
    return rc;
}
