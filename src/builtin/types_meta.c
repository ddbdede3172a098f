/* metav1: what all objects share. */
/* clang-format off */

#include "builtin/type_table.h"

#define PACKAGE "io.k8s.apimachinery.pkg.apis.meta.v1"
#define GO_PACKAGE "v1"

TYPES_STRING(meta, UID)

LOCAL_TYPE(meta, OwnerReference, ATOMIC,
    F("apiVersion", STRING, REQ | KEEP),
    F("kind", STRING, REQ | KEEP),
    F("name", STRING, REQ | KEEP),
    F("uid", meta_UID, REQ | KEEP),
    F("controller", BOOL, PTR),
    F("blockOwnerDeletion", BOOL, PTR))

LOCAL_STRING_TYPE(meta, ManagedFieldsOperationType)

LOCAL_TYPE(meta, ManagedFieldsEntry, PLAIN,
    F("manager", STRING, 0),
    F("operation", meta_ManagedFieldsOperationType, 0),
    F("apiVersion", STRING, 0),
    F("time", TIME, PTR),
    F("fieldsType", STRING, 0),
    F("fieldsV1", FIELDS_V1, PTR),
    F("subresource", STRING, 0))

TYPE(meta, ObjectMeta, PLAIN,
    F("name", STRING, 0),
    F("generateName", STRING, 0),
    F("namespace", STRING, 0),
    F("selfLink", STRING, 0),
    F("uid", meta_UID, 0),
    F("resourceVersion", STRING, 0),
    F("generation", INT64, 0),
    F("creationTimestamp", TIME, 0),
    F("deletionTimestamp", TIME, PTR),
    F("deletionGracePeriodSeconds", INT64, PTR),
    F("labels", MAP(STRING), 0),
    F("annotations", MAP(STRING), 0),
    F("ownerReferences", LIST(meta_OwnerReference, BY("uid"), MERGE("uid")), 0),
    F("finalizers", LIST(STRING, SET, MERGE_VALUES), 0),
    F("managedFields", LIST(meta_ManagedFieldsEntry), 0))

TYPE(meta, ListMeta, PLAIN,
    F("selfLink", STRING, 0),
    F("resourceVersion", STRING, 0),
    F("continue", STRING, 0),
    F("remainingItemCount", INT64, PTR))

LOCAL_TYPE(meta, Preconditions, PLAIN,
    F("uid", meta_UID, PTR),
    F("resourceVersion", STRING, PTR))

LOCAL_STRING_TYPE(meta, DeletionPropagation)

TYPE(meta, DeleteOptions, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("gracePeriodSeconds", INT64, PTR),
    F("preconditions", meta_Preconditions, PTR),
    F("orphanDependents", BOOL, PTR),
    F("propagationPolicy", meta_DeletionPropagation, PTR),
    F("dryRun", LIST(STRING), 0),
    F("ignoreStoreReadErrorWithClusterBreakingPotential", BOOL, PTR))

LOCAL_STRING_TYPE(meta, CauseType)

LOCAL_TYPE(meta, StatusCause, PLAIN,
    F("reason", meta_CauseType, 0),
    F("message", STRING, 0),
    F("field", STRING, 0))

LOCAL_TYPE(meta, StatusDetails, PLAIN,
    F("name", STRING, 0),
    F("group", STRING, 0),
    F("kind", STRING, 0),
    F("uid", meta_UID, 0),
    F("causes", LIST(meta_StatusCause), 0),
    F("retryAfterSeconds", INT32, 0))

STRING_TYPE(meta, StatusReason)

TYPE(meta, Status, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ListMeta, KEEP),
    F("status", STRING, 0),
    F("message", STRING, 0),
    F("reason", meta_StatusReason, 0),
    F("details", meta_StatusDetails, PTR),
    F("code", INT32, 0))

LOCAL_STRING_TYPE(meta, LabelSelectorOperator)

TYPE(meta, LabelSelectorRequirement, PLAIN,
    F("key", STRING, REQ | KEEP),
    F("operator", meta_LabelSelectorOperator, REQ | KEEP),
    F("values", LIST(STRING), 0))

TYPE(meta, LabelSelector, ATOMIC,
    F("matchLabels", MAP(STRING), 0),
    F("matchExpressions", LIST(meta_LabelSelectorRequirement), 0))

LOCAL_STRING_TYPE(meta, ConditionStatus)

TYPE(meta, Condition, PLAIN,
    F("type", STRING, REQ | KEEP),
    F("status", meta_ConditionStatus, REQ | KEEP),
    F("observedGeneration", INT64, 0),
    F("lastTransitionTime", TIME, REQ | KEEP),
    F("reason", STRING, REQ | KEEP),
    F("message", STRING, REQ | KEEP))

TYPE_AS(meta, LabelSelectorReplaced, LabelSelector, ATOMIC, REPLACED)
LOCAL_STRING_TYPE(meta, FieldSelectorOperator)

TYPE(meta, FieldSelectorRequirement, PLAIN,
    F("key", STRING, REQ | KEEP),
    F("operator", meta_FieldSelectorOperator, REQ | KEEP),
    F("values", LIST(STRING), 0))
