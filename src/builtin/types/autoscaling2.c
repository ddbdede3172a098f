/* autoscaling/v2: horizontal pod autoscalers. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.autoscaling.v2"
#define GO_PACKAGE "v2"

LOCAL_TYPE(autoscaling2, CrossVersionObjectReference, PLAIN,
    F("kind", STRING, REQ | KEEP),
    F("name", STRING, REQ | KEEP),
    F("apiVersion", STRING, 0))

LOCAL_STRING_TYPE(autoscaling2, MetricTargetType)

LOCAL_TYPE(autoscaling2, MetricTarget, PLAIN,
    F("type", autoscaling2_MetricTargetType, REQ | KEEP),
    F("value", QUANTITY, PTR),
    F("averageValue", QUANTITY, PTR),
    F("averageUtilization", INT32, PTR))

LOCAL_TYPE(autoscaling2, MetricIdentifier, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("selector", meta_LabelSelector, PTR))

LOCAL_TYPE(autoscaling2, ObjectMetricSource, PLAIN,
    F("describedObject", autoscaling2_CrossVersionObjectReference, REQ | KEEP),
    F("target", autoscaling2_MetricTarget, REQ | KEEP),
    F("metric", autoscaling2_MetricIdentifier, REQ | KEEP))

LOCAL_TYPE(autoscaling2, PodsMetricSource, PLAIN,
    F("metric", autoscaling2_MetricIdentifier, REQ | KEEP),
    F("target", autoscaling2_MetricTarget, REQ | KEEP))

LOCAL_TYPE(autoscaling2, ResourceMetricSource, PLAIN,
    F("name", core_ResourceName, REQ | KEEP),
    F("target", autoscaling2_MetricTarget, REQ | KEEP))

LOCAL_TYPE(autoscaling2, ContainerResourceMetricSource, PLAIN,
    F("name", core_ResourceName, REQ | KEEP),
    F("target", autoscaling2_MetricTarget, REQ | KEEP),
    F("container", STRING, REQ | KEEP))

LOCAL_TYPE(autoscaling2, ExternalMetricSource, PLAIN,
    F("metric", autoscaling2_MetricIdentifier, REQ | KEEP),
    F("target", autoscaling2_MetricTarget, REQ | KEEP))

LOCAL_STRING_TYPE(autoscaling2, MetricSourceType)

LOCAL_TYPE(autoscaling2, MetricSpec, PLAIN,
    F("type", autoscaling2_MetricSourceType, REQ | KEEP),
    F("object", autoscaling2_ObjectMetricSource, PTR),
    F("pods", autoscaling2_PodsMetricSource, PTR),
    F("resource", autoscaling2_ResourceMetricSource, PTR),
    F("containerResource", autoscaling2_ContainerResourceMetricSource, PTR),
    F("external", autoscaling2_ExternalMetricSource, PTR))

LOCAL_STRING_TYPE(autoscaling2, HPAScalingPolicyType)

LOCAL_TYPE(autoscaling2, HPAScalingPolicy, PLAIN,
    F("type", autoscaling2_HPAScalingPolicyType, REQ | KEEP),
    F("value", INT32, REQ | KEEP),
    F("periodSeconds", INT32, REQ | KEEP))

LOCAL_STRING_TYPE(autoscaling2, ScalingPolicySelect)

LOCAL_TYPE(autoscaling2, HPAScalingRules, PLAIN,
    F("stabilizationWindowSeconds", INT32, PTR),
    F("selectPolicy", autoscaling2_ScalingPolicySelect, PTR),
    F("policies", LIST(autoscaling2_HPAScalingPolicy), 0),
    F("tolerance", QUANTITY, PTR))

LOCAL_TYPE(autoscaling2, HorizontalPodAutoscalerBehavior, PLAIN,
    F("scaleUp", autoscaling2_HPAScalingRules, PTR),
    F("scaleDown", autoscaling2_HPAScalingRules, PTR))

LOCAL_TYPE(autoscaling2, HorizontalPodAutoscalerSpec, PLAIN,
    F("scaleTargetRef", autoscaling2_CrossVersionObjectReference, REQ | KEEP,
      DOC("What to scale.")),
    F("minReplicas", INT32, PTR, DOC("The fewest pods. 1 if unset.")),
    F("maxReplicas", INT32, REQ | KEEP, DOC("The most pods.")),
    F("metrics", LIST(autoscaling2_MetricSpec), 0, DOC("What to measure, and the targets.")),
    F("behavior", autoscaling2_HorizontalPodAutoscalerBehavior, PTR,
      DOC("How fast to go up and down.")))

LOCAL_TYPE(autoscaling2, MetricValueStatus, PLAIN,
    F("value", QUANTITY, PTR),
    F("averageValue", QUANTITY, PTR),
    F("averageUtilization", INT32, PTR))

LOCAL_TYPE(autoscaling2, ObjectMetricStatus, PLAIN,
    F("metric", autoscaling2_MetricIdentifier, REQ | KEEP),
    F("current", autoscaling2_MetricValueStatus, REQ | KEEP),
    F("describedObject", autoscaling2_CrossVersionObjectReference, REQ | KEEP))

LOCAL_TYPE(autoscaling2, PodsMetricStatus, PLAIN,
    F("metric", autoscaling2_MetricIdentifier, REQ | KEEP),
    F("current", autoscaling2_MetricValueStatus, REQ | KEEP))

LOCAL_TYPE(autoscaling2, ResourceMetricStatus, PLAIN,
    F("name", core_ResourceName, REQ | KEEP),
    F("current", autoscaling2_MetricValueStatus, REQ | KEEP))

LOCAL_TYPE(autoscaling2, ContainerResourceMetricStatus, PLAIN,
    F("name", core_ResourceName, REQ | KEEP),
    F("current", autoscaling2_MetricValueStatus, REQ | KEEP),
    F("container", STRING, REQ | KEEP))

LOCAL_TYPE(autoscaling2, ExternalMetricStatus, PLAIN,
    F("metric", autoscaling2_MetricIdentifier, REQ | KEEP),
    F("current", autoscaling2_MetricValueStatus, REQ | KEEP))

LOCAL_TYPE(autoscaling2, MetricStatus, PLAIN,
    F("type", autoscaling2_MetricSourceType, REQ | KEEP),
    F("object", autoscaling2_ObjectMetricStatus, PTR),
    F("pods", autoscaling2_PodsMetricStatus, PTR),
    F("resource", autoscaling2_ResourceMetricStatus, PTR),
    F("containerResource", autoscaling2_ContainerResourceMetricStatus, PTR),
    F("external", autoscaling2_ExternalMetricStatus, PTR))

LOCAL_STRING_TYPE(autoscaling2, HorizontalPodAutoscalerConditionType)

LOCAL_TYPE(autoscaling2, HorizontalPodAutoscalerCondition, PLAIN,
    F("type", autoscaling2_HorizontalPodAutoscalerConditionType, REQ | KEEP),
    F("status", core_ConditionStatus, REQ | KEEP),
    F("lastTransitionTime", TIME, KEEP),
    F("reason", STRING, 0),
    F("message", STRING, 0))

LOCAL_TYPE(autoscaling2, HorizontalPodAutoscalerStatus, PLAIN,
    F("observedGeneration", INT64, PTR),
    F("lastScaleTime", TIME, PTR),
    F("currentReplicas", INT32, 0),
    F("desiredReplicas", INT32, REQ | KEEP),
    F("currentMetrics", LIST(autoscaling2_MetricStatus), KEEP),
    F("conditions", LIST(autoscaling2_HorizontalPodAutoscalerCondition, BY("type"),
      MERGE("type")), 0))

TYPE(autoscaling2, HorizontalPodAutoscaler,
    DOC("Changes the number of pods so that measured values stay near their targets."),
    OBJECT_HEAD,
    F("spec", autoscaling2_HorizontalPodAutoscalerSpec, KEEP, DOC("The desired state.")),
    F("status", autoscaling2_HorizontalPodAutoscalerStatus, KEEP,
      DOC("The observed state. Written by the system.")))
