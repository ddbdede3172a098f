/* Bodies as they come: JSON, YAML or protobuf, with the words kube-apiserver has for each way to
 * get them wrong. */

#include "api/body.h"

#include "base/limits.h"
#include "base/yaml.h"
#include "builtin/wire.h"
#include "loop/fiber.h"

void strict_add(struct strict *s, size_t place, str text)
{
    size_t i = s->n;

    if (!s->at)
        s->at = ARENA_ARRAY(s->a, struct strict_note, LIMIT_STRICT);
    if (s->n == LIMIT_STRICT)
        return;
    for (size_t k = 0; k < s->n; k++)
        if (str_eq(s->at[k].text, text))
            return; /* said before */
    for (; i > 0 && s->at[i - 1].place > place; i--)
        s->at[i] = s->at[i - 1];
    s->at[i] = (struct strict_note){ place, text };
    s->n++;
}

static void on_duplicate(void *ctx, str path, size_t at)
{
    struct strict *s = ctx;

    strict_add(s, at, arena_printf(s->a, "duplicate field \"%" PRI_STR "\"", STR_ARG(path)));
}

str strict_outcome(struct api_req *r, const struct strict *s)
{
    AUTO(buf) struct buf b = { 0 };

    if (r->q.validation == VALIDATE_WARN)
        for (size_t i = 0; i < s->n; i++)
            request_warn(r, "%" PRI_STR, STR_ARG(s->at[i].text));
    if (r->q.validation != VALIDATE_STRICT || !s->n)
        return STR_NONE;
    for (size_t i = 0; i < s->n; i++) {
        buf_add(&b, i ? S(", ") : S("strict decoding error: "));
        buf_add(&b, s->at[i].text);
    }
    return arena_str(r->a, buf_str(&b));
}

/* The start of the body as an error shows it: text as it is, anything else in hex. */
static str excerpt(struct arena *a, str body)
{
    AUTO(buf) struct buf b = { 0 };

    if (!body.n)
        return S("<empty>");
    if (body.p[0] == '{')
        return body.n > 30 ? arena_cat(a, str_clip(body, 30), S(" ...")) : body;
    for (size_t i = 0; i < body.n && i < 64; i++)
        buf_printf(&b, "%02x", (unsigned char)body.p[i]);
    if (body.n > 64)
        buf_add(&b, S(" ..."));
    return arena_str(a, buf_str(&b));
}

void body_unrecognized(struct api_req *r, str kind, const char *before, const char *why)
{
    fail_bad_request(r,
                     "the object provided is unrecognized (must be of type %" PRI_STR
                     "): %s%s (%" PRI_STR ")",
                     STR_ARG(kind), before, why, STR_ARG(excerpt(r->a, http_body(r->http))));
}

static void on_yaml_duplicate(void *ctx, str key, struct yaml_place first, struct yaml_place again,
                              uint32_t value_line)
{
    struct strict *s = ctx;

    (void)first;
    (void)again;
    strict_add(s, 0,
               arena_printf(s->a,
                            "yaml: unmarshal errors:\n  line %u: key \"%" PRI_STR
                            "\" already set in map",
                            value_line, STR_ARG(key)));
}

/* ---- reading, beside the loop where the body is large */

struct reading {
    struct api_req *r;
    const struct json_opts *json;
    const struct yaml_opts *yaml;
    struct yaml_docs *docs;
    const struct body_type *type;
    const struct protobuf_body *protobuf;
    struct err *e;
    jv out;
    int rc;
};

static void read_json(void *arg)
{
    struct reading *w = arg;

    w->out = json_parse(w->r->a, http_body(w->r->http), w->json, w->e);
}

static void read_yaml(void *arg)
{
    struct reading *w = arg;

    w->rc = yaml_parse(w->r->a, STR_NONE, http_body(w->r->http), w->yaml, w->docs, w->e);
}

static void read_protobuf(void *arg)
{
    struct reading *w = arg;

    w->out = body_from_protobuf(w->r->a, w->type, w->protobuf, w->e);
}

jv body_json(struct api_req *r, const struct json_opts *opts, struct err *e)
{
    struct reading w = { .r = r, .json = opts, .e = e };

    fiber_offload(r->api->loop, read_json, &w);
    return w.out;
}

int body_yaml(struct api_req *r, const struct yaml_opts *opts, struct yaml_docs *docs,
              struct err *e)
{
    struct reading w = { .r = r, .yaml = opts, .docs = docs, .e = e };

    fiber_offload(r->api->loop, read_yaml, &w);
    return w.rc;
}

static int parse_yaml(struct api_req *r, str kind, struct strict *s, jv *out)
{
    struct yaml_docs docs = { 0 };
    struct err e = { 0 };

    struct yaml_opts opts = { .on_duplicate = on_yaml_duplicate, .ctx = s };

    if (body_yaml(r, &opts, &docs, &e) < 0) {
        body_unrecognized(r, kind, "", e.msg);
        return -1;
    }
    if (docs.n > 1) {
        body_unrecognized(r, kind, "", "yaml: more than one document");
        return -1;
    }
    *out = docs.n ? docs.at[0].root : JV_NULL_V;
    return 0;
}

enum body_form body_form(const struct api_req *r)
{
    str rest = http_get_header(r->http, S("content-type"));
    str media = str_trim(str_cut(&rest, ';'));

    return !media.n || str_eqz(media, "application/json") || str_eqz(media, "*/*") ? BODY_JSON
           : str_eqz(media, "application/yaml")                                    ? BODY_YAML
           : str_eqz(media, "application/vnd.kubernetes.protobuf")                 ? BODY_PROTOBUF
                                                                                   : BODY_UNKNOWN;
}

bool body_is_text(struct api_req *r)
{
    str body = http_body(r->http);

    if (str_is_utf8(body) || body_form(r) == BODY_PROTOBUF)
        return true;
    fail_bad_request(r, "the body of the request is not UTF-8 at byte %zu", str_utf8_prefix(body));
    return false;
}

void body_refuse_form(struct api_req *r, bool custom)
{
    fail_code(r, ERR_UNSUPPORTED_MEDIA,
              "the body of the request was in an unknown format - accepted media types include: "
              "application/json, application/yaml%s",
              custom ? "" : ", application/vnd.kubernetes.protobuf");
}

jv body_from_protobuf(struct arena *a, const struct body_type *t, const struct protobuf_body *body,
                      struct err *e)
{
    bool right =
        (!body->kind.n || str_eq(body->kind, t->kind)) &&
        (!body->api_version.n || !t->api_version.n || str_eq(body->api_version, t->api_version));
    jv raw = right ? protobuf_decode(a, t->schema, body->raw, &builtin_wire, e) : JV_EMPTY_OBJ;
    jv v = right && jv_exists(raw) ? schema_decode(a, t->schema, raw, NULL, e) : raw;

    if (jv_exists(v) && body->kind.n)
        v = jv_with_key(a, v, S("kind"), jstr(a, body->kind));
    if (jv_exists(v) && body->api_version.n)
        v = jv_with_key(a, v, S("apiVersion"), jstr(a, body->api_version));
    return v;
}

static int parse_protobuf(struct api_req *r, const struct body_type *t, jv *out)
{
    struct protobuf_body body;
    struct err e = { 0 };

    if (protobuf_open(http_body(r->http), &body, &e) < 0) {
        body_unrecognized(r, t->kind, "", e.msg);
        return -1;
    }
    struct reading w = { .r = r, .type = t, .protobuf = &body, .e = &e };
    fiber_offload(r->api->loop, read_protobuf, &w);
    *out = w.out;
    if (jv_exists(*out))
        return 0;
    str rest = t->api_version;
    str first = str_cut(&rest, '/');
    str version = rest.p ? rest : first;
    fail_bad_request(
        r, "%" PRI_STR " in version \"%" PRI_STR "\" cannot be handled as a %" PRI_STR ": %s",
        STR_ARG(t->kind), STR_ARG(version), STR_ARG(t->kind), e.msg);
    return -1;
}

static int parse_json(struct api_req *r, str kind, struct strict *s, jv *out)
{
    struct json_opts opts = { .on_duplicate = on_duplicate, .ctx = s };
    struct err e = { 0 };

    *out = body_json(r, &opts, &e);
    if (jv_exists(*out))
        return 0;
    body_unrecognized(r, kind, "couldn't get version/kind; json parse error: ", e.msg);
    return -1;
}

int body_parse(struct api_req *r, const struct body_type *t, struct strict *s, jv *out)
{
    enum body_form form = body_form(r);

    s->a = r->a;
    if (form == BODY_UNKNOWN || (form == BODY_PROTOBUF && !t->schema)) {
        body_refuse_form(r, !t->schema);
        return -1;
    }
    if ((form == BODY_PROTOBUF ? parse_protobuf(r, t, out)
         : form == BODY_YAML   ? parse_yaml(r, t->kind, s, out)
                               : parse_json(r, t->kind, s, out)) < 0)
        return -1;
    if (jv_is_null(*out))
        *out = JV_EMPTY_OBJ;
    if (jv_is(*out, JV_OBJ))
        return 0;
    body_unrecognized(r, t->kind, "couldn't get version/kind; json parse error: ",
                      "json: cannot unmarshal into an object with apiVersion and kind");
    return -1;
}
