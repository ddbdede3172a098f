/* The hooks that rows of kinds.c name. Each kind has a file (pod.c, service.c ...) whose functions
 * are called KIND_WHAT: pod_defaults, pod_validate_update. One line a hook, by kind. */
#pragma once

#include "builtin/kind.h"

#define HOOK_CHECK_NAME(f)      void f(struct problems *ps, const struct path *p, str name, bool prefix)
#define HOOK_DEFAULTS(f)        jv f(const struct kind_ctx *c, jv obj)
#define HOOK_PREPARE(f)         jv f(const struct kind_ctx *c, jv obj, jv old)
#define HOOK_VALIDATE(f)        void f(struct problems *ps, jv obj)
#define HOOK_VALIDATE_UPDATE(f) void f(struct problems *ps, jv obj, jv old)
#define HOOK_VALIDATE_STATUS(f) void f(struct problems *ps, jv obj, jv old)
#define HOOK_WARN(f)            void f(struct warnings *w, jv obj, jv old)
#define HOOK_CELLS(f)           jv f(const struct kind_ctx *c, jv obj)

HOOK_DEFAULTS(pod_defaults);
HOOK_PREPARE(pod_prepare);
HOOK_VALIDATE(pod_validate);
HOOK_VALIDATE_UPDATE(pod_validate_update);
HOOK_VALIDATE_STATUS(pod_validate_status);
HOOK_DEFAULTS(podtemplate_defaults);
HOOK_VALIDATE(podtemplate_validate);

HOOK_DEFAULTS(persistentvolumeclaim_defaults);
HOOK_PREPARE(persistentvolumeclaim_prepare);
HOOK_VALIDATE(persistentvolumeclaim_validate);
HOOK_VALIDATE_UPDATE(persistentvolumeclaim_validate_update);
HOOK_VALIDATE_STATUS(persistentvolumeclaim_validate_status);

HOOK_DEFAULTS(persistentvolume_defaults);
HOOK_PREPARE(persistentvolume_prepare);
HOOK_VALIDATE(persistentvolume_validate);
HOOK_VALIDATE_UPDATE(persistentvolume_validate_update);

HOOK_DEFAULTS(service_defaults);
HOOK_PREPARE(service_prepare);
HOOK_VALIDATE(service_validate);
HOOK_VALIDATE_UPDATE(service_validate_update);
HOOK_VALIDATE_STATUS(service_validate_status);

HOOK_VALIDATE(configmap_validate);
HOOK_VALIDATE_UPDATE(configmap_validate_update);

HOOK_DEFAULTS(secret_defaults);
HOOK_VALIDATE(secret_validate);
HOOK_VALIDATE_UPDATE(secret_validate_update);

HOOK_DEFAULTS(namespace_defaults);
HOOK_PREPARE(namespace_prepare);
HOOK_VALIDATE(namespace_validate);
HOOK_VALIDATE_STATUS(namespace_validate_status);

HOOK_DEFAULTS(node_defaults);
HOOK_PREPARE(node_prepare);
HOOK_VALIDATE(node_validate);
HOOK_VALIDATE_UPDATE(node_validate_update);
HOOK_VALIDATE_STATUS(node_validate_status);

HOOK_DEFAULTS(deployment_defaults);
HOOK_VALIDATE(deployment_validate);
HOOK_VALIDATE_UPDATE(deployment_validate_update);
HOOK_VALIDATE_STATUS(deployment_validate_status);

HOOK_DEFAULTS(replicaset_defaults);
HOOK_VALIDATE(replicaset_validate);
HOOK_VALIDATE_UPDATE(replicaset_validate_update);
HOOK_VALIDATE_STATUS(replicaset_validate_status);

HOOK_DEFAULTS(replicationcontroller_defaults);
HOOK_VALIDATE(replicationcontroller_validate);

HOOK_DEFAULTS(statefulset_defaults);
HOOK_VALIDATE(statefulset_validate);
HOOK_VALIDATE_UPDATE(statefulset_validate_update);
HOOK_VALIDATE_STATUS(statefulset_validate_status);

HOOK_DEFAULTS(daemonset_defaults);
HOOK_PREPARE(daemonset_prepare);
HOOK_VALIDATE(daemonset_validate);
HOOK_VALIDATE_UPDATE(daemonset_validate_update);
HOOK_VALIDATE_STATUS(daemonset_validate_status);

HOOK_VALIDATE(controllerrevision_validate);
HOOK_VALIDATE_UPDATE(controllerrevision_validate_update);

HOOK_DEFAULTS(job_defaults);
HOOK_PREPARE(job_prepare);
HOOK_VALIDATE(batch_job_validate);
HOOK_VALIDATE_UPDATE(job_validate_update);
HOOK_VALIDATE_STATUS(job_validate_status);

HOOK_DEFAULTS(cronjob_defaults);
HOOK_VALIDATE(cronjob_validate);

/* Many kinds: status is absent on create, and stays as it was on update. */
HOOK_PREPARE(status_is_the_servers);

HOOK_VALIDATE(role_validate);

HOOK_VALIDATE(clusterrole_validate);

HOOK_DEFAULTS(rolebinding_defaults);
HOOK_VALIDATE(rolebinding_validate);
HOOK_VALIDATE_UPDATE(rolebinding_validate_update);

HOOK_VALIDATE(event_validate);

HOOK_DEFAULTS(storageclass_defaults);
HOOK_VALIDATE(storageclass_validate);
HOOK_VALIDATE_UPDATE(storageclass_validate_update);

HOOK_VALIDATE(volumeattributesclass_validate);
HOOK_VALIDATE_UPDATE(volumeattributesclass_validate_update);

HOOK_DEFAULTS(csidriver_defaults);
HOOK_VALIDATE(csidriver_validate);
HOOK_VALIDATE_UPDATE(csidriver_validate_update);

HOOK_VALIDATE(csinode_validate);

HOOK_VALIDATE(volumeattachment_validate);
HOOK_VALIDATE_UPDATE(volumeattachment_validate_update);

HOOK_VALIDATE(csistoragecapacity_validate);
HOOK_VALIDATE_UPDATE(csistoragecapacity_validate_update);

HOOK_PREPARE(deviceclass_prepare);
HOOK_VALIDATE(deviceclass_validate);

HOOK_DEFAULTS(resourceclaim_defaults);
HOOK_PREPARE(resourceclaim_prepare);
HOOK_VALIDATE(resourceclaim_validate);
HOOK_VALIDATE_UPDATE(resourceclaim_validate_update);
HOOK_VALIDATE_STATUS(resourceclaim_validate_status);

HOOK_DEFAULTS(resourceclaimtemplate_defaults);
HOOK_PREPARE(resourceclaimtemplate_prepare);
HOOK_VALIDATE(resourceclaimtemplate_validate);

HOOK_PREPARE(resourceslice_prepare);
HOOK_VALIDATE(resourceslice_validate);
HOOK_VALIDATE_UPDATE(resourceslice_validate_update);

HOOK_VALIDATE(runtimeclass_validate);
HOOK_VALIDATE_UPDATE(runtimeclass_validate_update);

HOOK_VALIDATE(poddisruptionbudget_validate);
HOOK_VALIDATE_STATUS(poddisruptionbudget_validate_status);

HOOK_DEFAULTS(priorityclass_defaults);
HOOK_VALIDATE(priorityclass_validate);
HOOK_VALIDATE_UPDATE(priorityclass_validate_update);

HOOK_DEFAULTS(lease_defaults);
HOOK_VALIDATE(lease_validate);

HOOK_DEFAULTS(limitrange_defaults);
HOOK_VALIDATE(limitrange_validate);

HOOK_VALIDATE(resourcequota_validate);
HOOK_VALIDATE_UPDATE(resourcequota_validate_update);
HOOK_VALIDATE_STATUS(resourcequota_validate_status);

HOOK_DEFAULTS(endpoints_defaults);
HOOK_VALIDATE(endpoints_validate);

HOOK_DEFAULTS(endpointslice_defaults);
HOOK_VALIDATE(endpointslice_validate);
HOOK_VALIDATE_UPDATE(endpointslice_validate_update);

HOOK_DEFAULTS(networkpolicy_defaults);
HOOK_VALIDATE(networkpolicy_validate);

HOOK_VALIDATE(ingress_validate);
HOOK_VALIDATE_STATUS(ingress_validate_status);

HOOK_DEFAULTS(ingressclass_defaults);
HOOK_VALIDATE(ingressclass_validate);
HOOK_VALIDATE_UPDATE(ingressclass_validate_update);
HOOK_VALIDATE(clusterrolebinding_validate);
HOOK_VALIDATE(new_event_validate);
HOOK_VALIDATE_UPDATE(new_event_validate_update);
HOOK_DEFAULTS(horizontalpodautoscaler_defaults);
HOOK_DEFAULTS(horizontalpodautoscaler1_defaults);
HOOK_PREPARE(horizontalpodautoscaler1_prepare);
HOOK_VALIDATE(horizontalpodautoscaler_validate);
HOOK_VALIDATE(horizontalpodautoscaler1_validate);
HOOK_DEFAULTS(mutatingwebhook_defaults);
HOOK_DEFAULTS(validatingwebhook_defaults);
HOOK_VALIDATE(webhookconfiguration_validate);
HOOK_DEFAULTS(admissionpolicy_defaults);
HOOK_DEFAULTS(admissionbinding_defaults);

HOOK_WARN(pod_warn);
HOOK_WARN(podtemplate_warn);
HOOK_WARN(workload_warn);
HOOK_WARN(daemonset_warn);
HOOK_WARN(statefulset_warn);
HOOK_WARN(job_warn);
HOOK_WARN(cronjob_warn);
HOOK_WARN(service_warn);
HOOK_WARN(networkpolicy_warn);
HOOK_WARN(ingress_warn);
HOOK_WARN(endpoints_warn);
HOOK_WARN(endpointslice_warn);
HOOK_WARN(node_warn);
HOOK_WARN(persistentvolumeclaim_warn);
HOOK_WARN(persistentvolume_warn);
HOOK_WARN(storageclass_warn);
HOOK_WARN(secret_warn);
