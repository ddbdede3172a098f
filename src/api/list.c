/* Lists go out as the stored bytes of their objects, pulled as the client takes them, so that a
 * list of any length costs no copy. Other forms (Table, metadata, YAML, indented) are made in
 * slices of some objects. */

#include "api/list.h"

#include "api/metrics.h"
#include "api/table.h"
#include "base/yaml.h"

struct pull {
    const struct resource *res;
    str open; /* list head */
    const struct store_item *items;
    size_t n;
    size_t i; /* piece: 0 head, then for each item comma, prefix, bytes; last the tail */
    size_t stage;
    size_t offset;
    struct blob *now; /* of item i; NULL: not yet looked at */
};

/* The next piece to send; empty text: the end. */
static bool piece(struct pull *p, str *out)
{
    if (p->stage == 0) {
        *out = p->open;
        return true;
    }
    if (p->i == p->n) {
        *out = S("]}\n");
        return p->stage == 1;
    }
    if (!p->now)
        p->now = value_blob(p->items[p->i].value);
    str bytes = blob_str(p->now);
    bool custom = p->res->crdv != NULL;
    switch (p->stage) {
    case 1:
        *out = p->i ? S(",") : S("");
        break;
    case 2:
        *out = custom ? p->res->open : S("{");
        break;
    default:
        *out = str_sub(bytes, 1, bytes.n);
        break;
    }
    return true;
}

static void next_piece(struct pull *p)
{
    p->offset = 0;
    if (p->stage == 3) {
        p->stage = 1;
        p->i++;
        blob_unref(TAKE(p->now));
    } else {
        p->stage++;
    }
}

static ssize_t pull_read(void *ctx, char *buf, size_t n)
{
    struct pull *p = ctx;
    size_t done = 0;
    str s;

    while (done < n && piece(p, &s)) {
        size_t take = s.n - p->offset < n - done ? s.n - p->offset : n - done;
        if (take)
            memcpy(buf + done, s.p + p->offset, take);
        done += take;
        p->offset += take;
        if (p->offset == s.n)
            next_piece(p);
    }
    return done ? (ssize_t)done : HTTP_END;
}

static void pull_close(void *ctx)
{
    struct pull *p = ctx; /* all else lives in the request's arena */

    blob_unref(TAKE(p->now));
}

static str list_open(struct api_req *r, jv meta)
{
    const struct resource *res = r->res;

    return res->builtin ? arena_printf(r->a,
                                       "{\"kind\":\"%" PRI_STR "\",\"apiVersion\":\"%" PRI_STR
                                       "\",\"metadata\":%" PRI_STR ",\"items\":[",
                                       STR_ARG(res->list_kind), STR_ARG(res->api_version),
                                       STR_ARG(json_text(r->a, meta)))
                        : arena_printf(r->a,
                                       "{\"apiVersion\":\"%" PRI_STR "\",\"kind\":\"%" PRI_STR
                                       "\",\"metadata\":%" PRI_STR ",\"items\":[",
                                       STR_ARG(res->api_version), STR_ARG(res->list_kind),
                                       STR_ARG(json_text(r->a, meta)));
}

static void answer_pulled(struct api_req *r, jv meta, const struct store_item *items, size_t n)
{
    struct pull *p = ARENA_NEW(r->a, struct pull);
    struct http_header *h = NULL;
    size_t n_h = answer_headers(r, S("application/json"), &h);

    *p = (struct pull){ .res = r->res, .open = list_open(r, meta), .items = items, .n = n };
    int64_t length = (int64_t)(p->open.n + 3 + (n ? n - 1 : 0));
    size_t prefix = r->res->crdv ? r->res->open.n : 1;
    for (size_t i = 0; i < n; i++)
        length += (int64_t)(prefix + value_size(items[i].value) - 1);
    metrics_request(r, 200);
    http_reply_source(r->http, 200, h, n_h,
                      (struct http_source){ pull_read, pull_close, p, length });
}

static jv shown(struct arena *a, struct api_req *r, const struct value *stored)
{
    jv obj = resource_parse_value(a, r->res, stored);

    if (r->form == FORM_TABLE)
        return table_row(a, r, obj);
    if (r->form == FORM_META)
        return partial_of(a, r, obj);
    /* items of built-in lists carry no kind of their own */
    return r->res->builtin ? jv_without(a, jv_without(a, obj, "kind"), "apiVersion") : obj;
}

static jv list_head(struct api_req *r, jv meta, jv items)
{
    struct arena *a = r->a;
    bool partial = r->form == FORM_META;

    if (r->form == FORM_TABLE)
        return table_new(a, r, meta, table_columns(a, r->res), items);
    return jobj(a,
                { "kind", jstr(a, partial ? S("PartialObjectMetadataList") : r->res->list_kind) },
                { "apiVersion", jstr(a, !partial       ? r->res->api_version
                                        : r->beta_form ? S("meta.k8s.io/v1beta1")
                                                       : S("meta.k8s.io/v1")) },
                { "metadata", meta }, { "items", items });
}

/* ---- lists that are made, in slices: others have their turn in between (L1) */

enum { MADE_BYTES = 4096 }; /* what showing an object costs besides reading it, as bytes of one */

struct made {
    struct api_req *r;
    const struct store_item *items;
    size_t n;
    size_t i;
    str tail; /* behind the last item */
    bool ended;
    struct buf b; /* made, and not sent from at on */
    size_t at;
    bool rests; /* until soon */
    struct loop_timer *soon;
};

/* Indented JSON of an item lies deeper in a list. Line ends in strings are escaped. */
static void add_indented(struct buf *b, str text)
{
    for (str line = str_cut(&text, '\n');; line = str_cut(&text, '\n')) {
        buf_add(b, S("\n    "));
        buf_add(b, line);
        if (!text.n)
            break;
    }
}

/* Each object is shown in an arena of its own, so that memory grows with the answer only. */
static void add_item(struct made *m)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf one = { 0 };
    jv item = shown(a, m->r, m->items[m->i].value);

    if (m->r->yaml) {
        yaml_print(&m->b, jarr(a, item));
    } else {
        if (m->i)
            buf_addc(&m->b, ',');
        json_print_indent(wants_pretty(m->r) ? &one : &m->b, item, wants_pretty(m->r) ? 2 : 0);
        if (wants_pretty(m->r))
            add_indented(&m->b, buf_str(&one));
    }
    m->i++;
}

static void make_slice(struct made *m)
{
    for (size_t cost = 0; m->i < m->n && cost < LIST_SLICE_BYTES;) {
        cost += MADE_BYTES + value_size(m->items[m->i].value);
        add_item(m);
    }
    if (m->i == m->n && !m->ended) {
        buf_add(&m->b, m->tail);
        m->ended = true;
    }
}

/* What is before the items and behind them: the head is printed around an empty list. */
static void open_list(struct made *m, jv meta)
{
    AUTO(buf) struct buf b = { 0 };
    struct api_req *r = m->r;
    bool pretty = !r->yaml && wants_pretty(r);
    const char *key = r->form == FORM_TABLE ? "rows" : "items";
    jv head = list_head(r, meta, JV_EMPTY_ARR);
    str empty = arena_printf(r->a,
                             r->yaml  ? "%s: []\n"
                             : pretty ? "\n  \"%s\": []"
                                      : "\"%s\":[]",
                             key);

    if (r->yaml)
        yaml_print(&b, head);
    else
        json_print_indent(&b, head, pretty ? 2 : 0);
    if (pretty)
        buf_addc(&b, '\n');
    str text = arena_str(r->a, buf_str(&b));
    const char *at = memmem(text.p, text.n, empty.p, empty.n);
    size_t before = (size_t)(at - text.p) + empty.n - (r->yaml ? S(" []\n").n : 1);
    buf_add(&m->b, str_sub(text, 0, before));
    if (r->yaml)
        buf_addc(&m->b, '\n');
    str rest = str_sub(text, (size_t)(at - text.p) + empty.n, text.n);
    m->tail = r->yaml ? rest : arena_cat(r->a, pretty ? S("\n  ]") : S("]"), rest);
}

static void on_soon(void *arg)
{
    struct made *m = arg;

    loop_timer_stop(TAKE(m->soon));
    m->rests = false;
    http_wake(m->r->http);
}

static ssize_t made_read(void *ctx, char *buf, size_t n)
{
    struct made *m = ctx;

    if (m->at == m->b.n) {
        if (m->ended)
            return HTTP_END;
        if (m->rests)
            return HTTP_WAIT;
        buf_clear(&m->b);
        m->at = 0;
        make_slice(m);
        m->rests = !m->ended;
        if (m->rests)
            m->soon = loop_timer_start(m->r->api->loop, 0, 0, on_soon, m);
    }
    size_t take = m->b.n - m->at < n ? m->b.n - m->at : n;
    memcpy(buf, m->b.p + m->at, take);
    m->at += take;
    return (ssize_t)take;
}

static void made_close(void *ctx)
{
    struct made *m = ctx;

    loop_timer_stop(TAKE(m->soon));
    buf_done(&m->b);
}

static void answer_made(struct api_req *r, jv meta, const struct store_item *items, size_t n)
{
    struct made *m = ARENA_NEW(r->a, struct made);
    str type = r->yaml ? S("application/yaml") : S("application/json");
    struct http_header *h = NULL;

    /* no metadata at all is null with kube-apiserver, where other lists are empty */
    if (!n) {
        answer_json(r, 200, list_head(r, meta, r->form == FORM_META ? JV_NULL_V : JV_EMPTY_ARR));
        return;
    }
    *m = (struct made){ .r = r, .items = items, .n = n };
    open_list(m, meta);
    make_slice(m);
    size_t n_h = answer_headers(r, type, &h);
    metrics_request(r, 200);
    if (m->ended) {
        http_reply(r->http, 200, h, n_h, blob_new(buf_str(&m->b)));
        made_close(m);
    } else {
        http_reply_source(r->http, 200, h, n_h,
                          (struct http_source){ made_read, made_close, m, HTTP_LARGE });
    }
}

/* Lists of custom objects always have a continue token, be it an empty one. */
static jv meta_of(const struct api_req *r, struct list_meta m)
{
    struct arena *a = r->a;
    bool has_token = m.cont.n || (r->res->crdv && r->form == FORM_OBJECT);

    return jobj(a, { "resourceVersion", jstr(a, arena_printf(a, "%lld", (long long)m.rev)) },
                { "continue", has_token ? jstr(a, m.cont.n ? m.cont : S("")) : JV_ABSENT },
                { "remainingItemCount", m.remaining > 0 ? jint(a, m.remaining) : JV_ABSENT });
}

void answer_list(struct api_req *r, struct list_meta m, const struct store_item *items, size_t n)
{
    jv meta = meta_of(r, m);

    if (r->form == FORM_OBJECT && r->res->raw && !r->yaml && !wants_pretty(r))
        answer_pulled(r, meta, items, n);
    else
        answer_made(r, meta, items, n);
}
