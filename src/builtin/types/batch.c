/* batch/v1: jobs and cron jobs. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.batch.v1"
#define GO_PACKAGE "v1"

LOCAL_ENUM(batch, PodFailurePolicyOnExitCodesOperator, "In", "NotIn")

LOCAL_TYPE(batch, PodFailurePolicyOnExitCodesRequirement, PLAIN,
    F("containerName", STRING, PTR),
    F("operator", batch_PodFailurePolicyOnExitCodesOperator, REQ | KEEP),
    F("values", LIST(INT32, SET), REQ | KEEP))

LOCAL_TYPE(batch, PodFailurePolicyOnPodConditionsPattern, PLAIN,
    F("type", core_PodConditionType, REQ | KEEP),
    F("status", core_ConditionStatus, REQ | KEEP))

LOCAL_ENUM(batch, PodFailurePolicyAction, "Count", "FailIndex", "FailJob", "Ignore")

LOCAL_TYPE(batch, PodFailurePolicyRule, PLAIN,
    F("action", batch_PodFailurePolicyAction, REQ | KEEP),
    F("onExitCodes", batch_PodFailurePolicyOnExitCodesRequirement, PTR),
    F("onPodConditions", LIST(batch_PodFailurePolicyOnPodConditionsPattern), 0))

LOCAL_TYPE(batch, PodFailurePolicy, PLAIN,
    F("rules", LIST(batch_PodFailurePolicyRule), REQ | KEEP))

LOCAL_TYPE(batch, SuccessPolicyRule, PLAIN,
    F("succeededIndexes", STRING, PTR),
    F("succeededCount", INT32, PTR))

LOCAL_TYPE(batch, SuccessPolicy, PLAIN,
    F("rules", LIST(batch_SuccessPolicyRule), REQ | KEEP))

LOCAL_ENUM(batch, CompletionMode, "Indexed", "NonIndexed")
LOCAL_ENUM(batch, PodReplacementPolicy, "Failed", "TerminatingOrFailed")

LOCAL_TYPE(batch, JobSpec, PLAIN,
    F("parallelism", INT32, PTR, DOC("How many pods at the same time. 1 if unset.")),
    F("completions", INT32, PTR, DOC("How many pods must succeed.")),
    F("activeDeadlineSeconds", INT64, PTR,
      DOC("The longest that the job may be active; then it fails.")),
    F("podFailurePolicy", batch_PodFailurePolicy, PTR,
      DOC("Which failures count, and which end the job.")),
    F("successPolicy", batch_SuccessPolicy, PTR,
      DOC("When the job counts as done before all are.")),
    F("backoffLimit", INT32, PTR, DOC("How many failures before the job fails. 6 if unset.")),
    F("backoffLimitPerIndex", INT32, PTR),
    F("maxFailedIndexes", INT32, PTR),
    F("selector", meta_LabelSelector, PTR, DOC("Which pods are its own. Filled in.")),
    F("manualSelector", BOOL, PTR),
    F("template", core_PodTemplateSpec, REQ | KEEP, DOC("The pods to make.")),
    F("ttlSecondsAfterFinished", INT32, PTR, DOC("How long a finished job is kept.")),
    F("completionMode", batch_CompletionMode, PTR,
      DOC("NonIndexed, or Indexed: each pod has its own number.")),
    F("suspend", BOOL, PTR, DOC("Whether no pods should run for now.")),
    F("podReplacementPolicy", batch_PodReplacementPolicy, PTR),
    F("managedBy", STRING, PTR))

LOCAL_TYPE(batch, JobTemplateSpec, PLAIN,
    F("metadata", meta_ObjectMeta, KEEP),
    F("spec", batch_JobSpec, KEEP))

LOCAL_ENUM(batch, ConcurrencyPolicy, "Allow", "Forbid", "Replace")

LOCAL_TYPE(batch, CronJobSpec, PLAIN,
    F("schedule", STRING, REQ | KEEP, DOC("When, as five fields of cron.")),
    F("timeZone", STRING, PTR, DOC("Which clock, by its name in the zone database.")),
    F("startingDeadlineSeconds", INT64, PTR, DOC("How late a job may still start.")),
    F("concurrencyPolicy", batch_ConcurrencyPolicy, 0,
      DOC("Allow, Forbid or Replace, when the last job still runs.")),
    F("suspend", BOOL, PTR, DOC("Whether no jobs should start for now.")),
    F("jobTemplate", batch_JobTemplateSpec, REQ | KEEP, DOC("The jobs to make.")),
    F("successfulJobsHistoryLimit", INT32, PTR,
      DOC("How many finished jobs to keep. 3 if unset.")),
    F("failedJobsHistoryLimit", INT32, PTR, DOC("How many failed jobs to keep. 1 if unset.")))

LOCAL_TYPE(batch, CronJobStatus, PLAIN,
    F("active", LIST(core_ObjectReference), 0),
    F("lastScheduleTime", TIME, PTR),
    F("lastSuccessfulTime", TIME, PTR))

TYPE(batch, CronJob,
    DOC("Starts a job again and again, by the clock."),
    OBJECT_HEAD,
    F("spec", batch_CronJobSpec, KEEP, DOC("The desired state.")),
    F("status", batch_CronJobStatus, KEEP, DOC("The observed state. Written by the system.")))

LOCAL_STRING_TYPE(batch, JobConditionType)

LOCAL_TYPE(batch, JobCondition, PLAIN,
    F("type", batch_JobConditionType, REQ | KEEP),
    F("status", core_ConditionStatus, REQ | KEEP),
    F("lastProbeTime", TIME, KEEP),
    F("lastTransitionTime", TIME, KEEP),
    F("reason", STRING, 0),
    F("message", STRING, 0))

LOCAL_TYPE(batch, UncountedTerminatedPods, PLAIN,
    F("succeeded", LIST(meta_UID, SET), 0),
    F("failed", LIST(meta_UID, SET), 0))

LOCAL_TYPE(batch, JobStatus, PLAIN,
    F("conditions", LIST(batch_JobCondition, MERGE("type")), 0,
      DOC("The conditions of the object, one for each aspect.")),
    F("startTime", TIME, PTR, DOC("When the job began.")),
    F("completionTime", TIME, PTR, DOC("When it was done.")),
    F("active", INT32, 0, DOC("Pods that run or wait.")),
    F("succeeded", INT32, 0, DOC("Pods that have succeeded.")),
    F("failed", INT32, 0, DOC("Pods that have failed.")),
    F("terminating", INT32, PTR),
    F("completedIndexes", STRING, 0),
    F("failedIndexes", STRING, PTR),
    F("uncountedTerminatedPods", batch_UncountedTerminatedPods, PTR),
    F("ready", INT32, PTR, DOC("Pods that are ready.")))

TYPE(batch, Job,
    DOC("Runs pods until enough of them have succeeded."),
    OBJECT_HEAD,
    F("spec", batch_JobSpec, KEEP, DOC("The desired state.")),
    F("status", batch_JobStatus, KEEP, DOC("The observed state. Written by the system.")))
