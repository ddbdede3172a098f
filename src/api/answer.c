/* How a request ends: bytes, headers, and the form the client asked for. */

#include "api/metrics.h"
#include "api/request.h"
#include "api/table.h"
#include "api/write.h"
#include "base/limits.h"
#include "base/yaml.h"
#include "loop/fiber.h"

/* As kube-apiserver: past the first many in all, each is cut short and the rest left out. */
enum { WARNINGS_BYTES = 4096, SHORT_WARNING_BYTES = 256 };

void request_warn(struct api_req *r, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    str text = arena_vprintf(r->a, fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < r->n_warnings; i++)
        if (str_eq(r->warnings[i], text))
            return; /* said before */
    str *more = arena_alloc(r->a, (r->n_warnings + 1) * sizeof(*more));
    if (r->n_warnings)
        memcpy(more, r->warnings, r->n_warnings * sizeof(*more));
    more[r->n_warnings++] = text;
    r->warnings = more;
}

/* warn-text of RFC 7234: quotes and backslashes escaped, control characters as spaces. */
static str warning_header(struct arena *a, str text)
{
    AUTO(buf) struct buf b = { 0 };

    buf_add(&b, S("299 - \""));
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '"' || c == '\\')
            buf_addc(&b, '\\');
        buf_addc(&b, (unsigned char)c < 0x20 || c == 0x7f ? ' ' : c);
    }
    buf_addc(&b, '"');
    return arena_str(a, buf_str(&b));
}

size_t answer_headers(struct api_req *r, str content_type, struct http_header **out)
{
    size_t n = 0;
    size_t all = 0;
    size_t said = 0;
    struct http_header *h = ARENA_ARRAY(r->a, struct http_header, r->n_warnings + 3);

    h[n++] = (struct http_header){ S("cache-control"), S("no-cache, private") };
    h[n++] = (struct http_header){ S("content-type"), content_type };
    for (size_t i = 0; i < r->n_warnings; i++)
        all += r->warnings[i].n;
    for (size_t i = 0; i < r->n_warnings && said <= WARNINGS_BYTES; i++) {
        str text = str_clip(r->warnings[i], all > WARNINGS_BYTES ? SHORT_WARNING_BYTES : all);
        h[n++] = (struct http_header){ S("warning"), warning_header(r->a, text) };
        said += text.n;
    }
    *out = h;
    return n;
}

static void send(struct api_req *r, int code, str content_type, struct blob *body)
{
    struct http_header *h = NULL;
    size_t n = answer_headers(r, content_type, &h);

    metrics_request(r, code);
    http_reply(r->http, code, h, n, body);
}

void answer_text(struct http_req *h, int code, str content_type, str text)
{
    struct http_header headers[] = { { S("cache-control"), S("no-cache, private") },
                                     { S("content-type"), content_type } };

    http_reply(h, code, headers, COUNT(headers), blob_new(text));
}

/* Curl users and browsers see indented JSON, as with kube-apiserver. */
bool wants_pretty(const struct api_req *r)
{
    if (r->q.pretty_given)
        return r->q.pretty;
    str agent = http_get_header(r->http, S("user-agent"));
    return str_starts(agent, S("curl")) || str_starts(agent, S("Wget")) ||
           str_starts(agent, S("Mozilla/5.0"));
}

struct printing {
    const struct api_req *r;
    jv body;
    struct blob *out;
};

static void print(void *arg)
{
    AUTO(buf) struct buf b = { 0 };
    struct printing *p = arg;
    bool pretty = wants_pretty(p->r);

    if (p->r->yaml)
        yaml_print(&b, p->body);
    else
        json_print_indent(&b, p->body, pretty ? 2 : 0);
    if (pretty && !p->r->yaml)
        buf_addc(&b, '\n');
    p->out = blob_new(buf_str(&b));
}

void answer_json(struct api_req *r, int code, jv body)
{
    struct printing p = { .r = r, .body = body };

    fiber_offload(r->api->loop, print, &p);
    send(r, code, r->yaml ? S("application/yaml") : S("application/json"), p.out);
}

/* JSON in two pieces. */
static void answer_bytes(struct api_req *r, int code, str head, str tail)
{
    char *room = NULL;
    struct blob *body = blob_new_room(head.n + tail.n, &room);

    mempcpy(mempcpy(room, head.p, head.n), tail.p, tail.n);
    send(r, code, S("application/json"), body);
}

void answer_object(struct api_req *r, int code, jv obj)
{
    if (r->form == FORM_TABLE)
        obj = table_of_one(r, obj);
    else if (r->form == FORM_META)
        obj = partial_of(r->a, r, obj);
    answer_json(r, code, obj);
}

struct reshaping {
    struct api_req *r;
    int code;
    struct blob *stored;
};

static void reshape(void *arg)
{
    const struct reshaping *s = arg;
    struct api_req *r = s->r;
    AUTO(blob) struct blob *stored = s->stored;

    answer_object(r, s->code, parse_stored(r->api->loop, r->a, r->res, stored));
}

void answer_stored(struct api_req *r, int code, struct blob *stored)
{
    str bytes = blob_str(stored);

    if (r->res->raw && r->form == FORM_OBJECT && !r->yaml && !wants_pretty(r)) {
        answer_bytes(r, code, r->res->open, str_sub(bytes, 1, bytes.n));
        return;
    }
    struct reshaping *s = ARENA_NEW(r->a, struct reshaping);
    *s = (struct reshaping){ r, code, blob_ref(stored) };
    if (bytes.n > LIMIT_LOOP_BYTES)
        fiber_run(r->api->loop, FIBER_LARGE, reshape, s);
    else
        reshape(s);
}

void answer_status(struct api_req *r, jv status)
{
    int64_t code = jv_int(jv_at(status, "code"), 500);
    int64_t retry = jv_int(jv_at(status, "details", "retryAfterSeconds"), 0);

    if (retry > 0) {
        AUTO(buf) struct buf b = { 0 };
        struct http_header h[] = { { S("cache-control"), S("no-cache, private") },
                                   { S("content-type"), S("application/json") },
                                   { S("retry-after"),
                                     arena_printf(r->a, "%lld", (long long)retry) } };
        json_print(&b, status);
        metrics_request(r, (int)code);
        http_reply(r->http, (int)code, h, COUNT(h), blob_new(buf_str(&b)));
        return;
    }
    answer_json(r, (int)code, status);
}

void answer_deleted(struct api_req *r, str name, str uid)
{
    const struct resource *res = r->res;
    jv details = jobj(r->a, { "name", jstr(r->a, name) },
                      { "group", res->group.n ? jstr(r->a, res->group) : JV_ABSENT },
                      { "kind", jstr(r->a, res->plural) }, { "uid", jstr(r->a, uid) });

    answer_json(r, 200,
                jobj(r->a, { "kind", jstrz(r->a, "Status") }, { "apiVersion", jstrz(r->a, "v1") },
                     { "metadata", JV_EMPTY_OBJ }, { "status", jstrz(r->a, "Success") },
                     { "details", details }));
}
