/* What is special about pods: binding to a node, and eviction. */

#include "api/decode.h"
#include "api/delete.h"
#include "api/subresource.h"
#include "builtin/pod_admission.h"
#include "builtin/types/types.h"
#include "kube/meta.h"
#include "kube/selector.h"

struct api_pod api_pod_copy(struct arena *a, const struct api_pod *pod)
{
    return (struct api_pod){ .ns = arena_str(a, pod->ns),
                             .name = arena_str(a, pod->name),
                             .pod = jv_copy(a, pod->pod) };
}

void answer_created(struct api_req *r)
{
    answer_json(r, 201,
                jobj(r->a, { "kind", jstrz(r->a, "Status") }, { "apiVersion", jstrz(r->a, "v1") },
                     { "metadata", JV_EMPTY_OBJ }, { "status", jstrz(r->a, "Success") },
                     { "code", jint(r->a, 201) }));
}

/* ---- binding */

struct bind {
    struct change_op op;
    struct api_req *r;
    jv binding;
    str pod;
};

void bind_conflict(struct api_req *r, str pod, str why)
{
    fail_with(r, ERR_CONFLICT,
              arena_printf(
                  r->a, "Operation cannot be fulfilled on pods/binding \"%" PRI_STR "\": %" PRI_STR,
                  STR_ARG(pod), STR_ARG(why)),
              jobj(r->a, { "name", jstr(r->a, pod) }, { "kind", jstrz(r->a, "pods/binding") }));
}

static int decide_bind(struct change_op *op, struct arena *a, jv live, struct change *out)
{
    struct bind *b = op->ctx;
    struct kind_ctx c = { .a = a, .now_ms = wall_now_ms() };
    jv bound = JV_ABSENT;

    if (!jv_exists(live)) {
        fail_not_found(b->r, op->res, b->pod);
        return -1;
    }
    str why = pod_bind(&c, live, b->binding, &bound);
    if (why.n) {
        bind_conflict(b->r, b->pod, why);
        return -1;
    }
    *out = (struct change){ CHANGE_PUT, bound };
    return 0;
}

static void done_bind(struct change_op *op, enum change_kind kind, struct blob *stored,
                      const struct err *e)
{
    struct bind *b = op->ctx;

    (void)kind;
    (void)stored;
    if (e)
        answer_err(b->r, e);
    else
        answer_created(b->r);
}

void bind_pod(struct api_req *r, str pod, jv binding)
{
    struct bind *b = ARENA_NEW(r->a, struct bind);
    struct resource *pods = registry_find(&r->api->registry, S(""), S("v1"), S("pods"));
    struct problems ps = { .a = r->a };

    binding_check(&ps, binding);
    if (ps.n) { /* kube-apiserver answers 500 here, too */
        fail_plain(r, 500, "%" PRI_STR, STR_ARG(problems_text(r->a, &ps)));
        return;
    }
    b->r = r;
    b->pod = pod;
    b->binding = binding;
    b->op = (struct change_op){ .api = r->api,
                                .res = pods,
                                .key = resource_key(r->a, pods, r->ns, pod),
                                .dry_run = r->q.dry_run,
                                .decide = decide_bind,
                                .done = done_bind,
                                .ctx = b };
    change_start(&b->op);
}

void pod_binding_run(struct api_req *r)
{
    jv binding;

    if (body_typed(r, S("Binding"), STR_NONE, S("v1"), &core_Binding, &binding) < 0)
        return;
    if (meta_name(binding).n && !str_eq(meta_name(binding), r->name))
        fail_bad_request(r, "name in URL does not match name in Binding object");
    else
        bind_pod(r, r->name, binding);
}

/* ---- eviction */

struct evict {
    struct change_op op;
    struct api_req *r;
    struct delete_opts o;
};

static void refuse_eviction(struct api_req *r, str why)
{
    jv cause =
        jobj(r->a, { "reason", jstrz(r->a, "DisruptionBudget") }, { "message", jstr(r->a, why) });

    fail_with(r, ERR_TOO_MANY_REQUESTS,
              S("Cannot evict pod as it would violate the pod's disruption budget."),
              jobj(r->a, { "causes", jarr(r->a, cause) }, { "retryAfterSeconds", jint(r->a, 10) }));
}

/* The budget that forbids it, as a sentence; empty: none does. */
static str forbidding_budget(struct api_req *r, struct arena *a, jv pod)
{
    struct resource *res =
        registry_find(&r->api->registry, S("policy"), S("v1"), S("poddisruptionbudgets"));
    str prefix = arena_printf(a, "%" PRI_STR "/", STR_ARG(r->ns));
    str phase = jv_str(jv_at(pod, "status", "phase"), STR_NONE);

    if (meta_being_deleted(pod) || str_eqz(phase, "Succeeded") || str_eqz(phase, "Failed") ||
        str_eqz(phase, "Pending"))
        return STR_NONE;
    for (struct store_obj *o = store_seek(res->coll, prefix); o && str_starts(o->key, prefix);
         o = store_next(res->coll, o)) {
        jv budget = resource_parse_value(a, res, o->value);
        struct selector s = { 0 };
        str why;
        if (selector_from_object(a, jv_at(budget, "spec", "selector"), &s, &why) < 0 ||
            !selector_matches(&s, meta_labels(pod)))
            continue;
        int64_t seen = jv_int(jv_at(budget, "status", "observedGeneration"), 0);
        if (seen < jv_int(jv_at(budget, "metadata", "generation"), 0))
            return arena_printf(
                r->a, "The disruption budget %" PRI_STR " is still being processed by the server.",
                STR_ARG(meta_name(budget)));
        int64_t allowed = jv_int(jv_at(budget, "status", "disruptionsAllowed"), 0);
        if (allowed <= 0)
            return arena_printf(r->a,
                                "The disruption budget %" PRI_STR
                                " needs %lld healthy pods and has %lld currently",
                                STR_ARG(meta_name(budget)),
                                (long long)jv_int(jv_at(budget, "status", "desiredHealthy"), 0),
                                (long long)jv_int(jv_at(budget, "status", "currentHealthy"), 0));
    }
    return STR_NONE;
}

static int decide_evict(struct change_op *op, struct arena *a, jv live, struct change *out)
{
    struct evict *v = op->ctx;

    if (!jv_exists(live)) {
        fail_not_found(v->r, op->res, v->r->name);
        return -1;
    }
    str other = delete_other_than_meant(v->r->a, &v->o, live);
    if (other.n) {
        fail_precondition(v->r, v->r->name, "%" PRI_STR, STR_ARG(other));
        return -1;
    }
    str why = forbidding_budget(v->r, a, live);
    if (why.n) {
        refuse_eviction(v->r, why);
        return -1;
    }
    *out = delete_decide(a, op->res, live, &v->o, wall_now_ms());
    return 0;
}

static void done_evict(struct change_op *op, enum change_kind kind, struct blob *stored,
                       const struct err *e)
{
    struct evict *v = op->ctx;

    (void)kind;
    (void)stored;
    if (e)
        answer_err(v->r, e);
    else
        answer_created(v->r);
}

void pod_eviction_run(struct api_req *r)
{
    struct evict *v = ARENA_NEW(r->a, struct evict);
    jv eviction;

    if (body_typed(r, S("Eviction"), S("policy"), S("v1"), &policy_Eviction, &eviction) < 0)
        return;
    if (!str_eq(meta_name(eviction), r->name)) {
        fail_bad_request(r, "name in URL does not match name in Eviction object");
        return;
    }
    str home = meta_namespace(eviction);
    if (home.n && !str_eq(home, r->ns)) {
        fail_bad_request(
            r,
            "the namespace of the provided object does not match the namespace sent on the request");
        return;
    }
    jv options = jv_at(eviction, "deleteOptions");
    v->r = r;
    v->o = (struct delete_opts){
        .grace_s = jv_int(jv_at(options, "gracePeriodSeconds"), -1),
        .uid = jv_str(jv_at(options, "preconditions", "uid"), STR_NONE),
        .resource_version = jv_str(jv_at(options, "preconditions", "resourceVersion"), STR_NONE),
    };
    JV_EACH (it, jv_at(options, "dryRun"))
        r->q.dry_run = r->q.dry_run || str_eqz(jv_str(it.value, STR_NONE), "All");
    v->op = (struct change_op){ .api = r->api,
                                .res = r->res,
                                .key = resource_key(r->a, r->res, r->ns, r->name),
                                .dry_run = r->q.dry_run,
                                .decide = decide_evict,
                                .done = done_evict,
                                .ctx = v };
    change_start(&v->op);
}
