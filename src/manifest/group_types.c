/* PodGroups and Queues as type tables. What only Volcano's own scheduler understands is kept as it
 * comes. */
/* clang-format off */

#include "manifest/types.h"

#include "builtin/types/type_table.h"

#define PACKAGE "sh.volcano.scheduling.v1beta1"
#define GO_PACKAGE "v1beta1"

#define RESOURCES MAP(QUANTITY)
#define ANYTHING MAP(schema_raw)

TYPE(group, VolcanoSpec,
    DOC("How many pods start together, and what for."),
    F("minMember", INT32, 0, DOC("How many pods must fit before any starts.")),
    F("minTaskMember", MAP(INT32), 0,
      DOC("The same for each role: annotation volcano.sh/task-spec of the pods.")),
    F("minResources", RESOURCES, 0,
      DOC("What must be free before the group is let in. If unset it is let in at once.")),
    F("queue", STRING, 0, DOC("The Queue to wait in. If there is none the group is never let in.")),
    F("priorityClassName", STRING, 0, DOC("How important the group is.")),
    F("subGroupPolicy", LIST(ANYTHING), 0, DOC("Kept, without effect here.")),
    F("networkTopology", ANYTHING, 0, DOC("Kept, without effect here.")),
    F("preemptable", BOOL, 0, DOC("Kept, without effect here.")))

LOCAL_TYPE(group, Condition,
    DOC("Something that is so, or is so no more."),
    F("type", STRING, 0, DOC("Unschedulable or Scheduled.")),
    F("status", STRING, 0, DOC("True, False or Unknown.")),
    F("transitionID", STRING, 0, DOC("Which look at the group this comes from.")),
    F("lastTransitionTime", TIME, 0, DOC("When status last changed.")),
    F("reason", STRING, 0, DOC("Why, in one word for programs.")),
    F("message", STRING, 0, DOC("Why, for people.")))

TYPE(group, VolcanoStatus,
    DOC("What is so, as the scheduler sees it."),
    F("phase", STRING, 0, DOC("Pending, Inqueue, Running, Unknown or Completed.")),
    F("conditions", LIST(group_Condition), 0, DOC("Whether it was let in, and why not.")),
    F("running", INT32, 0, DOC("How many pods run.")),
    F("succeeded", INT32, 0, DOC("How many have ended well.")),
    F("failed", INT32, 0, DOC("How many have ended badly.")))

LOCAL_TYPE(group, Guarantee,
    DOC("Kept, without effect here."),
    F("resource", RESOURCES, 0))

LOCAL_TYPE(group, Cluster,
    DOC("Kept, without effect here."),
    F("name", STRING, 0),
    F("weight", INT32, 0),
    F("capacity", RESOURCES, 0))

TYPE(group, QueueSpec,
    DOC("What the groups of the queue may use together."),
    F("weight", INT32, 0, DOC("Its share, when several queues want more than there is.")),
    F("capability", RESOURCES, 0, DOC("The most that its groups may use together.")),
    F("dequeueStrategy", STRING, 0,
      DOC("traverse: later groups pass the first that does not fit; fifo: none does.")),
    F("reclaimable", BOOL, PTR, DOC("Kept, without effect here.")),
    F("priority", INT32, 0, DOC("Kept, without effect here.")),
    F("parent", STRING, 0, DOC("Kept, without effect here.")),
    F("guarantee", group_Guarantee, 0, DOC("Kept, without effect here.")),
    F("deserved", RESOURCES, 0, DOC("Kept, without effect here.")),
    F("affinity", ANYTHING, 0, DOC("Kept, without effect here.")),
    F("type", STRING, 0, DOC("Kept, without effect here.")),
    F("extendClusters", LIST(group_Cluster), 0, DOC("Kept, without effect here.")))

LOCAL_TYPE(group, Reservation,
    DOC("Kept, without effect here."),
    F("nodes", LIST(STRING), 0),
    F("resource", RESOURCES, 0))

TYPE(group, QueueStatus,
    DOC("What is so, as the scheduler sees it."),
    F("state", STRING, 0, DOC("Open, Closed, Closing or Unknown. A closed queue lets nothing in.")),
    F("allocated", RESOURCES, 0, DOC("What its groups use.")),
    F("pending", INT32, 0, DOC("How many of its groups are Pending.")),
    F("inqueue", INT32, 0, DOC("How many are Inqueue.")),
    F("running", INT32, 0, DOC("How many are Running.")),
    F("unknown", INT32, 0, DOC("How many are Unknown.")),
    F("completed", INT32, 0, DOC("How many are Completed.")),
    F("reservation", group_Reservation, 0, DOC("Kept, without effect here.")))

TYPE(group, PluginsSpec,
    DOC("How many pods start together, and what for."),
    F("minMember", INT32, 0, DOC("How many pods must fit before any starts.")),
    F("minResources", RESOURCES, 0, DOC("What must be free before any starts.")),
    F("scheduleTimeoutSeconds", INT32, PTR, DOC("Kept, without effect here.")))

TYPE(group, PluginsStatus,
    DOC("What is so, as the scheduler sees it."),
    F("phase", STRING, 0, DOC("Pending, Scheduling, Running, Unknown, Finished or Failed.")),
    F("occupiedBy", STRING, 0, DOC("Whose the pods are.")),
    F("running", INT32, 0, DOC("How many pods run.")),
    F("succeeded", INT32, 0, DOC("How many have ended well.")),
    F("failed", INT32, 0, DOC("How many have ended badly.")),
    F("scheduleStartTime", TIME, 0, DOC("When the scheduler first placed its pods.")))

LOCAL_TYPE(group, WorkloadReference,
    DOC("A template of groups; kept, without effect here."),
    F("workloadName", STRING, REQ, DOC("The Workload.")),
    F("podGroupTemplateName", STRING, REQ, DOC("Which of its templates.")))

LOCAL_TYPE(group, TemplateReference,
    DOC("What the group was made of; kept, without effect here."),
    F("workload", group_WorkloadReference, PTR, DOC("A template of a Workload.")))

LOCAL_EMPTY_TYPE(group, BasicPolicy)

LOCAL_TYPE(group, GangPolicy,
    DOC("Pods that start together."),
    F("minCount", INT32, REQ, DOC("How many pods must fit before any starts.")))

LOCAL_TYPE(group, SchedulingPolicy,
    DOC("How the pods start; exactly one of these."),
    F("basic", group_BasicPolicy, PTR, DOC("Each by itself.")),
    F("gang", group_GangPolicy, PTR, DOC("So many together, or none.")))

TYPE(group, KubeSpec,
    DOC("How many pods start together. It cannot be changed."),
    F("podGroupTemplateRef", group_TemplateReference, PTR,
      DOC("What the group was made of; kept, without effect here.")),
    F("schedulingPolicy", group_SchedulingPolicy, REQ, DOC("How the pods start.")),
    F("schedulingConstraints", ANYTHING, PTR, DOC("Kept, without effect here.")),
    F("resourceClaims", LIST(ANYTHING), 0, DOC("Kept, without effect here.")),
    F("disruptionMode", STRING, PTR, DOC("Kept, without effect here.")),
    F("priorityClassName", STRING, 0, DOC("How important the group is.")),
    F("priority", INT32, PTR, DOC("Kept, without effect here.")))

LOCAL_TYPE(group, KubeCondition,
    DOC("Something that is so, or is not."),
    F("type", STRING, REQ, DOC("PodGroupScheduled.")),
    F("status", STRING, REQ, DOC("True, False or Unknown.")),
    F("observedGeneration", INT64, 0, DOC("Of which state of the spec it tells.")),
    F("lastTransitionTime", TIME, REQ, DOC("When status last changed.")),
    F("reason", STRING, REQ, DOC("Why, in one word for programs.")),
    F("message", STRING, REQ, DOC("Why, for people.")))

TYPE(group, KubeStatus,
    DOC("What is so, as the scheduler sees it."),
    F("conditions", LIST(group_KubeCondition, BY("type")), 0,
      DOC("Whether its pods have started together, and why not.")),
    F("resourceClaimStatuses", LIST(ANYTHING), 0, DOC("Kept, without effect here.")))
