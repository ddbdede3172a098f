/* autoscaling/v1: Scale, and autoscalers as they first were. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.autoscaling.v1"
#define GO_PACKAGE "v1"

LOCAL_TYPE(autoscaling1, ScaleSpec, PLAIN,
    F("replicas", INT32, 0))

LOCAL_TYPE(autoscaling1, ScaleStatus, PLAIN,
    F("replicas", INT32, REQ | KEEP),
    F("selector", STRING, 0))

TYPE(autoscaling1, Scale,
    DOC("How many pods something has and should have."),
    OBJECT_HEAD,
    F("spec", autoscaling1_ScaleSpec, KEEP, DOC("The desired state.")),
    F("status", autoscaling1_ScaleStatus, KEEP, DOC("The observed state. Written by the system.")))

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

TYPE(autoscaling1, HorizontalPodAutoscaler,
    DOC("Changes the number of pods so that their CPU use stays near a target."),
    OBJECT_HEAD,
    F("spec", autoscaling1_HorizontalPodAutoscalerSpec, KEEP, DOC("The desired state.")),
    F("status", autoscaling1_HorizontalPodAutoscalerStatus, KEEP,
      DOC("The observed state. Written by the system.")))
