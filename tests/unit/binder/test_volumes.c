/* Claims get volumes with their first pod, keep them while in use, and give them back. */

#include "world.h"

#include <sys/stat.h>

#define ROOM "{'cpu': '2', 'memory': '1Gi', 'pods': '200'}"
#define CLAIM(name, more)                                                                         \
    "{'metadata': {'name': '" name "'}, 'spec': {'accessModes': ['ReadWriteOnce'], 'resources': " \
    "{'requests': {'storage': '1Gi'}}" more "}}"
#define USES(claim) \
    ", 'volumes': [{'name': 'v', 'persistentVolumeClaim': {'claimName': '" claim "'}}]"

static str phase(struct w *w, const struct kube_resource *res, const char *name)
{
    return jv_str(jv_at(w_get(w, res, name), "status", "phase"), S(""));
}

static const char *volume_of(struct w *w, const char *claim)
{
    return arena_z(w->a, jv_str(jv_at(w_get(w, &w_claims, claim), "spec", "volumeName"), S("")));
}

static void there_is_a_class(struct w *w)
{
    jv c = w_get(w, &w_classes, "local-path");

    is_str(jv_str(jv_at(c, "provisioner"), S("")), S("rancher.io/local-path"), "a class is there");
    is_str(
        jv_str(jv_at(c, "metadata", "annotations", "storageclass.kubernetes.io/is-default-class"),
               S("")),
        S("true"), "the default one");
}

static void a_claim_waits_for_its_pod(struct w *w, const char *dir)
{
    w_make(w, &w_claims, CLAIM("data", ""));
    w_settle(w);
    is_str(phase(w, &w_claims, "data"), S("Pending"), "a claim waits");
    is_str(w_events_of(w, "data", "WaitForFirstConsumer"),
           S("waiting for first consumer to be created before binding"), "and says for what");
    w_pod(w, "p", "{}", USES("data"));
    w_settle(w);
    jv claim = w_get(w, &w_claims, "data"), pv = w_get(w, &w_volumes, volume_of(w, "data"));
    is_str(phase(w, &w_claims, "data"), S("Bound"), "its first pod brings it a volume");
    is_str(w_node_of(w, "p"), S("n"), "and gets its node");
    is_json(jv_at(claim, "status"),
            "{'phase':'Bound','accessModes':['ReadWriteOnce'],'capacity':{'storage':'1Gi'}}",
            "the claim's status");
    is_str(jv_str(jv_at(pv, "status", "phase"), S("")), S("Bound"), "the volume is bound");
    is_str(jv_str(jv_at(pv, "spec", "hostPath", "path"), S("")),
           arena_printf(w->a, "%s/pvc-%.*s", dir, STR_ARG(meta_uid(claim))), "below the directory");
    is_json(jv_at(pv, "spec", "nodeAffinity", "required", "nodeSelectorTerms"),
            "[{'matchExpressions':[{'key':'kubernetes.io/hostname','operator':'In','values':['n']}]"
            "}]",
            "and on that node");
    is_str(w_events_of(w, "data", "ProvisioningSucceeded"),
           arena_printf(w->a, "Successfully provisioned volume %s", volume_of(w, "data")),
           "with an event");
    w_pod(
        w, "elsewhere", "{}",
        USES(
            "data") ", 'tolerations': [{'operator': 'Exists'}], 'nodeSelector': {'kubernetes.io/hostname': 'm'}");
    w_settle(w);
    is_str(
        w_why(w, "elsewhere"),
        S("0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 "
          "node(s) had volume node affinity conflict. no new claims to deallocate, preemption: "
          "0/2 nodes are available: 2 Preemption is not helpful for scheduling. In short: cannot run on "
          "any of the 2 nodes: 1 does not have the labels kubernetes.io/hostname=m, 1 cannot "
          "reach the pod's volume."),
        "a pod that has to be elsewhere waits");
}

static void what_is_in_use_stays(struct w *w, const char *dir)
{
    const char *volume = volume_of(w, "data");
    const char *path = arena_printf(w->a, "%s/%s", dir, volume).p;

    ok(mkdir(path, 0770) == 0, "the node makes the directory");
    w_delete(w, &w_claims, "data");
    ok(meta_being_deleted(w_get(w, &w_claims, "data")), "a claim in use stays");
    w_delete(w, &w_volumes, volume);
    ok(jv_exists(w_get(w, &w_volumes, volume)), "as does its volume");
    w_delete(w, &w_pods, "p");
    ok(!jv_exists(w_get(w, &w_claims, "data")), "until its pod is gone");
    ok(!jv_exists(w_get(w, &w_volumes, volume)), "the volume goes with it");
}

static void what_was_in_it_is_kept_a_while(struct w *w, const char *dir)
{
    w_make(w, &w_claims, CLAIM("kept", ""));
    w_pod(w, "k", "{}", USES("kept"));
    w_settle(w);
    const char *volume = volume_of(w, "kept");
    const char *path = arena_printf(w->a, "%s/%s", dir, volume).p;
    ok(mkdir(path, 0770) == 0, "data in a volume");
    w_delete(w, &w_pods, "k");
    w_delete(w, &w_claims, "kept");
    ok(!jv_exists(w_get(w, &w_volumes, volume)), "its claim is deleted, and so is it");
    ok(access(path, F_OK) < 0, "its directory is gone");
    ok(access(arena_printf(w->a, "%s/.trash", dir).p, F_OK) == 0, "to the trash");
}

static void names_of_classes_are_aliases(struct w *w)
{
    w_make(w, &w_claims, CLAIM("nfs", ", 'storageClassName': 'nfs-client'"));
    w_pod(w, "a", "{}", USES("nfs"));
    w_settle(w);
    is_str(phase(w, &w_claims, "nfs"), S("Bound"), "any class is served");
    is_str(w_events_of(w, "nfs", "UnknownStorageClass"),
           S("storageclass.storage.k8s.io \"nfs-client\" not found: local-path serves it"),
           "which is said");
    is_str(w_node_of(w, "a"), S("n"), "the pod runs");
}

static void volumes_made_by_hand(struct w *w)
{
    w_make(w, &w_volumes,
           "{'metadata': {'name': 'mine'}, 'spec': {'capacity': {'storage': '5Gi'}, 'accessModes': "
           "['ReadWriteOnce'], 'hostPath': {'path': '/srv/mine'}}}");
    w_settle(w);
    is_str(phase(w, &w_volumes, "mine"), S("Available"), "a volume is available");
    w_make(w, &w_claims, CLAIM("named", ", 'storageClassName': '', 'volumeName': 'mine'"));
    w_make(w, &w_claims, CLAIM("none", ", 'storageClassName': ''"));
    w_settle(w);
    is_str(phase(w, &w_claims, "named"), S("Bound"), "and bound by name");
    is_str(phase(w, &w_volumes, "mine"), S("Bound"), "from both sides");
    is_str(w_events_of(w, "none", "FailedBinding"),
           S("no persistent volumes available for this claim and no storage class is set"),
           "for the other there is none");
    w_delete(w, &w_claims, "named");
    is_str(phase(w, &w_volumes, "mine"), S("Released"), "it is kept when its claim goes");
}

static void no_two_get_one(struct w *w)
{
    char text[512];
    int bound = 0;

    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof(text),
                 "{'metadata': {'name': 'hand%d'}, 'spec': {'capacity': {'storage': '%dGi'}, "
                 "'accessModes': ['ReadWriteOnce'], 'storageClassName': 'hand', "
                 "'hostPath': {'path': '/srv/%d'}}}",
                 i, 2 + i % 2, i);
        w_make(w, &w_volumes, text);
        snprintf(text, sizeof(text), CLAIM("h%d", ", 'storageClassName': 'hand'"), i);
        w_make(w, &w_claims, text);
    }
    w_settle(w);
    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof(text), "hand%d", i);
        jv ref = jv_at(w_get(w, &w_volumes, text), "spec", "claimRef");
        const char *claim = arena_z(w->a, jv_str(jv_at(ref, "name"), S("?")));
        bound += str_eqz(str_of(volume_of(w, claim)), text) &&
                 str_eqz(phase(w, &w_claims, claim), "Bound");
    }
    is_int(bound, 4, "four claims, four volumes, one each");
}

static void a_claim_that_is_not_there(struct w *w)
{
    w_pod(w, "lost", "{}", USES("later"));
    w_settle(w);
    is_str(w_why(w, "lost"),
           S("0/2 nodes are available: persistentvolumeclaim \"later\" not found. no new claims to "
             "deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for "
             "scheduling."),
           "a claim that is not there");
    w_make(w, &w_claims, CLAIM("later", ""));
    w_settle(w);
    is_str(w_node_of(w, "lost"), S("n"), "comes later");
}

static void many_pods_share_one(struct w *w)
{
    char name[16];
    int placed = 0;

    w_make(w, &w_claims, CLAIM("shared", ""));
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof(name), "s%d", i);
        w_pod(w, name, "{}", USES("shared"));
    }
    w_settle(w);
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof(name), "s%d", i);
        placed += str_eqz(w_node_of(w, name), "n");
    }
    is_int(placed, 30, "pods that share a claim are all where it is");
}

static void strict_classes_wait(struct w *w)
{
    binder_free(w->b);
    w->o.strict_classes = true;
    w_start(w);
    w_make(w, &w_claims, CLAIM("strict", ", 'storageClassName': 'ceph'"));
    w_pod(w, "s", "{}", USES("strict"));
    w_settle(w);
    is_str(phase(w, &w_claims, "strict"), S("Pending"), "strictly, an unknown class waits");
    is_str(w_events_of(w, "strict", "ProvisioningFailed"),
           S("storageclass.storage.k8s.io \"ceph\" not found"), "and says so");
}

int main(void)
{
    char dir[] = "/tmp/binder-XXXXXX", trash[64];
    struct w w;

    if (!mkdtemp(dir))
        return 1;
    w_open(&w, dir);
    there_is_a_class(&w);
    w_node(&w, "n", ROOM);
    w_node(&w, "m", ROOM);
    w_patch(&w, &w_nodes, "m", "", "{'spec': {'taints': [{'key': 'k', 'effect': 'NoSchedule'}]}}");
    a_claim_waits_for_its_pod(&w, dir);
    what_is_in_use_stays(&w, dir);
    what_was_in_it_is_kept_a_while(&w, dir);
    names_of_classes_are_aliases(&w);
    volumes_made_by_hand(&w);
    no_two_get_one(&w);
    a_claim_that_is_not_there(&w);
    many_pods_share_one(&w);
    strict_classes_wait(&w);
    w_close(&w);
    snprintf(trash, sizeof(trash), "rm -rf %s", dir);
    if (system(trash)) /* NOLINT(cert-env33-c): a directory of our own */
        printf("# %s stays\n", dir);
    return tap_done();
}
