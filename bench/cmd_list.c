/* list: all pods of a namespace at once, plain and compressed, and in pages of 500. */

#include "kbench.h"

#include "base/json.h"

#include <stdio.h>
#include <zlib.h>

struct lister {
    struct session *s;
    str path;
    struct buf body;
    size_t bytes;
    size_t packed_bytes;
    struct tally plain, gzip, paged;
};

static int get(struct lister *l, str path, bool gzip, struct err *e)
{
    struct call c = { .method = "GET", .path = path, .gzip = gzip };

    buf_clear(&l->body);
    if (net_ask(l->s->net, l->s->wire, &c, &l->body, e) < 0)
        return -1;
    return c.status == 200 ? 0 : err_set(e, ERR_IO, "list: status %d", c.status);
}

static int count_items(str text, size_t *out, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    jv list = json_parse(a, text, NULL, e);

    if (!jv_exists(list))
        return -1;
    *out = jv_len(jv_at(list, "items"));
    return 0;
}

/* The unpacked answer; as it is if the server did not pack it. */
static int unpack(str packed, size_t most, struct buf *out, struct err *e)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)packed.p, .avail_in = (uInt)packed.n };

    if (packed.n < 2 || (unsigned char)packed.p[0] != 0x1f) {
        buf_add(out, packed);
        return 0;
    }
    inflateInit2(&z, 15 + 16);
    z.next_out = (Bytef *)buf_room(out, most);
    z.avail_out = (uInt)most;
    int rc = inflate(&z, Z_FINISH);
    out->n += z.total_out;
    inflateEnd(&z);
    return rc == Z_STREAM_END ? 0 : err_set(e, ERR_IO, "the compressed list is damaged");
}

/* Outside of the timing: each form holds all the pods. */
static int check(struct lister *l, struct err *e)
{
    AUTO(buf) struct buf plain = { 0 };
    size_t n = 0;
    size_t m = 0;

    if (get(l, l->path, false, e) < 0 || count_items(buf_str(&l->body), &n, e) < 0)
        return -1;
    l->bytes = l->body.n;
    if (get(l, l->path, true, e) < 0 ||
        unpack(buf_str(&l->body), 2 * l->bytes + 4096, &plain, e) < 0 ||
        count_items(buf_str(&plain), &m, e) < 0)
        return -1;
    l->packed_bytes = l->body.n;
    if ((long)n != l->s->o->count || n != m)
        return err_set(e, ERR_IO, "listed %zu and %zu pods, not %ld", n, m, l->s->o->count);
    return 0;
}

static int get_pages(struct lister *l, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    str mark = S("\"continue\":\"");
    str path = arena_printf(a, "%" PRI_STR "?limit=500", STR_ARG(l->path));

    for (;;) {
        if (get(l, path, false, e) < 0)
            return -1;
        const char *at = memmem(l->body.p, l->body.n, mark.p, mark.n);
        if (!at)
            return 0;
        str rest = { at + mark.n, (size_t)(l->body.p + l->body.n - (at + mark.n)) };
        str token = str_cut(&rest, '"');
        if (!token.n)
            return 0;
        path = arena_printf(a, "%" PRI_STR "?limit=500&continue=%" PRI_STR, STR_ARG(l->path),
                            STR_ARG(token));
    }
}

static int measure(struct lister *l, struct err *e)
{
    if (check(l, e) < 0)
        return -1;
    for (long i = 0; i < l->s->o->rounds; i++) {
        int64_t t0 = now_ns();
        if (get(l, l->path, false, e) < 0)
            return -1;
        int64_t t1 = now_ns();
        if (get(l, l->path, true, e) < 0)
            return -1;
        int64_t t2 = now_ns();
        if (get_pages(l, e) < 0)
            return -1;
        vec_push(&l->plain, t1 - t0);
        vec_push(&l->gzip, t2 - t1);
        vec_push(&l->paged, now_ns() - t2);
    }
    tally_sort(&l->plain);
    tally_sort(&l->gzip);
    tally_sort(&l->paged);
    return 0;
}

int cmd_list(const struct opts *o, struct err *e)
{
    struct session s = { 0 };
    struct line out = { 0 };

    if (session_start(&s, o, false, e) < 0)
        return -1;
    struct lister l = { .s = &s };
    l.path = arena_printf(s.a, "/api/v1/namespaces/%s/pods", o->name_space);
    long rss = procs_rss_kb(&o->procs);
    double cpu = procs_cpu_s(&o->procs);
    int rc = measure(&l, e);
    if (rc == 0) {
        line_start(&out, "list");
        line_int(&out, "count", o->count);
        line_int(&out, "rounds", o->rounds);
        line_int(&out, "bytes", (long)l.bytes);
        line_int(&out, "gzip_bytes", (long)l.packed_bytes);
        line_num(&out, "plain_ms", tally_us(&l.plain, 0.5) / 1e3);
        line_num(&out, "plain_mb_per_s", (double)l.bytes / tally_us(&l.plain, 0.5));
        line_num(&out, "gzip_ms", tally_us(&l.gzip, 0.5) / 1e3);
        line_num(&out, "paged_ms", tally_us(&l.paged, 0.5) / 1e3);
        if (o->procs.n) {
            line_num(&out, "server_cpu_s", procs_cpu_s(&o->procs) - cpu);
            line_int(&out, "rss_kb_before", rss);
            line_int(&out, "rss_kb", procs_rss_kb(&o->procs));
        }
        line_end(&out);
    }
    buf_done(&l.body);
    vec_done(&l.plain);
    vec_done(&l.gzip);
    vec_done(&l.paged);
    session_stop(&s);
    return rc;
}
