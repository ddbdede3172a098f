/* What all job kinds share, as type tables: spec without what is the kind's own, and status. */
/* clang-format off */

#include "manifest/types.h"

#include "builtin/types/type_table.h"

#define PACKAGE "org.kubeflow.v1"
#define GO_PACKAGE "v1"

/* Templates keep of their metadata what a pod can be given. */
TYPE(job, TemplateMeta, PLAIN,
    F("annotations", MAP(STRING), 0),
    F("finalizers", LIST(STRING), 0),
    F("labels", MAP(STRING), 0),
    F("name", STRING, 0),
    F("namespace", STRING, 0))

LOCAL_TYPE(job, SchedulingPolicy,
    DOC("How a gang scheduler treats the pods of the job, as a whole."),
    F("minAvailable", INT32, PTR,
      DOC("How many pods must fit before any starts. All of them if unset.")),
    F("queue", STRING, 0, DOC("The queue to wait in. Cannot change.")),
    F("minResources", MAP(QUANTITY), 0,
      DOC("What must be free before any pod starts. Added up from the pods if unset.")),
    F("priorityClass", STRING, 0, DOC("How important the job is to the gang scheduler.")),
    F("scheduleTimeoutSeconds", INT32, PTR, DOC("How long to wait for room.")))

TYPE(job, RunPolicy,
    DOC("When the job stops, and what remains of it then."),
    F("cleanPodPolicy", STRING, PTR,
      DOC("Which pods go once the job has finished: All, Running (those that still run) or None, "
          "the default.")),
    F("ttlSecondsAfterFinished", INT32, PTR,
      DOC("How long the job stays after it has finished. For ever if unset.")),
    F("activeDeadlineSeconds", INT64, PTR,
      DOC("The longest that the job may run; then it fails.")),
    F("backoffLimit", INT32, PTR,
      DOC("How many restarts make the job fail. No limit if unset.")),
    F("schedulingPolicy", job_SchedulingPolicy, PTR,
      DOC("How a gang scheduler treats the job.")),
    F("suspend", BOOL, PTR,
      DOC("Whether to hold the job: its pods go, and come back when this is false.")),
    F("managedBy", STRING, PTR,
      DOC("Who runs the job: kubeflow.org/training-operator, which is also meant when unset, or "
          "kueue.x-k8s.io/multikueue. Cannot change.")))

TYPE(job, ReplicaSpec,
    DOC("One sort of replica, and how many."),
    F("replicas", INT32, PTR, DOC("How many pods.")),
    F("template", core_PodTemplateSpec, 0, DOC("What each pod is like.")),
    F("restartPolicy", STRING, 0,
      DOC("When a replica fails: Always and OnFailure start it again, Never fails the job, "
          "ExitCode starts it again if the code is 128 or more.")))

LOCAL_TYPE(job, JobCondition,
    DOC("Something that is so, or is so no more."),
    F("type", STRING, REQ, DOC("Created, Running, Restarting, Suspended, Succeeded or Failed.")),
    F("status", STRING, REQ, DOC("True, False or Unknown.")),
    F("reason", STRING, 0, DOC("Why, in one word for programs.")),
    F("message", STRING, 0, DOC("Why, for people.")),
    F("lastUpdateTime", TIME, 0, DOC("When any of this last changed.")),
    F("lastTransitionTime", TIME, 0, DOC("When status last changed.")))

LOCAL_TYPE(job, ReplicaStatus,
    DOC("How the pods of one type are doing."),
    F("active", INT32, 0, DOC("How many run.")),
    F("succeeded", INT32, 0, DOC("How many have ended well.")),
    F("failed", INT32, 0, DOC("How many have ended badly.")),
    F("selector", STRING, 0, DOC("A label selector that finds them.")),
    F("labelSelector", meta_LabelSelector, PTR, DOC("No longer set; see selector.")))

TYPE(job, JobStatus,
    DOC("What is so, as the operator sees it."),
    F("conditions", LIST(job_JobCondition), 0,
      DOC("What is so, in the order in which it came about.")),
    F("replicaStatuses", MAP(job_ReplicaStatus), 0, DOC("How the pods are doing, by type.")),
    F("startTime", TIME, PTR, DOC("When the job was taken on, or last resumed.")),
    F("completionTime", TIME, PTR, DOC("When the job succeeded or failed.")),
    F("lastReconcileTime", TIME, PTR, DOC("When the operator last waited for a pod group.")))
