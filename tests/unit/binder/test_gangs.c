/* Gangs of a binder that was told what one is: here ConfigMaps that control pods. */

#include "world.h"

static const struct kube_resource maps = { "", "v1", "configmaps", "ConfigMap", false };
static const struct kube_resource *const kinds[] = { &maps };

static jv read_map(struct arena *a, jv obj)
{
    jv data = jv_get(obj, S("data"));
    int64_t min;

    if (!str_to_int(jv_str(jv_get(data, S("min")), S("")), &min))
        return JV_ABSENT;
    return jobj(a,
                { "metadata", jobj(a, { "name", jv_at(obj, "metadata", "name") },
                                   { "namespace", jv_at(obj, "metadata", "namespace") },
                                   { "uid", jv_at(obj, "metadata", "uid") }) },
                { "kind", jstrz(a, "job") }, { "min", jint(a, min) },
                { "stopped", jbool(jv_exists(jv_get(data, S("stopped")))) },
                { "members", jobj(a, { "worker", jint(a, 3) }) });
}

static void open_world(struct w *w, int gpus)
{
    struct api_opts o = { .protect_storage = true };

    *w = (struct w){ .a = arena_new(),
                     .o = { .volumes_dir = S("/nowhere"),
                            .patience_ms = 300 * 1000,
                            .gangs = { kinds, COUNT(kinds), read_map, true } } };
    box_open(&w->box, NULL, &o);
    w_start(w);
    w_node(w, "n",
           arena_printf(w->a, "{'cpu': '9', 'pods': '99', 'nvidia.com/gpu': '%d'}", gpus).p);
}

static void make_gang(struct w *w, const char *name, int min)
{
    w_make(w, &maps,
           arena_printf(w->a, "{'metadata': {'name': '%s'}, 'data': {'min': '%d'}}", name, min).p);
}

/* A pod of that index; owner: of which gang it says it is. */
static jv member_of(struct w *w, const char *owner, int index)
{
    str uid = meta_uid(w_get(w, &maps, owner));

    return box_value(
        w->a, arena_printf(
                  w->a,
                  "{'metadata': {'name': '%s-%d', 'labels': {'training.kubeflow.org/replica-type': "
                  "'worker', 'training.kubeflow.org/replica-index': '%d'}, 'ownerReferences': "
                  "[{'apiVersion': 'v1', 'kind': 'ConfigMap', 'name': '%s', 'uid': '%.*s', "
                  "'controller': true}]}, 'spec': {'containers': [{'name': 'c', 'image': 'i', "
                  "'resources': {'limits': {'nvidia.com/gpu': '1'}}}]}}",
                  owner, index, index, owner, STR_ARG(uid))
                  .p);
}

static void member(struct w *w, const char *owner, int index)
{
    w_do(w, KUBE_CREATE, &w_pods, "", "", member_of(w, owner, index));
    w_settle(w);
}

static void whole_or_not_at_all(void)
{
    struct w w;

    open_world(&w, 3);
    make_gang(&w, "a", 2);
    member(&w, "a", 0);
    is_str(w_node_of(&w, "a-0"), S(""), "one of two waits for the other");
    is_str(w_why(&w, "a-0"), S(""), "and nothing is told, as that may be about to come");
    member(&w, "a", 7);
    is_str(w_node_of(&w, "a-0"), S(""), "a pod whose index the gang does not have is none of it");
    is_str(w_node_of(&w, "a-7"), S(""), "and does not start before it");
    member(&w, "a", 1);
    is_str(w_node_of(&w, "a-0"), S("n"), "they start");
    is_str(w_node_of(&w, "a-1"), S("n"), "together");
    is_str(w_node_of(&w, "a-7"), S("n"), "what is left is for that pod");
    make_gang(&w, "b", 2);
    member(&w, "b", 0);
    member(&w, "b", 1);
    is_str(w_node_of(&w, "b-0"), S(""), "without room for both none starts");
    ok(str_contains(w_why(&w, "b-0"),
                    S("In short: needs 2 nvidia.com/gpu, this machine has 3, 0 free")),
       "which is told");
    w_delete(&w, &w_pods, "a-7");
    is_str(w_node_of(&w, "b-0"), S(""), "nor with room for one");
    w_patch(&w, &maps, "b", "", "{'data': {'min': '1'}}");
    w_settle(&w);
    is_str(w_node_of(&w, "b-0"), S("n"), "but when one is enough");
    w_close(&w);
}

static void a_replacement_gets_what_was_kept(void)
{
    struct w w;

    open_world(&w, 2);
    make_gang(&w, "a", 2);
    member(&w, "a", 0);
    member(&w, "a", 1);
    w_pod(&w, "other", "{'nvidia.com/gpu': '1'}", "");
    w_settle(&w);
    w_delete(&w, &w_pods, "a-1");
    is_str(w_node_of(&w, "other"), S(""), "what a member had is kept when it is gone");
    member(&w, "a", 1);
    is_str(w_node_of(&w, "a-1"), S("n"), "its replacement gets it");
    w_delete(&w, &w_pods, "a-0");
    w_patch(&w, &maps, "a", "", "{'data': {'stopped': 'yes'}}");
    w_settle(&w);
    is_str(w_node_of(&w, "other"), S("n"), "of a gang that is stopped nothing is kept");
    w_close(&w);
}

static void a_restart_counts_those_that_run(void)
{
    struct w w;

    open_world(&w, 3);
    make_gang(&w, "a", 2);
    member(&w, "a", 0);
    member(&w, "a", 1);
    binder_free(w.b);
    w_start(&w);
    member(&w, "a", 2);
    is_str(w_node_of(&w, "a-2"), S("n"), "growth after a restart goes pod by pod");
    w_pod(&w, "other", "{'nvidia.com/gpu': '1'}", "");
    w_settle(&w);
    w_delete(&w, &w_pods, "a-0");
    is_str(w_node_of(&w, "other"), S(""), "what its members have is kept");
    w_close(&w);
}

/* The uid of a gang is all that a pod elsewhere needs to say that it is a member. */
static void pods_of_other_namespaces_are_no_members(void)
{
    struct w w;

    open_world(&w, 9);
    make_gang(&w, "a", 2);
    member(&w, "a", 0);
    struct kube_request r = {
        .verb = KUBE_CREATE, .res = &w_pods, .ns = S("kube-system"), .body = member_of(&w, "a", 2)
    };
    is_int(box_ask(&w.box, w.a, &r).err.code, ERR_OK, "another user makes one");
    w_settle(&w);
    uint64_t before = binder_writes(w.b);
    member(&w, "a", 1);
    is_str(w_node_of(&w, "a-0"), S("n"), "the gang starts with its own");
    is_int((int64_t)(binder_writes(w.b) - before), 1, "which are bound by one request");
    w_close(&w);
}

static void a_pod_of_a_podgroup_is_in_no_other_gang(void)
{
    struct w w;

    open_world(&w, 3);
    make_gang(&w, "a", 2);
    jv pod = member_of(&w, "a", 0);
    pod = jv_with(w.a, pod, jstrz(w.a, "x"), "metadata", "labels", "scheduling.x-k8s.io/pod-group");
    w_do(&w, KUBE_CREATE, &w_pods, "", "", pod);
    w_settle(&w);
    member(&w, "a", 1);
    is_str(w_node_of(&w, "a-1"), S(""), "a pod that names a PodGroup is no member of its job's");
    is_str(w_node_of(&w, "a-0"), S(""), "it waits for its group");
    member(&w, "a", 2);
    is_str(w_node_of(&w, "a-1"), S("n"), "others make the gang whole");
    w_close(&w);
}

int main(void)
{
    pods_of_other_namespaces_are_no_members();
    whole_or_not_at_all();
    a_replacement_gets_what_was_kept();
    a_restart_counts_those_that_run();
    a_pod_of_a_podgroup_is_in_no_other_gang();
    return tap_done();
}
