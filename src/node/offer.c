/* What a running node is told to offer: an annotation of its Node, which counts above the options
 * and above what is found. What cannot be read changes nothing, and its condition says why. */

#include "base/quantity.h"
#include "kube/meta.h"
#include "loop/log.h"
#include "node/internal.h"

enum { MOST_BYTES = 4096 };

static const struct kube_resource nodes = { "", "v1", "nodes", "Node", true };

static size_t gpu_count(struct arena *a, jv machine)
{
    struct quantity q;
    jv v = jv_at(machine, "capacity", "nvidia.com/gpu");
    int64_t n = jv_exists(v) && quantity_from_json(a, v, &q, NULL) == 0 ? quantity_value(&q) : 0;

    return n > DEVICES_MOST ? DEVICES_MOST : (size_t)n;
}

int offer_set(struct node *n, str told, struct err *e)
{
    AUTO(arena) struct arena *tmp = arena_new();
    struct arena *a = arena_new();
    struct resources_opts r = {
        .root = n->o.root, .data = arena_z(tmp, n->o.data), .given = n->o.resources, .told = told
    };
    jv machine;

    if (node_resources(a, &r, &machine, e) < 0) {
        arena_free(a);
        return -1;
    }
    jdoc_unref(n->machine);
    n->machine = jdoc_of(a, jv_copy(a, machine));
    n->gpus.n = gpu_count(tmp, machine);
    return 0;
}

bool offer_read(struct node *n, jv obj)
{
    struct offer *f = &n->offer;
    str told = jv_str(jv_get(meta_annotations(obj), S(NODE_RESOURCES_ANNOTATION)), S(""));
    struct err e = { 0 };

    if (str_eq(told, buf_str(&f->told)))
        return false;
    f->was_told = true;
    buf_clear(&f->told);
    buf_add(&f->told, told);
    f->why = (struct err){ 0 };
    if (told.n > MOST_BYTES)
        err_set(&f->why, ERR_INVALID, "resources: more than %d bytes", MOST_BYTES);
    else if (offer_set(n, told, &e) < 0)
        f->why = e;
    if (f->why.code)
        log_warn("cannot offer the resources of annotation " NODE_RESOURCES_ANNOTATION,
                 KVZ("why", f->why.msg));
    return true;
}

str offer_reason(const struct node *n)
{
    return n->offer.why.code ? S("Invalid") : n->offer.told.n ? S("Declared") : S("NotDeclared");
}

str offer_message(const struct node *n)
{
    return n->offer.why.code ? str_of(n->offer.why.msg) : buf_str(&n->offer.told);
}

/* ---- changes */

static void on_node(void *ctx, struct jdoc *now, struct jdoc *old)
{
    struct node *n = ctx;

    (void)old;
    if (offer_read(n, jdoc_root(now)))
        registration_refresh(n->reg);
}

void offer_start(struct node *n)
{
    AUTO(arena) struct arena *a = arena_new();
    struct mirror_opts o = {
        .loop = n->o.loop,
        .api = n->o.api,
        .res = &nodes,
        .fields = arena_printf(a, "metadata.name=%" PRI_STR, STR_ARG(n->o.name)),
        .put = on_node,
        .ctx = n,
    };

    n->offer.mirror = mirror_new(&o);
    mirror_start(n->offer.mirror);
}

void offer_free(struct node *n)
{
    mirror_free(n->offer.mirror);
    buf_done(&n->offer.told);
}
