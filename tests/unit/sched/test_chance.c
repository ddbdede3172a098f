/* Whether a pod that waits can ever start: one pod a row. */

#include "sched/chance.h"
#include "tap.h"

#define READY "'conditions': [{'type': 'Ready', 'status': 'True'}]"
#define ROOM  "'allocatable': {'cpu': '2', 'memory': '4Gi', 'pods': '110', 'nvidia.com/gpu': '1'}"
#define BARE  "'allocatable': {'cpu': '2', 'memory': '4Gi', 'pods': '110'}"
#define NODE(room, meta, spec) \
    "{'metadata': {'name': 'n'" meta "}, 'spec': {" spec "}, 'status': {" room ", " READY "}}"
#define ONE "[" NODE(ROOM, "", "") "]"
#define WAITS(message)                                                                           \
    "'status': {'phase': 'Pending', 'conditions': [{'type': 'PodScheduled', 'status': 'False', " \
    "'reason': 'Unschedulable', 'message': '" message "'}]}"
#define ASKS(what) \
    "{'spec': {'containers': [{'resources': {'requests': {" what "}}}]}, " WAITS("no room") "}"
#define HELD(state)                                                                                    \
    "{'spec': {'nodeName': 'n'}, 'status': {'phase': 'Pending', 'containerStatuses': [{'image': 'x', " \
    "'state': {'waiting': {" state "}}}]}}"

enum { OWN = 1, MADE = 2 };

struct row {
    const char *what, *nodes, *pod, *mount;
    int own;
    enum chance want;
    const char *text; /* "what: help" */
};

static const struct row rows[] = {
    { "a pod that runs is fine", ONE, "{'status': {'phase': 'Running'}}", "", OWN, CHANCE_FINE,
      "" },
    { "so is one that nobody has looked at yet", ONE, "{'status': {'phase': 'Pending'}}", "", OWN,
      CHANCE_FINE, "" },
    { "and one that is going", ONE,
      "{'metadata': {'deletionTimestamp': '2026-01-01T00:00:00Z'}, 'spec': {'nodeSelector': {'a': 'b'}}, " WAITS(
          "x") "}",
      "", OWN, CHANCE_FINE, "" },
    { "a GPU that another pod has may come free", ONE, ASKS("'nvidia.com/gpu': '1'"), "", OWN,
      CHANCE_LATER, "" },
    { "all CPUs of the machine may come free", ONE, ASKS("'cpu': '2'"), "", OWN, CHANCE_LATER, "" },
    { "more CPUs than there are never do", ONE, ASKS("'cpu': '8'"), "", OWN, CHANCE_NEVER,
      "needs 8 CPUs, this machine has 2; never fits: lower resources.requests.cpu in spec.W, or run with "
      "--resources cpu=8" },
    { "nor do parts of them", ONE, ASKS("'cpu': '2001m'"), "", 0, CHANCE_NEVER,
      "needs 2001m CPUs, this machine has 2; never fits: lower resources.requests.cpu in spec.W, or start "
      "'muster up' with --resources cpu=2001m" },
    { "nor memory", ONE, ASKS("'memory': '64Gi'"), "", OWN, CHANCE_NEVER,
      "needs 64Gi of memory, this machine has 4Gi; never fits: lower resources.requests.memory in spec.W, "
      "or run with --resources memory=64Gi" },
    { "a GPU where there is none", "[" NODE(BARE, "", "") "]", ASKS("'nvidia.com/gpu': '1'"), "",
      OWN, CHANCE_NEVER,
      "needs 1 nvidia.com/gpu, this machine has none; never fits: remove resources.limits.nvidia.com/gpu in "
      "spec.W, or run with --resources nvidia.com/gpu=1" },
    { "a job made from a command has no YAML to change", ONE, ASKS("'cpu': '8'"), "", MADE,
      CHANCE_NEVER,
      "needs 8 CPUs, this machine has 2; never fits: lower --cpu, or run with --resources cpu=8" },
    { "a pod that never preempts is no other", ONE,
      "{'spec': {'preemptionPolicy': 'Never', 'containers': [{'resources': {'requests': {'cpu': '8'}}}]}, " WAITS(
          "x") "}",
      "", OWN, CHANCE_NEVER,
      "needs 8 CPUs, this machine has 2; never fits: lower resources.requests.cpu in spec.W, or run with "
      "--resources cpu=8" },
    { "init containers count by the greatest, so these fit", ONE,
      "{'spec': {'initContainers': [{'resources': {'requests': {'cpu': '2'}}}, {'resources': "
      "{'requests': {'cpu': '2'}}}], 'containers': [{'resources': {'requests': {'cpu': '1'}}}]}, " WAITS(
          "x") "}",
      "", OWN, CHANCE_LATER, "" },
    { "one large node of two is enough",
      "[" NODE(
          BARE, "",
          "") ", {'metadata': {'name': 'm'}, 'status': {'allocatable': {'cpu': '16', 'pods': '9'}, " READY
              "}}]",
      ASKS("'cpu': '8'"), "", 0, CHANCE_LATER, "" },
    { "of several nodes the greatest is named, and no flag",
      "[" NODE(
          BARE, "",
          "") ", {'metadata': {'name': 'm'}, 'status': {'allocatable': {'cpu': '16', 'pods': '9'}, " READY
              "}}]",
      ASKS("'cpu': '32'"), "", 0, CHANCE_NEVER,
      "needs 32 CPUs on one node, the most a node has is 16; never fits: lower resources.requests.cpu in spec.W" },
    { "labels that no node has", ONE, "{'spec': {'nodeSelector': {'disk': 'ssd'}}, " WAITS("x") "}",
      "", OWN, CHANCE_NEVER,
      "cannot run on this machine: it does not have the labels disk=ssd: remove nodeSelector in "
      "spec.W" },
    { "labels that a node has", "[" NODE(ROOM, ", 'labels': {'disk': 'ssd'}", "") "]",
      "{'spec': {'nodeSelector': {'disk': 'ssd'}}, " WAITS("x") "}", "", OWN, CHANCE_LATER, "" },
    { "affinity that no node has", ONE,
      "{'spec': {'affinity': {'nodeAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': "
      "{'nodeSelectorTerms': [{'matchExpressions': [{'key': 'a', 'operator': 'Exists'}]}]}}}}, " WAITS(
          "x") "}",
      "", OWN, CHANCE_NEVER,
      "cannot run on this machine: it does not match the pod's nodeSelector or node affinity: "
      "remove affinity.nodeAffinity in spec.W" },
    { "company that is not there may come", ONE,
      "{'metadata': {'labels': {'a': 'b'}}, 'spec': {'affinity': {'podAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': "
      "[{'topologyKey': 'host', 'labelSelector': {'matchLabels': {'c': 'd'}}}]}}}, " WAITS("x") "}",
      "", OWN, CHANCE_LATER, "" },
    { "a node that is cordoned and not ready may come back",
      "[" NODE(ROOM, "",
               "'unschedulable': true, 'taints': [{'key': 'node.kubernetes.io/not-ready', "
               "'effect': 'NoSchedule'}]") "]",
      ASKS("'cpu': '1'"), "", OWN, CHANCE_LATER, "" },
    { "a taint of another kind stays",
      "[" NODE(ROOM, "", "'taints': [{'key': 'k', 'value': 'v', 'effect': 'NoSchedule'}]") "]",
      ASKS("'cpu': '1'"), "", OWN, CHANCE_NEVER,
      "cannot run on this machine: it has the taint k=v, which the pod does not tolerate: change "
      "spec.W" },
    { "what the scheduler says is said again", ONE,
      "{'spec': {'containers': [{'resources': {'requests': {'cpu': '8'}}}]}, " WAITS(
          "0/1 nodes. In short: needs 8 CPUs, this machine has 2, 1 free; never fits.") "}",
      "", OWN, CHANCE_NEVER,
      "needs 8 CPUs, this machine has 2, 1 free; never fits: lower resources.requests.cpu in "
      "spec.W, or run with --resources cpu=8" },
    { "a gang needs more than its pod", ONE,
      "{'spec': {'containers': [{'resources': {'requests': {'cpu': '8'}}}]}, " WAITS(
          "x. In short: needs 16 CPUs, this machine has 2, 2 free; never fits.") "}",
      "", MADE, CHANCE_NEVER,
      "needs 16 CPUs, this machine has 2, 2 free; never fits: lower --cpu, or run with --resources "
      "cpu=16" },
    { "also of a GPU", "[" NODE(BARE, "", "") "]",
      "{'spec': {'containers': [{'resources': {'requests': {'nvidia.com/gpu': '1'}}}]}, " WAITS(
          "x. In short: needs 2 nvidia.com/gpu, this machine has none; never fits.") "}",
      "", MADE, CHANCE_NEVER,
      "needs 2 nvidia.com/gpu, this machine has none; never fits: remove --gpus, or run with "
      "--resources nvidia.com/gpu=2" },
    { "a sentence about another resource says nothing of this one", ONE,
      "{'spec': {'containers': [{'resources': {'requests': {'cpu': '8'}}}]}, " WAITS(
          "x. In short: needs 64Gi of memory, this machine has 4Gi; never fits.") "}",
      "", MADE, CHANCE_NEVER,
      "needs 64Gi of memory, this machine has 4Gi; never fits: lower --cpu, or run with "
      "--resources cpu=8" },
    { "a gang that never fits is no pod that may start", ONE, ASKS("'cpu': '1'"), "", OWN,
      CHANCE_LATER, "" },
    { "when the scheduler says so", ONE,
      "{'spec': {'containers': [{'resources': {'requests': {'cpu': '1'}}}]}, " WAITS(
          "x. In short: needs 3 CPUs, this machine has 2, 2 free; never fits: its 3 pods start "
          "together.") "}",
      "", OWN, CHANCE_NEVER,
      "needs 3 CPUs, this machine has 2, 2 free; never fits: its 3 pods start together: lower what "
      "its replicas ask for, or how many they are" },
    { "no node yet", "[]", ASKS("'cpu': '8'"), "", OWN, CHANCE_LATER, "" },
    { "a claim that is not there, in a cluster of its own", ONE,
      "{'spec': {}, " WAITS(
          "0/1 nodes are available: persistentvolumeclaim \\'data\\' not found.") "}",
      "", OWN, CHANCE_NEVER,
      "needs the PersistentVolumeClaim data, which does not exist: add it to the files" },
    { "and in another's", ONE,
      "{'spec': {}, " WAITS(
          "0/1 nodes are available: persistentvolumeclaim \\'data\\' not found.") "}",
      "", 0, CHANCE_LATER, "" },
    { "an image without a mapping", ONE, HELD("'reason': 'ImageNotMapped', 'message': 'm'"), "", 0,
      CHANCE_NEVER,
      "names no command and its image x is not mapped: add a command to spec.W.containers, or map "
      "the image: muster image map --help" },
    { "a ConfigMap that is not there", ONE,
      HELD("'reason': 'CreateContainerConfigError', 'message': 'configmap \\'c\\' not found'"), "",
      OWN, CHANCE_NEVER, "needs the ConfigMap c, which does not exist: add it to the files" },
    { "may come from somebody else, if there is one", ONE,
      HELD("'reason': 'CreateContainerConfigError', 'message': 'configmap \\'c\\' not found'"), "",
      0, CHANCE_LATER, "" },
    { "another mistake in its settings", ONE,
      HELD("'reason': 'CreateContainerConfigError', 'message': 'runs as root'"), "", OWN,
      CHANCE_NEVER, "cannot be started: runs as root: change spec.W" },
    { "a Secret to be mounted", ONE, HELD("'reason': 'ContainerCreating'"),
      "MountVolume.SetUp failed for volume 'v' : secret 's' not found", OWN, CHANCE_NEVER,
      "needs the Secret s, which does not exist: add it to the files" },
    { "a mount that fails otherwise may work later", ONE, HELD("'reason': 'ContainerCreating'"),
      "MountVolume.SetUp failed for volume 'v' : no space left", OWN, CHANCE_FINE, "" },
    { "a path that is not there", ONE,
      HELD(
          "'reason': 'HostPathMissing', 'message': 'MountVolume.SetUp failed for volume \\'v\\' : hostPath /x does not exist on this machine'"),
      "", OWN, CHANCE_NEVER,
      "cannot be started: hostPath /x does not exist on this machine: create it, or change volumes "
      "in spec.W" },
    { "may come on the machine of a server", ONE,
      HELD("'reason': 'HostPathMissing', 'message': 'hostPath /x does not exist on this machine'"),
      "", 0, CHANCE_LATER, "" },
    { "a path that is refused stays so", ONE,
      HELD("'reason': 'HostPathRefused', 'message': 'not /x'"), "", 0, CHANCE_NEVER,
      "cannot be started: not /x: change volumes in spec.W" },
    { "a pause between restarts is no such thing", ONE, HELD("'reason': 'CrashLoopBackOff'"), "",
      OWN, CHANCE_FINE, "" },
    { "a scheduler that is not there", ONE,
      "{'spec': {'schedulerName': 'other'}, 'status': {'phase': 'Pending'}}", "", OWN, CHANCE_NEVER,
      "waits for the scheduler other, which does not run here: remove schedulerName in spec.W" },
    { "ours schedules pods that name volcano, too", ONE,
      "{'spec': {'schedulerName': 'volcano'}, 'status': {'phase': 'Pending'}}", "", OWN,
      CHANCE_FINE, "" },
    { "may be there in another's cluster", ONE,
      "{'spec': {'schedulerName': 'other'}, 'status': {'phase': 'Pending'}}", "", 0, CHANCE_LATER,
      "" },
};

static void judge(const struct row *r)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(jdoc) struct jdoc *nodes = J(r->nodes);
    AUTO(jdoc) struct jdoc *pod = J(r->pod);
    struct sched_node node[4];
    const struct sched_node *at[4];
    size_t n = 0;

    for (struct jv_iter it = jv_iter(jdoc_root(nodes)); jv_next(&it); n++) {
        node[n] = sched_node_read(a, it.value);
        at[n] = &node[n];
    }
    char mount[128] = "";
    snprintf(mount, sizeof(mount), "%s", r->mount);
    for (char *c = mount; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    struct chance_in in = { .pod = jdoc_root(pod),
                            .nodes = at,
                            .n_nodes = n,
                            .own = r->own,
                            .made = r->own == MADE,
                            .mount_failure = str_of(mount),
                            .where = S("spec.W") };
    struct chance_out out = chance_of(a, &in);
    is_int(out.chance, r->want, r->what);
    if (r->want == CHANCE_NEVER)
        is_str(arena_printf(a, "%" PRI_STR ": %" PRI_STR, STR_ARG(out.what), STR_ARG(out.help)),
               str_of(r->text), r->what);
}

int main(void)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        judge(&rows[i]);
    return tap_done();
}
