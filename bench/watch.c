/* Reads events without parsing them: 2,000 watchers of 1,000 events are 2,000,000 lines. */

#include "watch.h"

#include "base/json.h"

uint64_t chain_add(uint64_t chain, int64_t revision)
{
    return (chain ^ (uint64_t)revision) * 0x9e3779b97f4a7c15u + 1;
}

static void on_line(struct eye *x, str text)
{
    int64_t rev = find_revision(text);

    bool added = str_starts(text, S("{\"type\":\"ADDED\""));

    x->added += added;
    if (!added || rev <= x->last)
        x->is_wrong = true;
    x->last = rev;
    x->chain = chain_add(x->chain, rev);
    x->seen++;
    if (x->on_event)
        x->on_event(x);
}

static void on_bytes(struct call *c, str bytes)
{
    struct eye *x = (struct eye *)c;

    while (bytes.n) {
        const char *end = memchr(bytes.p, '\n', bytes.n);
        if (!end) {
            buf_add(&x->rest, bytes);
            return;
        }
        str text = { bytes.p, (size_t)(end - bytes.p) };
        if (x->rest.n) {
            buf_add(&x->rest, text);
            on_line(x, buf_str(&x->rest));
            buf_clear(&x->rest);
        } else if (text.n) {
            on_line(x, text);
        }
        bytes = str_sub(bytes, text.n + 1, bytes.n);
    }
}

int eye_open(struct eye *x, struct wire *w, str path, struct err *e)
{
    x->call =
        (struct call){ .method = "GET", .path = path, .accept = x->accept, .on_data = on_bytes };
    return wire_call(w, &x->call, e);
}

void eye_done(struct eye *x)
{
    buf_done(&x->rest);
}

int list_revision(struct session *s, str path, int64_t *out, struct err *e)
{
    AUTO(buf) struct buf b = { 0 };
    struct call c = { .method = "GET", .path = path };

    if (net_ask(s->net, s->wire, &c, &b, e) < 0)
        return -1;
    jv list = json_parse(s->a, arena_str(s->a, buf_str(&b)), NULL, e);
    if (c.status != 200 ||
        !str_to_int(jv_str(jv_at(list, "metadata", "resourceVersion"), S("")), out))
        return err_set(e, ERR_IO, "list of %" PRI_STR ": status %d", STR_ARG(path), c.status);
    return 0;
}
