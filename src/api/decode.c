/* Values to objects of the right kind, with the words kube-apiserver has for each that is not. */

#include "api/decode.h"

#include "builtin/types/types.h"
#include "kube/meta.h"
#include "loop/fiber.h"

static void note_unknown(struct strict *s, size_t place, str path)
{
    strict_add(s, place, arena_printf(s->a, "unknown field \"%" PRI_STR "\"", STR_ARG(path)));
}

static void on_unknown(void *ctx, str path)
{
    note_unknown(ctx, 0, path);
}

/* Of custom objects, what is unknown is found after the whole text was read. */
static void on_pruned(void *ctx, str path)
{
    note_unknown(ctx, SIZE_MAX, path);
}

static void on_unknown_meta(void *ctx, str path)
{
    struct strict *s = ctx;

    on_pruned(s, arena_printf(s->a, "metadata.%" PRI_STR, STR_ARG(path)));
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

/* A value into the shape of res: unknown fields told to s and dropped, types checked. Absent and e
 * on failure. */
static jv object_decode(struct arena *a, const struct resource *res, jv v, struct strict *s,
                        struct err *e)
{
    struct schema_report report = { .on_unknown = on_unknown, .ctx = s };

    return res->crdv ? custom_decode(a, resource_rules(res), v, s, e)
                     : schema_decode(a, res->schema, v, &report, e);
}

struct decode {
    struct arena *a;
    const struct resource *res;
    jv v;
    struct strict *s;
    struct err *e;
};

static void decode(void *arg)
{
    struct decode *d = arg;

    d->v = object_decode(d->a, d->res, d->v, d->s, d->e);
}

jv request_decode(struct api_req *r, struct arena *a, jv v, struct strict *s, struct err *e)
{
    struct decode d = { a, r->res, v, s, e };

    resource_schema(r->res); /* compiled here if it is not */
    fiber_offload(r->api->loop, decode, &d);
    return d.v;
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
        body_unrecognized(r, kind, "unexpected GroupVersion string: ", arena_z(r->a, have_version));
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
        body_unrecognized(r, res->kind,
                          kind.n ? "Object 'apiVersion' is missing in "
                                 : "Object 'Kind' is missing in ",
                          arena_printf(r->a, "'%" PRI_STR "'", STR_ARG(http_body(r->http))).p);
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
    problem_invalid(&ps, ROOT("kind"), jstr(r->a, kind), "must be %" PRI_STR, STR_ARG(res->kind));
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
    struct body_type t = { res->kind, res->api_version, res->crdv ? NULL : res->schema };
    struct strict s = { .a = r->a };
    struct err e = { 0 };
    jv v;

    if (body_parse(r, &t, &s, &v) < 0)
        return -1;
    if ((res->crdv ? check_custom_type(r, res, v)
                   : check_type(r, v, res->kind, res->group, res->version)) < 0)
        return -1;
    r->sent_managed = jv_at(v, "metadata", "managedFields");
    jv decoded = request_decode(r, r->a, v, &s, &e);
    if (decode_as(r, res->kind, res->version, decoded, &s, &e, out) < 0)
        return -1;
    *out = with_type(r->a, *out, res->kind, res->api_version);
    return 0;
}

int body_typed(struct api_req *r, str kind, str group, str version, const struct schema *schema,
               jv *out)
{
    struct body_type t = { kind, gv_of(r->a, group, version), schema };
    struct strict s = { 0 };
    struct err e = { 0 };
    struct schema_report report = { .on_unknown = on_unknown, .ctx = &s };
    jv v;

    if (body_parse(r, &t, &s, &v) < 0 || check_type(r, v, kind, group, version) < 0)
        return -1;
    jv decoded = schema_decode(r->a, schema, v, &report, &e);
    if (decode_as(r, kind, version, decoded, &s, &e, out) < 0)
        return -1;
    *out = with_type(r->a, *out, kind, t.api_version);
    return 0;
}
