/* See usage.h. The shape of the objects and the words of errors are metrics-server's. */

#include "api/usage.h"

#include "api/select.h"
#include "api/table.h"
#include "base/quantity.h"
#include "base/time.h"
#include "kube/meta.h"

enum { KIB = 1024 };

/* The kind that is measured: core nodes or pods. */
static struct resource *measured_of(const struct api_req *r)
{
    return registry_find(&r->api->registry, S(""), S("v1"), r->res->plural);
}

/* The stored node or pod; absent: there is none. */
static jv stored_of(struct arena *a, const struct api_req *r, str key)
{
    const struct resource *res = measured_of(r);
    struct store_obj *o = store_get(res->coll, key);

    return o ? resource_parse_value(a, res, o->value) : JV_ABSENT;
}

/* {"cpu": "123456n", "memory": "789Ki"} */
static jv usage_list(struct arena *a, jv figures)
{
    struct quantity cpu = quantity_of(jv_int(jv_at(figures, "cpu_nano"), 0), QUANTITY_DECIMAL_SI);
    struct quantity memory =
        quantity_of(jv_int(jv_at(figures, "memory_bytes"), 0) / KIB * KIB, QUANTITY_BINARY_SI);

    cpu.scale = -9;
    return jobj(a, { "cpu", jstr(a, quantity_text(a, &cpu)) },
                { "memory", jstr(a, quantity_text(a, &memory)) });
}

static jv containers_list(struct arena *a, jv figures)
{
    struct jbuild list = jb_arr(a);

    JV_EACH (it, jv_at(figures, "containers"))
        jb_push(&list, jobj(a, { "name", jv_copy(a, jv_at(it.value, "name")) },
                            { "usage", usage_list(a, it.value) }));
    return jb_done(&list);
}

static jv object_of(struct arena *a, const struct api_req *r, jv of, jv figures)
{
    bool pod = r->res->namespaced;
    jv labels = meta_labels(of);
    jv meta = jobj(a, { "name", jv_at(of, "metadata", "name") },
                   { "namespace", jv_at(of, "metadata", "namespace") },
                   { "creationTimestamp", jstr(a, time_text(a, wall_now_ms())) },
                   { "labels", jv_len(labels) ? labels : JV_ABSENT });
    int64_t window_ms = jv_int(jv_at(figures, "window_ms"), 0);

    return jobj(a, { "kind", jstr(a, r->res->kind) },
                { "apiVersion", jstr(a, r->res->api_version) }, { "metadata", meta },
                { "timestamp", jstr(a, time_text(a, jv_int(jv_at(figures, "at_ms"), 0))) },
                { "window", jstr(a, duration_text(a, window_ms * 1000 * 1000)) },
                { "usage", pod ? JV_ABSENT : usage_list(a, figures) },
                { "containers", pod ? containers_list(a, figures) : JV_ABSENT });
}

/* By key, what was measured of the nodes or pods that are asked for. */
static jv figures_of(struct arena *a, const struct api_req *r, jv usage)
{
    if (r->res->namespaced)
        return jv_at(usage, "pods");
    return jv_exists(jv_at(usage, "cpu_nano"))
               ? jv_with_key(a, JV_EMPTY_OBJ, jv_str(jv_at(usage, "node"), S("")), usage)
               : JV_EMPTY_OBJ;
}

/* A pod of that name may be another one by now. */
static bool is_same(jv of, jv figures)
{
    jv uid = jv_at(figures, "uid");

    return jv_exists(of) && (!jv_exists(uid) || str_eq(meta_uid(of), jv_str(uid, S(""))));
}

static void fail_not_measured(struct api_req *r, str key)
{
    str kind = r->res->namespaced ? S("podmetrics") : S("nodemetrics");

    fail_with(r, ERR_NOT_FOUND,
              arena_printf(r->a, "%" PRI_STR ".%" PRI_STR " \"%" PRI_STR "\" not found",
                           STR_ARG(kind), STR_ARG(r->res->group), STR_ARG(key)),
              jobj(r->a, { "name", jstr(r->a, key) }, { "group", jstr(r->a, r->res->group) },
                   { "kind", jstr(r->a, kind) }));
}

static void answer_one(struct api_req *r, jv usage)
{
    str key = resource_key(r->a, measured_of(r), r->ns, r->name);
    jv of = stored_of(r->a, r, key), figures = jv_get(figures_of(r->a, r, usage), key);

    if (!jv_exists(figures) || !is_same(of, figures))
        fail_not_measured(r, key);
    else
        answer_object(r, 200, object_of(r->a, r, of, figures));
}

static jv shown(struct api_req *r, jv obj)
{
    if (r->form == FORM_TABLE)
        return table_row(r->a, r, obj);
    if (r->form == FORM_META)
        return partial_of(r->a, r, obj);
    return jv_without(r->a, jv_without(r->a, obj, "kind"), "apiVersion");
}

static void answer_all(struct api_req *r, const struct selection *sel, jv usage)
{
    struct arena *a = r->a;
    struct jbuild items = jb_arr(a);
    bool partial = r->form == FORM_META;

    JV_EACH (it, figures_of(a, r, usage)) {
        jv of = selection_has_key(sel, it.key) ? stored_of(a, r, it.key) : JV_ABSENT;
        if (is_same(of, it.value) && selection_has(sel, it.key, of))
            jb_push(&items, shown(r, object_of(a, r, of, it.value)));
    }
    if (r->form == FORM_TABLE) {
        answer_json(r, 200,
                    table_new(a, r, JV_EMPTY_OBJ, table_columns(a, r->res), jb_done(&items)));
        return;
    }
    str kind = partial ? S("PartialObjectMetadataList") : r->res->list_kind;
    str version = !partial       ? r->res->api_version
                  : r->beta_form ? S("meta.k8s.io/v1beta1")
                                 : S("meta.k8s.io/v1");
    answer_json(r, 200,
                jobj(a, { "kind", jstr(a, kind) }, { "apiVersion", jstr(a, version) },
                     { "metadata", JV_EMPTY_OBJ }, { "items", jb_done(&items) }));
}

static void on_usage(void *arg, jv usage, const struct err *e)
{
    struct api_req *r = arg;
    struct selection sel;

    if (!jv_exists(usage))
        answer_err(r, e);
    else if (r->name.n)
        answer_one(r, usage);
    else if (selection_of(r, &sel) == 0)
        answer_all(r, &sel, usage);
}

void usage_run(struct api_req *r)
{
    const struct api_pods *pods = r->api->o.pods;
    struct resource *of = measured_of(r);
    struct selection sel;

    if (table_check(r) < 0)
        return;
    if (r->name.n && !store_get(of->coll, resource_key(r->a, of, r->ns, r->name)))
        fail_not_found(r, of, r->name);
    else if (r->name.n || selection_of(r, &sel) == 0) /* else refused before anything is measured */
        pods->usage(pods->ctx, on_usage, r);
}
