/* An API server and a binder in a test program. */
#pragma once

#include "binder/binder.h"
#include "box.h"

static const struct kube_resource w_pods = { "", "v1", "pods", "Pod", false };
static const struct kube_resource w_nodes = { "", "v1", "nodes", "Node", true };
static const struct kube_resource w_events = { "", "v1", "events", "Event", false };
__attribute__((unused)) static const struct kube_resource w_claims = {
    "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", false
};
__attribute__((unused)) static const struct kube_resource w_volumes = { "", "v1",
                                                                        "persistentvolumes",
                                                                        "PersistentVolume", true };
__attribute__((unused)) static const struct kube_resource w_classes = { "storage.k8s.io", "v1",
                                                                        "storageclasses",
                                                                        "StorageClass", true };

struct w {
    struct box box;
    struct arena *a;
    struct binder *b;
    struct binder_opts o;
};

static void w_settle(struct w *w)
{
    int quiet = 0; /* what was written is on its way back by the watch */

    while (quiet < 20) {
        box_turn(&w->box);
        quiet = binder_is_idle(w->b) ? quiet + 1 : 0;
        usleep(200);
    }
}

static void w_start(struct w *w)
{
    w->b = binder_new(w->box.loop, w->box.kube, &w->o);
    binder_start(w->b);
    w_settle(w);
}

__attribute__((unused)) static void w_open(struct w *w, const char *dir)
{
    struct api_opts o = { .protect_storage = true };

    *w = (struct w){ .a = arena_new(), .o = { .volumes_dir = str_of(dir) } };
    box_open(&w->box, NULL, &o);
    w_start(w);
}

static void w_close(struct w *w)
{
    binder_free(w->b);
    box_close(&w->box);
    arena_free(w->a);
}

static const char *w_ns(const struct kube_resource *res)
{
    return res->cluster_wide ? "" : "default";
}

static jv w_do(struct w *w, enum kube_verb verb, const struct kube_resource *res, const char *name,
               const char *sub, jv body)
{
    struct kube_request r = { .verb = verb,
                              .res = res,
                              .ns = str_of(w_ns(res)),
                              .name = str_of(name),
                              .sub = str_of(sub),
                              .patch = KUBE_PATCH_MERGE,
                              .body = body };
    struct kube_answer ans = box_ask(&w->box, w->a, &r);

    if (ans.err.code != ERR_OK && ans.err.code != ERR_NOT_FOUND)
        printf("# %s %s: %s\n", res->plural, name, ans.err.msg);
    return ans.err.code == ERR_OK ? ans.obj : JV_ABSENT;
}

static jv w_get(struct w *w, const struct kube_resource *res, const char *name)
{
    return w_do(w, KUBE_GET, res, name, "", JV_ABSENT);
}

static void w_make(struct w *w, const struct kube_resource *res, const char *quoted)
{
    w_do(w, KUBE_CREATE, res, "", "", box_value(w->a, quoted));
}

__attribute__((unused)) static void w_patch(struct w *w, const struct kube_resource *res,
                                            const char *name, const char *sub, const char *quoted)
{
    w_do(w, KUBE_PATCH, res, name, sub, box_value(w->a, quoted));
}

__attribute__((unused)) static void w_delete(struct w *w, const struct kube_resource *res,
                                             const char *name)
{
    w_do(w, KUBE_DELETE, res, name, "", box_value(w->a, "{'gracePeriodSeconds': 0}"));
    w_settle(w);
}

static void w_node(struct w *w, const char *name, const char *allocatable)
{
    w_make(w, &w_nodes,
           arena_printf(w->a,
                        "{'metadata': {'name': '%s', 'labels': {'kubernetes.io/hostname': '%s'}}}",
                        name, name)
               .p);
    w_patch(w, &w_nodes, name, "status",
            arena_printf(w->a,
                         "{'status': {'allocatable': %s, 'capacity': %s,"
                         "'conditions': [{'type': 'Ready', 'status': 'True'}]}}",
                         allocatable, allocatable)
                .p);
    w_settle(w);
}

/* more: further members of its spec. */
static void w_pod(struct w *w, const char *name, const char *requests, const char *more)
{
    w_make(w, &w_pods,
           arena_printf(w->a,
                        "{'metadata': {'name': '%s'}, 'spec': {'containers': [{'name': 'c', "
                        "'image': 'i', 'resources': {'requests': %s, 'limits': %s}}]%s}}",
                        name, requests, requests, more)
               .p);
}

static str w_node_of(struct w *w, const char *pod)
{
    return jv_str(jv_at(w_get(w, &w_pods, pod), "spec", "nodeName"), S(""));
}

__attribute__((unused)) static str w_why(struct w *w, const char *pod)
{
    jv c = meta_condition(w_get(w, &w_pods, pod), S("PodScheduled"));

    return jv_str(jv_at(c, "message"), S(""));
}

/* Messages of events of that reason on things of that name, one a line. */
__attribute__((unused)) static str w_events_of(struct w *w, const char *name, const char *reason)
{
    jv list = w_do(w, KUBE_LIST, &w_events, "", "", JV_ABSENT);
    str all = S("");

    JV_EACH (it, jv_at(list, "items"))
        if (str_eqz(jv_str(jv_at(it.value, "involvedObject", "name"), S("")), name) &&
            str_eqz(jv_str(jv_at(it.value, "reason"), S("")), reason))
            all = arena_printf(w->a, "%.*s%s%.*s", STR_ARG(all), all.n ? "\n" : "",
                               STR_ARG(jv_str(jv_at(it.value, "message"), S(""))));
    return all;
}
