/* replay: sends the requests of a file, so many in flight, and waits until as many objects have
 * come up elsewhere as it is told: the bare load generator, and with an operator at work the
 * stopwatch.
 *
 * A line of the file is a method, a path, and, if there is one, a body as JSON in one line. What is
 * waited for follows "--": COUNT and PATH, where PATH is a collection with its selectors. */

#include "watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_EYES = 4, MAX_WIRES = 16 };

struct replay {
    struct session s;
    str rest; /* of the file */
    long sent;
    long done;
    long failed;
    int first_bad;
    struct tally took;
    struct err *e;
    bool is_broken;
    struct eye eyes[MAX_EYES];
    struct wire *eye_wires[MAX_EYES];
    const char *watched[MAX_EYES];
    long wanted[MAX_EYES];
    size_t n_eyes;
};

struct slot {
    struct call call;
    struct replay *r;
    struct wire *wire;
};

static void send_next(struct slot *s);

static void on_answer(struct call *c)
{
    struct slot *s = c->ctx;
    struct replay *r = s->r;

    vec_push(&r->took, now_ns() - c->sent_ns);
    r->done++;
    if ((c->status != 200 && c->status != 201) || c->is_cut) {
        if (!r->failed++)
            r->first_bad = c->status;
    }
    send_next(s);
}

static void send_next(struct slot *s)
{
    struct replay *r = s->r;
    str line = STR_NONE;

    while (!line.n) {
        if (!r->rest.n)
            return;
        line = str_cut(&r->rest, '\n');
    }
    str method = str_cut(&line, ' ');
    str path = str_cut(&line, ' ');
    s->call = (struct call){
        .method = arena_z(r->s.a, method),
        .path = path,
        .body = line,
        .type = str_eqz(method, "PATCH") ? "application/merge-patch+json" : NULL,
        .on_end = on_answer,
        .ctx = s,
    };
    r->sent++;
    if (wire_call(s->wire, &s->call, r->e) < 0)
        r->is_broken = true;
}

static int look(struct replay *r, size_t i, int64_t from, struct err *e)
{
    const char *path = r->watched[i], *mark = strchr(path, '?') ? "&" : "?";
    str watch =
        arena_printf(r->s.a, "%s%swatch=1&resourceVersion=%lld", path, mark, (long long)from);

    return eye_open(&r->eyes[i], r->eye_wires[i], watch, e);
}

/* Names are enough to count, and cost the server the least. */
static const char metadata[] = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

static int open_eyes(struct replay *r, char **args, struct err *e)
{
    for (; args[0] && args[1] && r->n_eyes < MAX_EYES; args += 2) {
        size_t i = r->n_eyes++;
        int64_t n = 0, rev = 0;
        str list = arena_printf(r->s.a, "%s%slimit=1", args[1], strchr(args[1], '?') ? "&" : "?");

        if (!str_to_int(str_of(args[0]), &n))
            return err_set(e, ERR_INVALID, "'%s' is no number", args[0]);
        if (list_revision(&r->s, list, &rev, e) < 0)
            return -1;
        r->wanted[i] = (long)n;
        r->watched[i] = args[1];
        r->eyes[i].accept = metadata;
        r->eye_wires[i] = net_connect(r->s.net, e);
        if (!r->eye_wires[i] || look(r, i, rev, e) < 0)
            return -1;
        while (!r->eyes[i].call.status)
            if (net_step(r->s.net, -1, e) < 0)
                return -1;
    }
    return 0;
}

/* A server under load ends watches that cannot keep up; they go on where they were. */
static int look_again(struct replay *r, struct err *e)
{
    for (size_t i = 0; i < r->n_eyes; i++)
        if (r->eyes[i].call.is_over && look(r, i, r->eyes[i].last, e) < 0)
            return -1;
    return 0;
}

static bool is_over(const struct replay *r)
{
    if (r->rest.n || r->done < r->sent)
        return false;
    for (size_t i = 0; i < r->n_eyes; i++)
        if (r->eyes[i].added < r->wanted[i])
            return false;
    return true;
}

static int run(struct replay *r, struct slot *slots, int64_t *began, struct err *e)
{
    const struct opts *o = r->s.o;
    struct wire *wires[MAX_WIRES] = { r->s.wire };
    int64_t until = now_ns() + o->timeout_s * 1000000000;

    if (open_eyes(r, o->command, e) < 0)
        return -1;
    for (long i = 1; i < o->connections; i++)
        if (!(wires[i] = net_connect(r->s.net, e)))
            return -1;
    *began = now_ns();
    for (long i = 0; i < o->in_flight; i++) {
        slots[i] = (struct slot){ .r = r, .wire = wires[i % o->connections] };
        send_next(&slots[i]);
    }
    while (!is_over(r) && !r->is_broken) {
        if (now_ns() > until)
            return err_set(e, ERR_TIMEOUT, "not done after %ld s: %ld answered, %ld and %ld came",
                           o->timeout_s, r->done, r->eyes[0].added, r->eyes[1].added);
        if (net_step(r->s.net, 1000, e) < 0 || look_again(r, e) < 0)
            return -1;
    }
    return r->is_broken ? -1 : 0;
}

static void report(struct replay *r, int64_t began)
{
    struct line l = { 0 };

    tally_sort(&r->took);
    line_start(&l, "replay");
    line_int(&l, "count", r->done);
    line_int(&l, "failed", r->failed);
    if (r->failed)
        line_int(&l, "first_bad_status", r->first_bad);
    line_num(&l, "seconds", (double)(now_ns() - began) / 1e9);
    line_num(&l, "p50_us", tally_us(&r->took, 0.5));
    line_num(&l, "p99_us", tally_us(&r->took, 0.99));
    line_end(&l);
}

static int read_file(struct replay *r, const char *path, struct err *e)
{
    struct buf b = { 0 };
    FILE *f = path ? fopen(path, "re") : NULL;
    char piece[65536];

    if (!f)
        return path ? err_sys(e, "open %s", path) : err_set(e, ERR_INVALID, "--log FILE is needed");
    for (size_t n = 0; (n = fread(piece, 1, sizeof(piece), f)) > 0;)
        buf_add(&b, (str){ piece, n });
    fclose(f);
    r->rest = arena_str(r->s.a, buf_str(&b));
    buf_done(&b);
    return 0;
}

int cmd_replay(const struct opts *o, struct err *e)
{
    struct replay r = { .e = e };
    int64_t began = 0;

    if (o->connections > MAX_WIRES)
        return err_set(e, ERR_INVALID, "--connections is at most %d", MAX_WIRES);
    if (session_start(&r.s, o, true, e) < 0)
        return -1;
    struct slot *slots = calloc((size_t)o->in_flight, sizeof(*slots));
    int rc = slots && read_file(&r, o->log, e) == 0 ? run(&r, slots, &began, e) : -1;
    if (rc == 0)
        report(&r, began);
    session_stop(&r.s);
    for (size_t i = 0; i < r.n_eyes; i++)
        eye_done(&r.eyes[i]);
    vec_done(&r.took);
    free(slots);
    return rc;
}
