/* autoscaling/v1: Scale, and autoscalers as they first were. */
/* clang-format off */

#include "builtin/type_table.h"

#define PACKAGE "io.k8s.api.autoscaling.v1"
#define GO_PACKAGE "v1"

LOCAL_TYPE(autoscaling1, ScaleSpec, PLAIN,
    F("replicas", INT32, 0))

LOCAL_TYPE(autoscaling1, ScaleStatus, PLAIN,
    F("replicas", INT32, REQ | KEEP),
    F("selector", STRING, 0))

TYPE(autoscaling1, Scale, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("spec", autoscaling1_ScaleSpec, KEEP),
    F("status", autoscaling1_ScaleStatus, KEEP))

LOCAL_TYPE(autoscaling1, CrossVersionObjectReference, ATOMIC,
    F("kind", STRING, REQ | KEEP),
    F("name", STRING, REQ | KEEP),
    F("apiVersion", STRING, 0))

LOCAL_TYPE(autoscaling1, HorizontalPodAutoscalerSpec, PLAIN,
    F("scaleTargetRef", autoscaling1_CrossVersionObjectReference, REQ | KEEP),
    F("minReplicas", INT32, PTR),
    F("maxReplicas", INT32, REQ | KEEP),
    F("targetCPUUtilizationPercentage", INT32, PTR))

LOCAL_TYPE(autoscaling1, HorizontalPodAutoscalerStatus, PLAIN,
    F("observedGeneration", INT64, PTR),
    F("lastScaleTime", TIME, PTR),
    F("currentReplicas", INT32, REQ | KEEP),
    F("desiredReplicas", INT32, REQ | KEEP),
    F("currentCPUUtilizationPercentage", INT32, PTR))

TYPE(autoscaling1, HorizontalPodAutoscaler, PLAIN,
    F("kind", STRING, 0),
    F("apiVersion", STRING, 0),
    F("metadata", meta_ObjectMeta, KEEP),
    F("spec", autoscaling1_HorizontalPodAutoscalerSpec, KEEP),
    F("status", autoscaling1_HorizontalPodAutoscalerStatus, KEEP))
