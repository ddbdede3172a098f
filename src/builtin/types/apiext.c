/* apiextensions.k8s.io/v1: custom resource definitions. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
#define GO_PACKAGE "v1"

LOCAL_TYPE(apiext, CustomResourceDefinitionNames, PLAIN,
    F("plural", STRING, REQ | KEEP, DOC("As in paths, lower case.")),
    F("singular", STRING, 0, DOC("As in kubectl get, lower case.")),
    F("shortNames", LIST(STRING), 0, DOC("Shorter ones for typing.")),
    F("kind", STRING, REQ | KEEP, DOC("As in objects, CamelCase.")),
    F("listKind", STRING, 0, DOC("Of lists; KindList if unset.")),
    F("categories", LIST(STRING), 0, DOC("Groups of resources, such as all.")))

LOCAL_TYPE(apiext, ExternalDocumentation, PLAIN,
    F("description", STRING, 0),
    F("url", STRING, 0))

LOCAL_ENUM(apiext, FieldValueErrorReason, "FieldValueDuplicate", "FieldValueForbidden",
    "FieldValueInvalid", "FieldValueRequired")

LOCAL_TYPE(apiext, ValidationRule, PLAIN,
    F("rule", STRING, REQ | KEEP),
    F("message", STRING, 0),
    F("messageExpression", STRING, 0),
    F("reason", apiext_FieldValueErrorReason, PTR),
    F("fieldPath", STRING, 0),
    F("optionalOldSelf", BOOL, PTR))

LOCAL_STRING_TYPE(apiext, JSONSchemaURL)
LOCAL_ANY_TYPE(apiext, JSON)
LOCAL_ANY_OR_TYPE(apiext, JSONSchemaPropsOrArray, apiext_JSONSchemaProps)
LOCAL_ANY_OR_TYPE(apiext, JSONSchemaPropsOrBool, apiext_JSONSchemaProps)
LOCAL_ANY_OR_TYPE(apiext, JSONSchemaPropsOrStringArray, apiext_JSONSchemaProps)

TYPE(apiext, JSONSchemaProps, PLAIN,
    F("id", STRING, 0),
    F("$schema", apiext_JSONSchemaURL, 0),
    F("$ref", STRING, PTR),
    F("description", STRING, 0),
    F("type", STRING, 0),
    F("format", STRING, 0),
    F("title", STRING, 0),
    F("default", apiext_JSON, PTR),
    F("maximum", DOUBLE, PTR),
    F("exclusiveMaximum", BOOL, 0),
    F("minimum", DOUBLE, PTR),
    F("exclusiveMinimum", BOOL, 0),
    F("maxLength", INT64, PTR),
    F("minLength", INT64, PTR),
    F("pattern", STRING, 0),
    F("maxItems", INT64, PTR),
    F("minItems", INT64, PTR),
    F("uniqueItems", BOOL, 0),
    F("multipleOf", DOUBLE, PTR),
    F("enum", LIST(apiext_JSON), 0),
    F("maxProperties", INT64, PTR),
    F("minProperties", INT64, PTR),
    F("required", LIST(STRING), 0),
    F("items", apiext_JSONSchemaPropsOrArray, PTR),
    F("allOf", LIST(apiext_JSONSchemaProps), 0),
    F("oneOf", LIST(apiext_JSONSchemaProps), 0),
    F("anyOf", LIST(apiext_JSONSchemaProps), 0),
    F("not", apiext_JSONSchemaProps, PTR),
    F("properties", MAP(apiext_JSONSchemaProps), 0),
    F("additionalProperties", apiext_JSONSchemaPropsOrBool, PTR),
    F("patternProperties", MAP(apiext_JSONSchemaProps), 0),
    F("dependencies", MAP(apiext_JSONSchemaPropsOrStringArray, GO("v1.JSONSchemaDependencies")), 0),
    F("additionalItems", apiext_JSONSchemaPropsOrBool, PTR),
    F("definitions", MAP(apiext_JSONSchemaProps, GO("v1.JSONSchemaDefinitions")), 0),
    F("externalDocs", apiext_ExternalDocumentation, PTR),
    F("example", apiext_JSON, PTR),
    F("nullable", BOOL, 0),
    F("x-kubernetes-preserve-unknown-fields", BOOL, PTR),
    F("x-kubernetes-embedded-resource", BOOL, 0),
    F("x-kubernetes-int-or-string", BOOL, 0),
    F("x-kubernetes-list-map-keys", LIST(STRING), 0),
    F("x-kubernetes-list-type", STRING, PTR),
    F("x-kubernetes-map-type", STRING, PTR),
    F("x-kubernetes-validations", LIST(apiext_ValidationRule, BY("rule"), MERGE("rule"),
      GO("v1.ValidationRules")), 0))

LOCAL_TYPE(apiext, CustomResourceValidation, PLAIN,
    F("openAPIV3Schema", apiext_JSONSchemaProps, PTR))

LOCAL_EMPTY_TYPE(apiext, CustomResourceSubresourceStatus)

LOCAL_TYPE(apiext, CustomResourceSubresourceScale, PLAIN,
    F("specReplicasPath", STRING, REQ | KEEP),
    F("statusReplicasPath", STRING, REQ | KEEP),
    F("labelSelectorPath", STRING, PTR))

LOCAL_TYPE(apiext, CustomResourceSubresources, PLAIN,
    F("status", apiext_CustomResourceSubresourceStatus, PTR),
    F("scale", apiext_CustomResourceSubresourceScale, PTR))

LOCAL_TYPE(apiext, CustomResourceColumnDefinition, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("type", STRING, REQ | KEEP),
    F("format", STRING, 0),
    F("description", STRING, 0),
    F("priority", INT32, 0),
    F("jsonPath", STRING, REQ | KEEP))

LOCAL_TYPE(apiext, SelectableField, PLAIN,
    F("jsonPath", STRING, REQ | KEEP))

LOCAL_TYPE(apiext, CustomResourceDefinitionVersion, PLAIN,
    F("name", STRING, REQ | KEEP, DOC("Such as v1 or v1beta1.")),
    F("served", BOOL, REQ | KEEP, DOC("Whether the API has it.")),
    F("storage", BOOL, REQ | KEEP, DOC("Whether objects are stored in it. Exactly one is.")),
    F("deprecated", BOOL, 0, DOC("Whether clients are warned.")),
    F("deprecationWarning", STRING, PTR),
    F("schema", apiext_CustomResourceValidation, PTR, DOC("The schema of its objects.")),
    F("subresources", apiext_CustomResourceSubresources, PTR, DOC("status and scale.")),
    F("additionalPrinterColumns", LIST(apiext_CustomResourceColumnDefinition), 0,
      DOC("Columns of kubectl get.")),
    F("selectableFields", LIST(apiext_SelectableField), 0))

LOCAL_TYPE(apiext, ServiceReference, PLAIN,
    F("namespace", STRING, REQ | KEEP),
    F("name", STRING, REQ | KEEP),
    F("path", STRING, PTR),
    F("port", INT32, PTR))

LOCAL_TYPE(apiext, WebhookClientConfig, PLAIN,
    F("url", STRING, PTR),
    F("service", apiext_ServiceReference, PTR),
    F("caBundle", BYTES, 0))

LOCAL_TYPE(apiext, WebhookConversion, PLAIN,
    F("clientConfig", apiext_WebhookClientConfig, PTR),
    F("conversionReviewVersions", LIST(STRING), REQ | KEEP))

LOCAL_STRING_TYPE(apiext, ConversionStrategyType)

LOCAL_TYPE(apiext, CustomResourceConversion, PLAIN,
    F("strategy", apiext_ConversionStrategyType, REQ | KEEP),
    F("webhook", apiext_WebhookConversion, PTR))

LOCAL_STRING_TYPE(apiext, ResourceScope)

LOCAL_TYPE(apiext, CustomResourceDefinitionSpec, PLAIN,
    F("group", STRING, REQ | KEEP, DOC("The API group.")),
    F("names", apiext_CustomResourceDefinitionNames, REQ | KEEP, DOC("How the kind is called.")),
    F("scope", apiext_ResourceScope, REQ | KEEP, DOC("Namespaced or Cluster.")),
    F("versions", LIST(apiext_CustomResourceDefinitionVersion), REQ | KEEP,
      DOC("The versions of the kind.")),
    F("conversion", apiext_CustomResourceConversion, PTR, DOC("How one version becomes another.")),
    F("preserveUnknownFields", BOOL, 0))

LOCAL_STRING_TYPE(apiext, CustomResourceDefinitionConditionType)
LOCAL_STRING_TYPE(apiext, ConditionStatus)

LOCAL_TYPE(apiext, CustomResourceDefinitionCondition, PLAIN,
    F("type", apiext_CustomResourceDefinitionConditionType, REQ | KEEP),
    F("status", apiext_ConditionStatus, REQ | KEEP),
    F("lastTransitionTime", TIME, KEEP),
    F("reason", STRING, 0),
    F("message", STRING, 0))

LOCAL_TYPE(apiext, CustomResourceDefinitionStatus, PLAIN,
    F("conditions", LIST(apiext_CustomResourceDefinitionCondition, BY("type")), KEEP),
    F("acceptedNames", apiext_CustomResourceDefinitionNames, KEEP),
    F("storedVersions", LIST(STRING), KEEP))

TYPE(apiext, CustomResourceDefinition,
    DOC("A new kind of object, with its names, versions and schema."),
    OBJECT_HEAD,
    F("spec", apiext_CustomResourceDefinitionSpec, REQ | KEEP, DOC("The desired state.")),
    F("status", apiext_CustomResourceDefinitionStatus, KEEP,
      DOC("The observed state. Written by the system.")))
