/* The scale subresource: a Scale object as a window on spec.replicas. */

#include "api/decode.h"
#include "api/subresource.h"
#include "api/table.h"
#include "builtin/cells/cells.h"
#include "builtin/types/types.h"
#include "kube/meta.h"
#include "kube/patch_json.h"
#include "kube/patch_merge.h"
#include "kube/patch_strategic.h"
#include "kube/selector.h"

struct scaling {
    struct update u;
    jv scale; /* PUT */
    jv patch;
    str type; /* of the patch */
};

static str selector_of(struct arena *a, const struct resource *res, jv obj)
{
    jv sel = jv_at(obj, "spec", "selector");
    struct selector s = { 0 };
    str why;

    if (str_eqz(res->plural, "replicationcontrollers"))
        s = selector_from_labels(a, sel);
    else if (selector_from_object(a, sel, &s, &why) < 0)
        return STR_NONE;
    return selector_text(a, &s);
}

static jv scale_meta(struct arena *a, jv obj)
{
    jv m = jv_at(obj, "metadata");

    return jobj(a, { "name", jv_at(m, "name") }, { "namespace", jv_at(m, "namespace") },
                { "uid", jv_at(m, "uid") }, { "resourceVersion", jv_at(m, "resourceVersion") },
                { "creationTimestamp", jv_at(m, "creationTimestamp") });
}

/* for_update: an object without a count still has a Scale to patch. */
static jv scale_of(struct arena *a, const struct resource *res, jv obj, bool for_update,
                   struct err *e)
{
    if (res->crdv)
        return crd_scale_get(a, res->crdv, obj, for_update, e);
    int64_t want = jv_int(jv_at(obj, "spec", "replicas"), 0);
    str sel = selector_of(a, res, obj);
    jv status = jobj(a, { "replicas", jint(a, jv_int(jv_at(obj, "status", "replicas"), 0)) },
                     { "selector", sel.n ? jstr(a, sel) : JV_ABSENT });

    return jobj(a, { "kind", jstrz(a, "Scale") }, { "apiVersion", jstrz(a, "autoscaling/v1") },
                { "metadata", scale_meta(a, obj) },
                { "spec", want ? jobj(a, { "replicas", jint(a, want) }) : JV_EMPTY_OBJ },
                { "status", status });
}

static jv with_replicas(struct scaling *s, struct arena *a, jv live, jv scale)
{
    struct api_req *r = s->u.r;
    int64_t n = jv_int(jv_at(scale, "spec", "replicas"), 0);
    struct problems ps = { .a = a };
    struct err e = { 0 };

    if (n < 0 && !r->res->crdv) { /* theirs is checked with the object */
        problem_invalid(&ps, AT(ROOT("spec"), "replicas"), jint(a, n),
                        "must be greater than or equal to 0");
        fail_invalid(r, S("Scale"), S("autoscaling"), r->name, &ps);
        return JV_ABSENT;
    }
    jv out = r->res->crdv ? crd_scale_set(a, r->res->crdv, live, n, &e)
                          : jv_with(a, live, jint(a, n), "spec", "replicas");
    if (!jv_exists(out)) {
        answer_err(r, &e);
        return out;
    }
    jv rv = jv_at(scale, "metadata", "resourceVersion");
    return jv_with(a, out, jv_exists(rv) ? rv : jv_at(live, "metadata", "resourceVersion"),
                   "metadata", "resourceVersion");
}

static jv make_put(struct update *u, struct arena *a, jv live)
{
    struct scaling *s = u->ctx;

    return with_replicas(s, a, live, s->scale);
}

static jv make_patch(struct update *u, struct arena *a, jv live)
{
    struct scaling *s = u->ctx;
    struct api_req *r = u->r;
    struct err e = { 0 };
    jv now = scale_of(a, r->res, live, true, &e);
    if (!jv_exists(now)) {
        answer_err(r, &e);
        return now;
    }
    jv v = str_eqz(s->type, "application/json-patch+json") ? patch_json(a, now, s->patch, &e)
           : str_eqz(s->type, "application/merge-patch+json")
               ? patch_merge(a, now, s->patch, &e)
               : patch_strategic(a, &autoscaling1_Scale, now, s->patch, &e);

    if (jv_exists(v))
        v = schema_decode(a, &autoscaling1_Scale, v, NULL, &e);
    if (!jv_exists(v)) {
        answer_patch_err(r, &e, STR_NONE);
        return v;
    }
    return with_replicas(s, a, live, v);
}

/* The Scale's count, applied to the object in its own place. */
static jv make_applied(struct update *u, struct arena *a, jv live)
{
    static const char *const steps[] = { "spec", "replicas", NULL };
    struct scaling *s = u->ctx;
    const struct resource *res = u->r->res;
    jv count = jv_at(s->scale, "spec", "replicas");
    jv body = jobj(a, { "apiVersion", jstr(a, res->api_version) }, { "kind", jstr(a, res->kind) });

    body = jv_with(a, body, jstr(a, u->r->name), "metadata", "name");
    if (jv_exists(count))
        body = jv_with_path(a, body, count, res->crdv ? res->crdv->scale.spec_replicas : steps);
    return patch_apply(u->r, a, live, body);
}

static jv in_form(struct api_req *r, jv scale)
{
    struct kind_ctx c = { .a = r->a, .now_ms = wall_now_ms() };

    if (r->form == FORM_TABLE)
        return table_of_other(r, scale, scale_columns, COUNT(scale_columns),
                              scale_cells(&c, scale));
    return r->form == FORM_META ? partial_of(r->a, r, scale) : scale;
}

static void show_scale(struct api_req *r, jv obj)
{
    struct err e = { 0 };
    jv scale = scale_of(r->a, r->res, obj, false, &e);

    if (jv_exists(scale))
        answer_json(r, 200, in_form(r, scale));
    else if (e.code == ERR_INTERNAL)
        fail_internal(r, &e);
    else
        answer_err(r, &e);
}

static void answer(struct update *u, struct blob *stored, jv obj)
{
    (void)stored;
    show_scale(u->r, jv_copy(u->r->a, obj));
}

static void show(struct api_req *r)
{
    struct store_obj *o = store_get(r->res->coll, resource_key(r->a, r->res, r->ns, r->name));

    if (!o)
        fail_not_found(r, r->res, r->name);
    else
        show_scale(r, resource_parse_value(r->a, r->res, o->value));
}

static int read_put(struct scaling *s)
{
    struct api_req *r = s->u.r;

    if (body_typed(r, S("Scale"), S("autoscaling"), S("v1"), &autoscaling1_Scale, &s->scale) < 0)
        return -1;
    return update_is_named(r, s->scale) ? 0 : -1;
}

static int read_patch(struct scaling *s)
{
    struct api_req *r = s->u.r;
    struct err e = { 0 };
    str rest = http_get_header(r->http, S("content-type"));

    s->type = str_trim(str_cut(&rest, ';'));
    if (!str_ends(s->type, S("-patch+json"))) {
        fail_with(r, ERR_UNSUPPORTED_MEDIA, S("415: Unsupported Media Type"), JV_EMPTY_OBJ);
        return -1;
    }
    s->patch = json_parse(r->a, http_body(r->http), NULL, &e);
    if (jv_exists(s->patch))
        return 0;
    fail_bad_request(r, "error decoding patch: %s", e.msg);
    return -1;
}

static int read_apply(struct scaling *s)
{
    struct api_req *r = s->u.r;
    jv v;
    struct err e = { 0 };

    if (patch_apply_body(r, &v) < 0)
        return -1;
    str kind = jv_str(jv_at(v, "kind"), STR_NONE);
    str version = jv_str(jv_at(v, "apiVersion"), STR_NONE);
    if (!str_eqz(kind, "Scale") || !str_eqz(version, "autoscaling/v1")) {
        fail_bad_request(r, "invalid object type: %s%" PRI_STR ", Kind=%" PRI_STR,
                         str_find(version, '/') < 0 ? "/" : "", STR_ARG(version), STR_ARG(kind));
        return -1;
    }
    s->scale = schema_decode(r->a, &autoscaling1_Scale, v, NULL, &e);
    if (!jv_exists(s->scale)) {
        fail_bad_request(r, "%s", e.msg);
        return -1;
    }
    s->u.make = make_applied;
    s->u.is_apply = true;
    return 0;
}

void scale_run(struct api_req *r)
{
    struct scaling *s = ARENA_NEW(r->a, struct scaling);

    if (table_check(r) < 0)
        return;
    if (r->verb == VERB_GET) {
        show(r);
        return;
    }
    s->u = (struct update){ .r = r, .ctx = s, .sub = r->sub, .answer = answer, .check_rv = true };
    s->u.make = r->verb == VERB_UPDATE ? make_put : make_patch;
    bool applies = r->verb == VERB_PATCH && str_starts(http_get_header(r->http, S("content-type")),
                                                       S("application/apply-patch+yaml"));
    if ((applies ? read_apply(s) : r->verb == VERB_UPDATE ? read_put(s) : read_patch(s)) == 0)
        update_start(&s->u);
}
