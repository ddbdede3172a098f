/* patch: JSON Patch, merge patch, strategic merge patch and server-side apply. */

#include "api/admit.h"
#include "api/decode.h"
#include "api/strategy.h"
#include "api/subresource.h"
#include "api/table.h"
#include "api/update.h"
#include "base/yaml.h"
#include "kube/apply.h"
#include "kube/goprint.h"
#include "kube/meta.h"
#include "kube/patch_json.h"
#include "kube/patch_merge.h"
#include "kube/patch_strategic.h"
#include "kube/restore.h"
#include "loop/fiber.h"

enum patch_type { PATCH_JSON, PATCH_MERGE, PATCH_STRATEGIC, PATCH_APPLY };

struct patch {
    struct update u;
    enum patch_type type;
    jv body;
    struct strict strict; /* duplicate and, in a JSON patch, unknown members of the patch itself */
    size_t n_warnings;    /* said before the patch was looked at */
};

static bool type_of(str content_type, enum patch_type *out)
{
    static const struct {
        const char *name;
        enum patch_type type;
    } rows[] = { { "application/json-patch+json", PATCH_JSON },
                 { "application/merge-patch+json", PATCH_MERGE },
                 { "application/strategic-merge-patch+json", PATCH_STRATEGIC },
                 { "application/apply-patch+yaml", PATCH_APPLY } };
    str rest = content_type;
    str media = str_trim(str_cut(&rest, ';'));

    for (size_t i = 0; i < COUNT(rows); i++)
        if (str_eqz(media, rows[i].name)) {
            *out = rows[i].type;
            return true;
        }
    return false;
}

static void unsupported(struct api_req *r)
{
    if (r->res->crdv) {
        fail_code(
            r, ERR_UNSUPPORTED_MEDIA,
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, "
            "application/apply-patch+yaml");
        return;
    }
    fail_with(r, ERR_UNSUPPORTED_MEDIA, S("415: Unsupported Media Type"), JV_EMPTY_OBJ);
}

/* A patched object that does not decode is the patch's fault, and shown whole; of a strategic
 * patch, the patch itself. */
static jv refuse(struct patch *p, jv patched, str why)
{
    struct api_req *r = p->u.r;
    struct problems ps = { .a = r->a };
    str shown = p->type == PATCH_STRATEGIC ? goprint_text(r->a, p->body) : json_text(r->a, patched);

    problem_invalid(&ps, ROOT("patch"), jstr(r->a, shown), "%" PRI_STR, STR_ARG(why));
    fail_invalid(r, STR_NONE, STR_NONE, STR_NONE, &ps);
    return JV_ABSENT;
}

struct patching {
    struct patch *p;
    struct arena *a;
    jv live;
    struct err *e;
    jv out;
};

static void make_patch(void *arg)
{
    struct patching *w = arg;

    w->out = JV_ABSENT;
    switch (w->p->type) {
    case PATCH_JSON:
        w->out = patch_json(w->a, w->live, w->p->body, w->e);
        break;
    case PATCH_MERGE:
        w->out = patch_merge(w->a, w->live, w->p->body, w->e);
        break;
    case PATCH_STRATEGIC:
        w->out = patch_strategic(w->a, w->p->u.r->res->schema, w->live, w->p->body, w->e);
        break;
    case PATCH_APPLY:
        break; /* has its own way */
    }
}

static jv patched(struct patch *p, struct arena *a, jv live, struct err *e)
{
    struct patching w = { .p = p, .a = a, .live = live, .e = e };

    fiber_offload(p->u.r->api->loop, make_patch, &w);
    return w.out;
}

static jv make_patched(struct update *u, struct arena *a, jv live)
{
    struct patch *p = u->ctx;
    struct api_req *r = u->r;
    struct strict s = { .a = r->a };
    struct err e = { 0 };

    jv v = patched(p, a, live, &e);
    if (!jv_exists(v)) {
        answer_patch_err(r, &e, STR_NONE);
        return v;
    }
    r->n_warnings = p->n_warnings; /* a retry says the rest anew */
    r->sent_managed = jv_at(v, "metadata", "managedFields");
    str why = p->type == PATCH_STRATEGIC ? restore_problem(a, r->res->schema, v) : STR_NONE;
    if (why.n)
        return refuse(p, v, why);
    for (size_t i = 0; i < p->strict.n; i++)
        strict_add(&s, 0,
                   p->strict.at[i].text); /* of the patch before what is told of its result */
    jv out = request_decode(r, a, v, &s, &e);
    if (!jv_exists(out))
        return refuse(p, v, str_of(e.msg));
    str refusal = strict_outcome(r, &s);
    if (refusal.n)
        return refuse(p, v, refusal);
    if (!update_is_named(r, out))
        return JV_ABSENT;
    str kind = jv_str(jv_at(out, "kind"), STR_NONE);
    str version = jv_str(jv_at(out, "apiVersion"), STR_NONE);
    /* taken away, they are the request's: but a custom object is nothing without them */
    bool same_kind = str_eq(kind, r->res->kind) || (!kind.n && !r->res->crdv);
    bool same_version = str_eq(version, r->res->api_version) || (!version.n && !r->res->crdv);
    if (!same_kind || !same_version)
        return refuse(p, v,
                      arena_printf(r->a,
                                   "no kind \"%" PRI_STR "\" is registered for version \"%" PRI_STR
                                   "\" in scheme \"pkg/runtime/scheme.go:110\"",
                                   STR_ARG(kind), STR_ARG(version)));
    return admit_owners(r, a, out);
}

/* ---- server-side apply */

static jv conflict_details(struct arena *a, const struct apply_failure *why)
{
    struct jbuild causes = jb_arr(a);

    for (size_t i = 0; i < why->n; i++)
        jb_push(&causes, jobj(a, { "reason", jstrz(a, "FieldManagerConflict") },
                              { "message", jstr(a, arena_str(a, why->conflicts[i].message)) },
                              { "field", jstr(a, arena_str(a, why->conflicts[i].field)) }));
    return jobj(a, { "causes", jb_done(&causes) });
}

struct applying {
    struct arena *a;
    const struct managed_write *m;
    jv live;
    jv body;
    bool force;
    struct apply_failure *why;
    struct err *e;
    jv out;
};

static void apply(void *arg)
{
    struct applying *w = arg;

    w->out = apply_patch(w->a, w->m, w->live, w->body, w->force, w->why, w->e);
}

jv patch_apply(struct api_req *r, struct arena *a, jv live, jv body)
{
    struct apply_failure why = { 0 };
    struct err e = { 0 };
    struct write_ctx w = {
        .a = a, .res = r->res, .sub = r->sub, .manager = r->q.field_manager, .now_ms = wall_now_ms()
    };
    struct managed_write m = managed_write_of(&w);

    struct applying work = { a, &m, live, body, r->q.force, &why, &e, JV_ABSENT };
    fiber_offload(r->api->loop, apply, &work);
    jv out = work.out;
    if (!jv_exists(out)) {
        if (why.n)
            fail_with(r, ERR_CONFLICT, arena_str(r->a, why.message), conflict_details(r->a, &why));
        else
            answer_patch_err(r, &e, arena_str(r->a, why.message));
        return JV_ABSENT;
    }
    struct strict s = { .a = r->a };
    out = request_decode(r, a, out, &s, &e);
    if (!jv_exists(out)) {
        answer_patch_err(r, &e, STR_NONE);
        return out;
    }
    return update_is_named(r, out) ? admit_owners(r, a, out) : JV_ABSENT;
}

static jv make_applied(struct update *u, struct arena *a, jv live)
{
    const struct patch *p = u->ctx;

    return patch_apply(u->r, a, live, p->body);
}

static int check_apply(struct api_req *r)
{
    struct problems ps = { .a = r->a };

    if (r->q.field_manager.n)
        return 0;
    problem_required(&ps, ROOT("fieldManager"), "is required for apply patch");
    fail_invalid(r, S("PatchOptions"), S("meta.k8s.io"), STR_NONE, &ps);
    return -1;
}

static int check_plain(struct api_req *r)
{
    struct problems ps = { .a = r->a };

    if (!r->q.force_given)
        return 0;
    problem_forbidden(&ps, ROOT("force"), "may not be specified for non-apply patch");
    fail_invalid(r, S("PatchOptions"), S("meta.k8s.io"), STR_NONE, &ps);
    return -1;
}

static void on_duplicate_in_apply(void *ctx, str key, struct yaml_place first,
                                  struct yaml_place again, uint32_t value_line)
{
    struct strict *s = ctx;

    (void)first;
    (void)again;
    strict_add(s, value_line,
               arena_printf(s->a, "\n  line %u: key \"%" PRI_STR "\" already set in map",
                            value_line, STR_ARG(key)));
}

int patch_apply_body(struct api_req *r, jv *out)
{
    struct strict s = { .a = r->a };
    struct yaml_opts opts = { .on_duplicate = on_duplicate_in_apply, .ctx = &s };
    struct yaml_docs docs = { 0 };
    AUTO(buf) struct buf twice = { 0 };
    struct err e = { 0 };

    if (check_apply(r) < 0)
        return -1;
    if (body_yaml(r, &opts, &docs, &e) < 0 || docs.n != 1 || !jv_is(docs.at[0].root, JV_OBJ)) {
        fail_bad_request(r, "error decoding YAML: error converting YAML to JSON: %s",
                         e.msg[0] ? e.msg : "expected one object");
        return -1;
    }
    for (size_t i = 0; i < s.n; i++)
        buf_add(&twice, s.at[i].text);
    if (twice.n && r->q.validation == VALIDATE_STRICT) {
        fail_bad_request(r,
                         "error strict decoding YAML: error converting YAML to JSON: yaml: "
                         "unmarshal errors:%" PRI_STR,
                         STR_ARG(buf_str(&twice)));
        return -1;
    }
    if (twice.n && r->q.validation == VALIDATE_WARN)
        request_warn(r, "error converting YAML to JSON: yaml: unmarshal errors:%" PRI_STR,
                     STR_ARG(buf_str(&twice)));
    *out = docs.at[0].root;
    return 0;
}

static int parse_apply(struct patch *p)
{
    struct api_req *r = p->u.r;
    jv v;

    if (patch_apply_body(r, &v) < 0)
        return -1;
    str kind = jv_str(jv_at(v, "kind"), STR_NONE);
    str version = jv_str(jv_at(v, "apiVersion"), STR_NONE);
    if (!kind.n || !version.n) {
        fail_bad_request(r, "invalid object type: /, Kind=");
        return -1;
    }
    if (!str_eq(kind, r->res->kind) || !str_eq(version, r->res->api_version)) {
        fail_bad_request(r, "invalid object type: %s%" PRI_STR ", Kind=%" PRI_STR,
                         str_find(version, '/') < 0 ? "/" : "", STR_ARG(version), STR_ARG(kind));
        return -1;
    }
    if (meta_name(v).n && !str_eq(meta_name(v), r->name)) {
        fail_bad_request(r,
                         "the name of the object (%" PRI_STR
                         ") does not match the name on the URL (%" PRI_STR ")",
                         STR_ARG(meta_name(v)), STR_ARG(r->name));
        return -1;
    }
    p->body = v; /* as it was written: apply owns exactly these fields */
    return 0;
}

static int prepare_apply(struct patch *p)
{
    struct api_req *r = p->u.r;

    if (parse_apply(p) < 0)
        return -1;
    p->u.make = make_applied;
    p->u.is_apply = true;
    p->u.may_create = !r->sub.n;
    return 0;
}

static void on_duplicate_in_patch(void *ctx, str path, size_t at)
{
    struct patch *p = ctx;

    strict_add(&p->strict, at,
               arena_printf(p->u.r->a, "%sduplicate field \"%" PRI_STR "\"",
                            p->type == PATCH_JSON ? "json patch " : "", STR_ARG(path)));
}

static void on_unknown_in_patch(void *ctx, str path)
{
    struct patch *p = ctx;

    strict_add(&p->strict, 0,
               arena_printf(p->u.r->a, "json patch unknown field \"%" PRI_STR "\"", STR_ARG(path)));
}

static int prepare_plain(struct patch *p)
{
    struct api_req *r = p->u.r;
    struct json_opts opts = { .on_duplicate = on_duplicate_in_patch, .ctx = p };
    struct err e = { 0 };

    if (check_plain(r) < 0)
        return -1;
    p->strict.a = r->a;
    p->body = body_json(r, &opts, &e);
    if (!jv_exists(p->body)) {
        fail_bad_request(r, "error decoding patch: %s", e.msg);
        return -1;
    }
    if (p->type == PATCH_JSON)
        patch_json_unknown(r->a, p->body, &(struct schema_report){ on_unknown_in_patch, p });
    p->u.make = make_patched;
    return 0;
}

void verb_patch(struct api_req *r)
{
    struct patch *p = ARENA_NEW(r->a, struct patch);

    if (table_check(r) < 0)
        return;
    p->n_warnings = r->n_warnings;
    p->u = (struct update){ .r = r, .ctx = p, .check_rv = true, .sub = r->sub };
    if (!type_of(http_get_header(r->http, S("content-type")), &p->type) ||
        (p->type == PATCH_STRATEGIC && r->res->crdv)) {
        unsupported(r);
        return;
    }
    if ((p->type == PATCH_APPLY ? prepare_apply(p) : prepare_plain(p)) == 0)
        update_start(&p->u);
}
