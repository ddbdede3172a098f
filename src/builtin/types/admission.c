/* admissionregistration.k8s.io/v1: webhooks and admission policies. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.admissionregistration.v1"
#define GO_PACKAGE "v1"

LOCAL_TYPE(admission, ServiceReference, PLAIN,
    F("namespace", STRING, REQ | KEEP),
    F("name", STRING, REQ | KEEP),
    F("path", STRING, PTR),
    F("port", INT32, PTR))

LOCAL_TYPE(admission, WebhookClientConfig, PLAIN,
    F("url", STRING, PTR),
    F("service", admission_ServiceReference, PTR),
    F("caBundle", BYTES, 0))

LOCAL_ENUM(admission, OperationType, "*", "CONNECT", "CREATE", "DELETE", "UPDATE")
LOCAL_STRING_TYPE(admission, ScopeType)

LOCAL_TYPE(admission, RuleWithOperations, PLAIN,
    F("operations", LIST(admission_OperationType), 0),
    F("apiGroups", LIST(STRING), 0),
    F("apiVersions", LIST(STRING), 0),
    F("resources", LIST(STRING), 0),
    F("scope", admission_ScopeType, PTR))

LOCAL_TYPE(admission, MatchCondition, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("expression", STRING, REQ | KEEP))

LOCAL_ENUM(admission, FailurePolicyType, "Fail", "Ignore")
LOCAL_ENUM(admission, MatchPolicyType, "Equivalent", "Exact")
LOCAL_ENUM(admission, SideEffectClass, "None", "NoneOnDryRun", "Some", "Unknown")
LOCAL_STRING_TYPE(admission, ReinvocationPolicyType)

LOCAL_TYPE(admission, MutatingWebhook, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("clientConfig", admission_WebhookClientConfig, REQ | KEEP),
    F("rules", LIST(admission_RuleWithOperations), 0),
    F("failurePolicy", admission_FailurePolicyType, PTR),
    F("matchPolicy", admission_MatchPolicyType, PTR),
    F("namespaceSelector", meta_LabelSelector, PTR),
    F("objectSelector", meta_LabelSelector, PTR),
    F("sideEffects", admission_SideEffectClass, REQ | KEEP | PTR),
    F("timeoutSeconds", INT32, PTR),
    F("admissionReviewVersions", LIST(STRING), REQ | KEEP),
    F("reinvocationPolicy", admission_ReinvocationPolicyType, PTR),
    F("matchConditions", LIST(admission_MatchCondition, BY("name"), MERGE("name")), 0))

TYPE(admission, MutatingWebhookConfiguration,
    DOC("Servers to ask before an object is stored, who may change it."),
    OBJECT_HEAD,
    F("webhooks", LIST(admission_MutatingWebhook, BY("name"), MERGE("name")), 0))

LOCAL_TYPE(admission, ValidatingWebhook, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("clientConfig", admission_WebhookClientConfig, REQ | KEEP),
    F("rules", LIST(admission_RuleWithOperations), 0),
    F("failurePolicy", admission_FailurePolicyType, PTR),
    F("matchPolicy", admission_MatchPolicyType, PTR),
    F("namespaceSelector", meta_LabelSelector, PTR),
    F("objectSelector", meta_LabelSelector, PTR),
    F("sideEffects", admission_SideEffectClass, REQ | KEEP | PTR),
    F("timeoutSeconds", INT32, PTR),
    F("admissionReviewVersions", LIST(STRING), REQ | KEEP),
    F("matchConditions", LIST(admission_MatchCondition, BY("name"), MERGE("name")), 0))

TYPE(admission, ValidatingWebhookConfiguration,
    DOC("Servers to ask before an object is stored, who may refuse it."),
    OBJECT_HEAD,
    F("webhooks", LIST(admission_ValidatingWebhook, BY("name"), MERGE("name")), 0))

LOCAL_TYPE(admission, ParamKind, ATOMIC,
    F("apiVersion", STRING, 0),
    F("kind", STRING, 0))

LOCAL_TYPE(admission, NamedRuleWithOperations, ATOMIC,
    F("resourceNames", LIST(STRING), 0),
    F("operations", LIST(admission_OperationType), 0),
    F("apiGroups", LIST(STRING), 0),
    F("apiVersions", LIST(STRING), 0),
    F("resources", LIST(STRING), 0),
    F("scope", admission_ScopeType, PTR))

LOCAL_TYPE(admission, MatchResources, ATOMIC,
    F("namespaceSelector", meta_LabelSelector, PTR),
    F("objectSelector", meta_LabelSelector, PTR),
    F("resourceRules", LIST(admission_NamedRuleWithOperations), 0),
    F("excludeResourceRules", LIST(admission_NamedRuleWithOperations), 0),
    F("matchPolicy", admission_MatchPolicyType, PTR))

LOCAL_TYPE(admission, Validation, PLAIN,
    F("expression", STRING, REQ | KEEP),
    F("message", STRING, 0),
    F("reason", meta_StatusReason, PTR),
    F("messageExpression", STRING, 0))

LOCAL_TYPE(admission, AuditAnnotation, PLAIN,
    F("key", STRING, REQ | KEEP),
    F("valueExpression", STRING, REQ | KEEP))

LOCAL_TYPE(admission, Variable, ATOMIC,
    F("name", STRING, REQ | KEEP),
    F("expression", STRING, REQ | KEEP))

LOCAL_TYPE(admission, ValidatingAdmissionPolicySpec, PLAIN,
    F("paramKind", admission_ParamKind, PTR),
    F("matchConstraints", admission_MatchResources, PTR),
    F("validations", LIST(admission_Validation), 0),
    F("failurePolicy", admission_FailurePolicyType, PTR),
    F("auditAnnotations", LIST(admission_AuditAnnotation), 0),
    F("matchConditions", LIST(admission_MatchCondition, BY("name"), MERGE("name")), 0),
    F("variables", LIST(admission_Variable, BY("name"), MERGE("name")), 0))

LOCAL_TYPE(admission, ExpressionWarning, PLAIN,
    F("fieldRef", STRING, REQ | KEEP),
    F("warning", STRING, REQ | KEEP))

LOCAL_TYPE(admission, TypeChecking, PLAIN,
    F("expressionWarnings", LIST(admission_ExpressionWarning), 0))

LOCAL_TYPE(admission, ValidatingAdmissionPolicyStatus, PLAIN,
    F("observedGeneration", INT64, 0),
    F("typeChecking", admission_TypeChecking, PTR),
    F("conditions", LIST(meta_Condition, BY("type")), 0))

TYPE(admission, ValidatingAdmissionPolicy,
    DOC("Rules, as expressions, that objects must meet to be stored."),
    OBJECT_HEAD,
    F("spec", admission_ValidatingAdmissionPolicySpec, KEEP, DOC("The desired state.")),
    F("status", admission_ValidatingAdmissionPolicyStatus, KEEP,
      DOC("The observed state. Written by the system.")))

LOCAL_STRING_TYPE(admission, ParameterNotFoundActionType)

LOCAL_TYPE(admission, ParamRef, ATOMIC,
    F("name", STRING, 0),
    F("namespace", STRING, 0),
    F("selector", meta_LabelSelector, PTR),
    F("parameterNotFoundAction", admission_ParameterNotFoundActionType, PTR))

LOCAL_ENUM(admission, ValidationAction, "Audit", "Deny", "Warn")

LOCAL_TYPE(admission, ValidatingAdmissionPolicyBindingSpec, PLAIN,
    F("policyName", STRING, 0),
    F("paramRef", admission_ParamRef, PTR),
    F("matchResources", admission_MatchResources, PTR),
    F("validationActions", LIST(admission_ValidationAction, SET), 0))

TYPE(admission, ValidatingAdmissionPolicyBinding,
    DOC("Where a validating admission policy applies, and with which parameters."),
    OBJECT_HEAD,
    F("spec", admission_ValidatingAdmissionPolicyBindingSpec, KEEP, DOC("The desired state.")))
