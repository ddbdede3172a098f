/* metav1: what all objects share. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.apimachinery.pkg.apis.meta.v1"
#define GO_PACKAGE "v1"

TYPES_STRING(meta, UID)

LOCAL_TYPE(meta, OwnerReference, ATOMIC,
    F("apiVersion", STRING, REQ | KEEP, DOC("Of the owner.")),
    F("kind", STRING, REQ | KEEP, DOC("Of the owner.")),
    F("name", STRING, REQ | KEEP, DOC("Of the owner.")),
    F("uid", meta_UID, REQ | KEEP, DOC("Of the owner.")),
    F("controller", BOOL, PTR, DOC("Whether this owner manages the object. At most one does.")),
    F("blockOwnerDeletion", BOOL, PTR,
      DOC("Whether deleting the owner in the foreground waits for this object.")))

LOCAL_STRING_TYPE(meta, ManagedFieldsOperationType)

LOCAL_TYPE(meta, ManagedFieldsEntry, PLAIN,
    F("manager", STRING, 0),
    F("operation", meta_ManagedFieldsOperationType, 0),
    F("apiVersion", STRING, 0),
    F("time", TIME, PTR),
    F("fieldsType", STRING, 0),
    F("fieldsV1", FIELDS_V1, PTR),
    F("subresource", STRING, 0))

TYPE(meta, ObjectMeta,
    DOC("What all objects have: names, labels, owners and history."),
    F("name", STRING, 0, DOC("Unique among its kind in its namespace. Cannot change.")),
    F("generateName", STRING, 0,
      DOC("Start of a name that the server completes, used if name is empty.")),
    F("namespace", STRING, 0,
      DOC("Where the object lives. Empty for kinds that live outside of namespaces.")),
    F("selfLink", STRING, 0, DOC("No longer filled in.")),
    F("uid", meta_UID, 0, DOC("Unique in space and time. Set by the server.")),
    F("resourceVersion", STRING, 0,
      DOC("Changes with every change. Send it back to be told of changes in between.")),
    F("generation", INT64, 0, DOC("Counts changes of the desired state. Set by the server.")),
    F("creationTimestamp", TIME, 0, DOC("When the object was made. Set by the server.")),
    F("deletionTimestamp", TIME, PTR,
      DOC("When deletion was asked for; the object goes once finalizers is empty.")),
    F("deletionGracePeriodSeconds", INT64, PTR,
      DOC("Time left to stop in good order, once deletion was asked for.")),
    F("labels", MAP(STRING), 0, DOC("Short values to select objects by.")),
    F("annotations", MAP(STRING), 0, DOC("Free values that nothing selects by.")),
    F("ownerReferences", LIST(meta_OwnerReference, BY("uid"), MERGE("uid")), 0,
      DOC("The objects this one belongs to. When all are gone, so is this one.")),
    F("finalizers", LIST(STRING, SET, MERGE_VALUES), 0,
      DOC("Who still has work to do before the object may go.")),
    F("managedFields", LIST(meta_ManagedFieldsEntry), 0,
      DOC("Who last set which fields, and how. Kept by the server.")))

TYPE(meta, ListMeta,
    DOC("What all lists have."),
    F("selfLink", STRING, 0),
    F("resourceVersion", STRING, 0),
    F("continue", STRING, 0),
    F("remainingItemCount", INT64, PTR))

LOCAL_TYPE(meta, Preconditions, PLAIN,
    F("uid", meta_UID, PTR),
    F("resourceVersion", STRING, PTR))

LOCAL_STRING_TYPE(meta, DeletionPropagation)

TYPE(meta, DeleteOptions,
    DOC("How to delete."),
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("gracePeriodSeconds", INT64, PTR, DOC("Time to stop in good order; 0 is at once.")),
    F("preconditions", meta_Preconditions, PTR, DOC("Delete only if these hold.")),
    F("orphanDependents", BOOL, PTR, DOC("Use propagationPolicy.")),
    F("propagationPolicy", meta_DeletionPropagation, PTR,
      DOC("What becomes of owned objects: Orphan, Background or Foreground.")),
    F("dryRun", LIST(STRING), 0, DOC("\"All\": only say what would happen.")),
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

TYPE(meta, Status,
    DOC("The answer when there is no object to answer with."),
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
    F("key", STRING, REQ | KEEP, DOC("The label.")),
    F("operator", meta_LabelSelectorOperator, REQ | KEEP,
      DOC("In, NotIn, Exists or DoesNotExist.")),
    F("values", LIST(STRING), 0, DOC("For In and NotIn.")))

TYPE(meta, LabelSelector, ATOMIC,
    F("matchLabels", MAP(STRING), 0, DOC("Labels that must be there with these values.")),
    F("matchExpressions", LIST(meta_LabelSelectorRequirement), 0,
      DOC("Requirements on labels, all of which must hold.")))

LOCAL_STRING_TYPE(meta, ConditionStatus)

TYPE(meta, Condition, PLAIN,
    F("type", STRING, REQ | KEEP, DOC("The aspect that the condition describes, in CamelCase.")),
    F("status", meta_ConditionStatus, REQ | KEEP, DOC("True, False or Unknown.")),
    F("observedGeneration", INT64, 0, DOC("The generation that this was said of.")),
    F("lastTransitionTime", TIME, REQ | KEEP, DOC("When status last changed.")),
    F("reason", STRING, REQ | KEEP, DOC("Why, in one word for programs.")),
    F("message", STRING, REQ | KEEP, DOC("Why, for people.")))

TYPE_AS(meta, LabelSelectorReplaced, LabelSelector, ATOMIC, REPLACED)
LOCAL_STRING_TYPE(meta, FieldSelectorOperator)

TYPE(meta, FieldSelectorRequirement, PLAIN,
    F("key", STRING, REQ | KEEP),
    F("operator", meta_FieldSelectorOperator, REQ | KEEP),
    F("values", LIST(STRING), 0))
