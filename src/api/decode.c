/* Reading bodies, with the words kube-apiserver has for each way to get them wrong. */

#include "api/decode.h"

#include "base/yaml.h"
#include "builtin/types.h"
#include "kube/meta.h"

enum { MOST_STRICT = 100 }; /* enough to go by */

void strict_add(struct strict *s, size_t place, str text)
{
    size_t i = s->n;

    if (!s->at)
        s->at = ARENA_ARRAY(s->a, struct strict_note, MOST_STRICT);
    if (s->n == MOST_STRICT)
        return;
    for (; i > 0 && s->at[i - 1].place > place; i--)
        s->at[i] = s->at[i - 1];
    s->at[i] = (struct strict_note){ place, text };
    s->n++;
}

static void note(struct strict *s, const char *what, size_t place, str path)
{
    strict_add(s, place, arena_printf(s->a, "%s field \"%" PRI_STR "\"", what, STR_ARG(path)));
}

static void on_duplicate(void *ctx, str path, size_t at)
{
    note(ctx, "duplicate", at, path);
}

static void on_unknown(void *ctx, str path)
{
    note(ctx, "unknown", 0, path);
}

/* Of custom objects, what is unknown is found after the whole text was read. */
static void on_pruned(void *ctx, str path)
{
    note(ctx, "unknown", SIZE_MAX, path);
}

static void on_unknown_meta(void *ctx, str path)
{
    struct strict *s = ctx;

    on_pruned(s, arena_printf(s->a, "metadata.%" PRI_STR, STR_ARG(path)));
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
        return body.n > 30 ? arena_printf(a, "%.30s ...", arena_z(a, str_sub(body, 0, 30))) : body;
    for (size_t i = 0; i < body.n && i < 64; i++)
        buf_printf(&b, "%02x", (unsigned char)body.p[i]);
    if (body.n > 64)
        buf_add(&b, S(" ..."));
    return arena_str(a, buf_str(&b));
}

static void unrecognized(struct api_req *r, str kind, const char *before, const char *why)
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

static int parse_yaml(struct api_req *r, str kind, struct strict *s, jv *out)
{
    struct yaml_docs docs = { 0 };
    struct err e = { 0 };

    struct yaml_opts opts = { .on_duplicate = on_yaml_duplicate, .ctx = s };

    if (yaml_parse(r->a, STR_NONE, http_body(r->http), &opts, &docs, &e) < 0) {
        unrecognized(r, kind, "", e.msg);
        return -1;
    }
    if (docs.n > 1) {
        unrecognized(r, kind, "", "yaml: more than one document");
        return -1;
    }
    *out = docs.n ? docs.at[0].root : JV_NULL_V;
    return 0;
}

int body_parse(struct api_req *r, str kind, struct strict *s, jv *out)
{
    str type = http_get_header(r->http, S("content-type"));
    str body = http_body(r->http);
    str rest = type;
    str media = str_trim(str_cut(&rest, ';'));
    struct json_opts opts = { .on_duplicate = on_duplicate, .ctx = s };
    struct err e = { 0 };

    s->a = r->a;
    if (str_eqz(media, "application/yaml")) {
        if (parse_yaml(r, kind, s, out) < 0)
            return -1;
    } else if (!media.n || str_eqz(media, "application/json") || str_eqz(media, "*/*")) {
        *out = json_parse(r->a, body, &opts, &e);
        if (!jv_exists(*out)) {
            unrecognized(r, kind, "couldn't get version/kind; json parse error: ", e.msg);
            return -1;
        }
    } else {
        fail_code(
            r, ERR_UNSUPPORTED_MEDIA,
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json, application/yaml");
        return -1;
    }
    if (jv_is_null(*out))
        *out = JV_EMPTY_OBJ;
    if (jv_is(*out, JV_OBJ))
        return 0;
    unrecognized(r, kind, "couldn't get version/kind; json parse error: ",
                 "json: cannot unmarshal into an object with apiVersion and kind");
    return -1;
}

static jv custom_decode(struct arena *a, const struct crd_version *version, jv v, struct strict *s,
                        struct err *e)
{
    struct schema_report in_meta = { .on_unknown = on_unknown_meta, .ctx = s };
    struct schema_report pruned = { .on_unknown = on_pruned, .ctx = s };
    jv meta = jv_at(v, "metadata");

    if (!jv_is_null(meta)) {
        meta = schema_decode(a, &meta_ObjectMeta, meta, &in_meta, e);
        if (!jv_exists(meta))
            return meta;
        v = jv_with_key(a, v, S("metadata"), meta);
    }
    return crd_prune(a, version, v, &pruned, e);
}

jv object_decode(struct arena *a, const struct resource *res, jv v, struct strict *s, struct err *e)
{
    struct schema_report report = { .on_unknown = on_unknown, .ctx = s };

    return res->crdv ? custom_decode(a, res->crdv, v, s, e)
                     : schema_decode(a, res->schema, v, &report, e);
}

static str gv_of(struct arena *a, str group, str version)
{
    return group.n ? arena_printf(a, "%" PRI_STR "/%" PRI_STR, STR_ARG(group), STR_ARG(version))
                   : version;
}

/* kind and apiVersion of the body are right, or left out. */
static int check_type(struct api_req *r, jv v, str kind, str group, str version)
{
    str have_kind = jv_str(jv_at(v, "kind"), STR_NONE);
    str have_version = jv_str(jv_at(v, "apiVersion"), STR_NONE);
    str want = gv_of(r->a, group, version);
    str rest = have_version;

    (void)str_cut(&rest, '/');
    if (rest.p && str_find(rest, '/') >= 0) {
        unrecognized(r, kind, "unexpected GroupVersion string: ", arena_z(r->a, have_version));
        return -1;
    }
    if (!have_kind.n)
        have_kind = kind;
    if (!have_version.n)
        have_version = want;
    if (str_eq(have_kind, kind) && str_eq(have_version, want))
        return 0;
    rest = have_version;
    str first = str_cut(&rest, '/');
    str last = rest.p ? rest : first;
    bool known = registry_find_owner(&r->api->registry, have_version, have_kind) != NULL ||
                 (str_ends(have_kind, S("List")) &&
                  registry_find_owner(&r->api->registry, have_version,
                                      str_sub(have_kind, 0, have_kind.n - 4)) != NULL);
    if (known)
        fail_bad_request(
            r,
            "%" PRI_STR " in version \"%" PRI_STR "\" cannot be handled as a %" PRI_STR
            ": converting (%" PRI_STR ".%" PRI_STR ") to (%s.%" PRI_STR "): unknown conversion",
            STR_ARG(have_kind), STR_ARG(last), STR_ARG(kind), STR_ARG(last), STR_ARG(have_kind),
            group.n
                ? arena_z(r->a, str_sub(group, 0,
                                        (size_t)(str_find(group, '.') < 0 ? (ptrdiff_t)group.n
                                                                          : str_find(group, '.'))))
                : "core",
            STR_ARG(kind));
    else
        fail_bad_request(r,
                         "%" PRI_STR " in version \"%" PRI_STR "\" cannot be handled as a %" PRI_STR
                         ": no kind \"%" PRI_STR "\" is registered for version \"%" PRI_STR
                         "\" in scheme \"pkg/runtime/scheme.go:110\"",
                         STR_ARG(have_kind), STR_ARG(version), STR_ARG(kind), STR_ARG(have_kind),
                         STR_ARG(have_version));
    return -1;
}

/* CRDs are stricter: kind and apiVersion have to be there and to be right. */
static int check_custom_type(struct api_req *r, const struct resource *res, jv v)
{
    str kind = jv_str(jv_at(v, "kind"), STR_NONE);
    str version = jv_str(jv_at(v, "apiVersion"), STR_NONE);

    if (!kind.n || !version.n) {
        fail_bad_request(r,
                         "the object provided is unrecognized (must be of type %" PRI_STR
                         "): Object '%s' is missing in '%" PRI_STR "' (%" PRI_STR ")",
                         STR_ARG(res->kind), kind.n ? "apiVersion" : "Kind",
                         STR_ARG(http_body(r->http)), STR_ARG(excerpt(r->a, http_body(r->http))));
        return -1;
    }
    if (!str_eq(version, res->api_version)) {
        fail_bad_request(r,
                         "the API version in the data (%" PRI_STR
                         ") does not match the expected API version (%" PRI_STR ")",
                         STR_ARG(version), STR_ARG(res->api_version));
        return -1;
    }
    if (str_eq(kind, res->kind))
        return 0;
    struct problems ps = { .a = r->a };
    struct path p = path_field(NULL, S("kind"));
    problem_invalid(&ps, &p, jstr(r->a, kind), "must be %" PRI_STR, STR_ARG(res->kind));
    fail_invalid(r, kind, res->group, meta_name(v), &ps);
    return -1;
}

static int decode_as(struct api_req *r, str kind, str version, jv decoded, const struct strict *s,
                     const struct err *e, jv *out)
{
    str refusal = jv_exists(decoded) ? strict_outcome(r, s) : arena_str(r->a, str_of(e->msg));

    if (refusal.n || !jv_exists(decoded)) {
        fail_bad_request(r,
                         "%" PRI_STR " in version \"%" PRI_STR "\" cannot be handled as a %" PRI_STR
                         ": %" PRI_STR,
                         STR_ARG(kind), STR_ARG(version), STR_ARG(kind), STR_ARG(refusal));
        return -1;
    }
    *out = decoded;
    return 0;
}

static jv with_type(struct arena *a, jv v, str kind, str api_version)
{
    return jv_with_key(a, jv_with_key(a, v, S("kind"), jstr(a, kind)), S("apiVersion"),
                       jstr(a, api_version));
}

int body_object(struct api_req *r, const struct resource *res, jv *out)
{
    struct strict s = { .a = r->a };
    struct err e = { 0 };
    jv v;

    if (body_parse(r, res->kind, &s, &v) < 0)
        return -1;
    if ((res->crdv ? check_custom_type(r, res, v)
                   : check_type(r, v, res->kind, res->group, res->version)) < 0)
        return -1;
    r->sent_managed = jv_at(v, "metadata", "managedFields");
    jv decoded = object_decode(r->a, res, v, &s, &e);
    if (decode_as(r, res->kind, res->version, decoded, &s, &e, out) < 0)
        return -1;
    *out = with_type(r->a, *out, res->kind, res->api_version);
    return 0;
}

int body_typed(struct api_req *r, str kind, str group, str version, const struct schema *schema,
               jv *out)
{
    struct strict s = { 0 };
    struct err e = { 0 };
    struct schema_report report = { .on_unknown = on_unknown, .ctx = &s };
    jv v;

    if (body_parse(r, kind, &s, &v) < 0 || check_type(r, v, kind, group, version) < 0)
        return -1;
    jv decoded = schema_decode(r->a, schema, v, &report, &e);
    if (decode_as(r, kind, version, decoded, &s, &e, out) < 0)
        return -1;
    *out = with_type(r->a, *out, kind, gv_of(r->a, group, version));
    return 0;
}
