/* create: pods, so many in flight over a few connections, until so many are on disk. */

#include "kbench.h"

#include <stdio.h>
#include <stdlib.h>

struct maker {
    struct session *s;
    str path;
    long next;
    long until;
    long done;
    long failed;
    int first_bad; /* status of the first that failed */
    struct tally took;
    struct err *e;
    bool is_broken;
};

struct slot {
    struct call call;
    struct maker *m;
    struct wire *wire;
    struct arena *a; /* of the body under way */
};

static void create_next(struct slot *s);

static void on_created(struct call *c)
{
    struct slot *s = c->ctx;
    struct maker *m = s->m;

    vec_push(&m->took, now_ns() - c->sent_ns);
    m->done++;
    if (c->status != 201 || c->is_cut) {
        if (!m->failed++)
            m->first_bad = c->status;
    }
    create_next(s);
}

static void create_next(struct slot *s)
{
    struct maker *m = s->m;

    arena_free(TAKE(s->a));
    if (m->next == m->until)
        return;
    s->a = arena_new();
    s->call = (struct call){
        .method = "POST",
        .path = m->path,
        .body = body_pod(s->a, m->s->o->name_space, m->next++),
        .on_end = on_created,
        .ctx = s,
    };
    if (wire_call(s->wire, &s->call, m->e) < 0)
        m->is_broken = true;
}

static int start(struct maker *m, struct slot *slots, struct err *e)
{
    const struct opts *o = m->s->o;
    struct wire *wires[16] = { m->s->wire };

    for (long i = 1; i < o->connections; i++)
        if (!(wires[i] = net_connect(m->s->net, e)))
            return -1;
    for (long i = 0; i < o->in_flight; i++) {
        slots[i] = (struct slot){ .m = m, .wire = wires[i % o->connections] };
        create_next(&slots[i]);
    }
    return 0;
}

struct before {
    int64_t ns;
    double cpu;
    double own_cpu;
    long rss;
};

static void report(struct maker *m, const struct before *b)
{
    const struct opts *o = m->s->o;
    struct line l = { 0 };
    double s = (double)(now_ns() - b->ns) / 1e9;

    tally_sort(&m->took);
    line_start(&l, "create");
    line_int(&l, "count", m->done);
    line_int(&l, "in_flight", o->in_flight);
    line_int(&l, "body_bytes", (long)body_pod(m->s->a, o->name_space, 0).n);
    line_int(&l, "failed", m->failed);
    if (m->failed)
        line_int(&l, "first_bad_status", m->first_bad);
    line_num(&l, "seconds", s);
    line_num(&l, "per_s", (double)m->done / s);
    line_num(&l, "p50_us", tally_us(&m->took, 0.5));
    line_num(&l, "p99_us", tally_us(&m->took, 0.99));
    line_num(&l, "client_cpu_us_each", (own_cpu_s() - b->own_cpu) * 1e6 / (double)m->done);
    if (o->procs.n) {
        line_num(&l, "server_cpu_us_each",
                 (procs_cpu_s(&o->procs) - b->cpu) * 1e6 / (double)m->done);
        line_int(&l, "rss_kb_before", b->rss);
        line_int(&l, "rss_kb", procs_rss_kb(&o->procs));
    }
    line_end(&l);
}

int cmd_create(const struct opts *o, struct err *e)
{
    struct session s = { 0 };

    if (o->connections > 16)
        return err_set(e, ERR_INVALID, "--connections is at most 16");
    if (session_start(&s, o, true, e) < 0)
        return -1;
    struct slot *slots = calloc((size_t)o->in_flight, sizeof(*slots));
    struct maker m = { .s = &s, .next = o->first, .until = o->first + o->count, .e = e };
    m.path = arena_printf(s.a, "/api/v1/namespaces/%s/pods", o->name_space);
    struct before b = { now_ns(), procs_cpu_s(&o->procs), own_cpu_s(), procs_rss_kb(&o->procs) };
    int rc = slots ? start(&m, slots, e) : -1;

    while (rc == 0 && m.done < o->count && !m.is_broken)
        rc = net_step(s.net, -1, e);
    if (rc == 0 && !m.is_broken)
        report(&m, &b);
    for (long i = 0; slots && i < o->in_flight; i++)
        arena_free(slots[i].a);
    free(slots);
    vec_done(&m.took);
    session_stop(&s);
    return m.is_broken ? -1 : rc;
}
