/* A world that serves PodGroups and Queues; those of Kubernetes if the binder is to look at them.
 */
#pragma once

#include "world.h"

static const struct kube_resource w_groups = { "scheduling.volcano.sh", "v1beta1", "podgroups",
                                               "PodGroup", false };
static const struct kube_resource w_queues = { "scheduling.volcano.sh", "v1beta1", "queues",
                                               "Queue", true };
static const struct kube_resource w_plugins = { "scheduling.x-k8s.io", "v1alpha1", "podgroups",
                                                "PodGroup", false };
static const struct kube_resource w_kube = { "scheduling.k8s.io", "v1alpha2", "podgroups",
                                             "PodGroup", false };

/* more: members of its version; phase: further members of the schema of status.phase. */
static void w_define(struct w *w, const struct kube_resource *res, const char *more,
                     const char *phase)
{
    static const struct kube_resource crds = { "apiextensions.k8s.io", "v1",
                                               "customresourcedefinitions",
                                               "CustomResourceDefinition", true };
    struct kube_request list = { .verb = KUBE_LIST, .res = res };

    w_make(w, &crds,
           arena_printf(
               w->a,
               "{'metadata': {'name': '%s.%s', 'annotations': {'api-approved.kubernetes.io': "
               "'https://example.com'}}, 'spec': {'group': '%s', 'scope': '%s', 'names': {'kind': "
               "'%s', 'plural': '%s'}, 'versions': [{'name': '%s', 'served': true, 'storage': "
               "true, %s 'schema': {'openAPIV3Schema': {'type': 'object', "
               "'x-kubernetes-preserve-unknown-fields': true, 'properties': {'status': {'type': "
               "'object', 'x-kubernetes-preserve-unknown-fields': true, 'properties': {'phase': "
               "{'type': 'string'%s}}}}}}}]}}",
               res->plural, res->group, res->group, res->cluster_wide ? "Cluster" : "Namespaced",
               res->kind, res->plural, res->version, more, phase)
               .p);
    while (box_ask(&w->box, w->a, &list).err.code != ERR_OK)
        box_turn(&w->box);
}

/* members: of the object, after its kind. */
static void g_make_early(struct w *w, const struct kube_resource *res, const char *members)
{
    w_make(w, res,
           arena_printf(w->a, "{'apiVersion': '%s/%s', 'kind': '%s', %s}", res->group, res->version,
                        res->kind, members)
               .p);
}

static void g_make(struct w *w, const struct kube_resource *res, const char *members)
{
    g_make_early(w, res, members);
    w_settle(w);
}

static const char *g_phases = ""; /* of Volcano's groups, as in w_define */

static void g_open_with(struct w *w, int gpus, const struct binder_opts *more)
{
    struct api_opts o = { .protect_storage = true, .groups_pods = more->kube_groups };

    *w = (struct w){ .a = arena_new(), .o = *more };
    w->o.volumes_dir = S("/nowhere");
    w->o.patience_ms = 300 * 1000;
    box_open(&w->box, NULL, &o);
    w_define(w, &w_groups, "", g_phases);
    w_define(w, &w_queues, "'subresources': {'status': {}},", "");
    w_define(w, &w_plugins, "'subresources': {'status': {}},", "");
    if (more->kube_groups)
        w_define(w, &w_kube, "'subresources': {'status': {}},", "");
    g_make_early(w, &w_queues, "'metadata': {'name': 'default'}, 'spec': {'weight': 1}");
    w_start(w);
    w_node(w, "n",
           arena_printf(w->a, "{'cpu': '9', 'pods': '99', 'nvidia.com/gpu': '%d'}", gpus).p);
}

__attribute__((unused)) static void g_open(struct w *w, int gpus)
{
    g_open_with(w, gpus, &(struct binder_opts){ 0 });
}

/* spec: members of it, after minMember */
__attribute__((unused)) static void g_group(struct w *w, const char *name, int min,
                                            const char *spec)
{
    g_make(w, &w_groups,
           arena_printf(w->a, "'metadata': {'name': '%s'}, 'spec': {'minMember': %d%s}", name, min,
                        spec)
               .p);
}

#define GPUS(n) ", 'minResources': {'nvidia.com/gpu': '" #n "'}"

/* Pod GROUP-INDEX, of one GPU, of that group. */
static void g_pod_early(struct w *w, const char *group, const char *index, const char *role)
{
    w_make(w, &w_pods,
           arena_printf(w->a,
                        "{'metadata': {'name': '%s-%s', 'annotations': "
                        "{'scheduling.k8s.io/group-name': '%s', 'volcano.sh/task-spec': '%s'}}, "
                        "'spec': {'schedulerName': 'volcano', 'containers': [{'name': 'c', "
                        "'image': 'i', 'resources': {'limits': {'nvidia.com/gpu': '1'}}}]}}",
                        group, index, group, role)
               .p);
}

__attribute__((unused)) static void g_pod_of(struct w *w, const char *group, const char *index,
                                             const char *role)
{
    g_pod_early(w, group, index, role);
    w_settle(w);
}

__attribute__((unused)) static void g_pod(struct w *w, const char *group, const char *index)
{
    g_pod_of(w, group, index, "worker");
}

/* As a node writes it. */
__attribute__((unused)) static void g_pod_phase(struct w *w, const char *pod, const char *phase)
{
    w_patch(w, &w_pods, pod, "status", arena_printf(w->a, "{'status': {'phase': '%s'}}", phase).p);
    w_settle(w);
}

__attribute__((unused)) static jv g_status(struct w *w, const char *group)
{
    return jv_get(w_get(w, &w_groups, group), S("status"));
}

__attribute__((unused)) static str g_phase(struct w *w, const char *group)
{
    return jv_str(jv_get(g_status(w, group), S("phase")), S(""));
}

/* "True NotEnoughResources: message"; empty: there is no such condition */
__attribute__((unused)) static str g_condition(struct w *w, const char *group, const char *type)
{
    jv c = meta_condition(w_get(w, &w_groups, group), str_of(type));

    if (!jv_exists(c))
        return S("");
    return arena_printf(w->a, "%.*s %.*s: %.*s", STR_ARG(jv_str(jv_get(c, S("status")), S(""))),
                        STR_ARG(jv_str(jv_get(c, S("reason")), S(""))),
                        STR_ARG(jv_str(jv_get(c, S("message")), S(""))));
}
