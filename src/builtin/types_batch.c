/* batch/v1: jobs and cron jobs. */
/* clang-format off */

#include "builtin/type_table.h"

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
    F("parallelism", INT32, PTR),
    F("completions", INT32, PTR),
    F("activeDeadlineSeconds", INT64, PTR),
    F("podFailurePolicy", batch_PodFailurePolicy, PTR),
    F("successPolicy", batch_SuccessPolicy, PTR),
    F("backoffLimit", INT32, PTR),
    F("backoffLimitPerIndex", INT32, PTR),
    F("maxFailedIndexes", INT32, PTR),
    F("selector", meta_LabelSelector, PTR),
    F("manualSelector", BOOL, PTR),
    F("template", core_PodTemplateSpec, REQ | KEEP),
    F("ttlSecondsAfterFinished", INT32, PTR),
    F("completionMode", batch_CompletionMode, PTR),
    F("suspend", BOOL, PTR),
    F("podReplacementPolicy", batch_PodReplacementPolicy, PTR),
    F("managedBy", STRING, PTR))

LOCAL_TYPE(batch, JobTemplateSpec, PLAIN,
    F("metadata", meta_ObjectMeta, KEEP),
    F("spec", batch_JobSpec, KEEP))

LOCAL_ENUM(batch, ConcurrencyPolicy, "Allow", "Forbid", "Replace")

LOCAL_TYPE(batch, CronJobSpec, PLAIN,
    F("schedule", STRING, REQ | KEEP),
    F("timeZone", STRING, PTR),
    F("startingDeadlineSeconds", INT64, PTR),
    F("concurrencyPolicy", batch_ConcurrencyPolicy, 0),
    F("suspend", BOOL, PTR),
    F("jobTemplate", batch_JobTemplateSpec, REQ | KEEP),
    F("successfulJobsHistoryLimit", INT32, PTR),
    F("failedJobsHistoryLimit", INT32, PTR))

LOCAL_TYPE(batch, CronJobStatus, PLAIN,
    F("active", LIST(core_ObjectReference), 0),
    F("lastScheduleTime", TIME, PTR),
    F("lastSuccessfulTime", TIME, PTR))

TYPE(batch, CronJob, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("spec", batch_CronJobSpec, KEEP),
    F("status", batch_CronJobStatus, KEEP))

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
    F("conditions", LIST(batch_JobCondition, MERGE("type")), 0),
    F("startTime", TIME, PTR),
    F("completionTime", TIME, PTR),
    F("active", INT32, 0),
    F("succeeded", INT32, 0),
    F("failed", INT32, 0),
    F("terminating", INT32, PTR),
    F("completedIndexes", STRING, 0),
    F("failedIndexes", STRING, PTR),
    F("uncountedTerminatedPods", batch_UncountedTerminatedPods, PTR),
    F("ready", INT32, PTR))

TYPE(batch, Job, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("spec", batch_JobSpec, KEEP),
    F("status", batch_JobStatus, KEEP))
