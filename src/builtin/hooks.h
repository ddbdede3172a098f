/* The hooks that rows of kinds.c name. Each kind has a file (pod.c, service.c ...) whose functions
 * are called KIND_WHAT: pod_defaults, pod_validate_update. One line a hook, by kind. */
#pragma once

#include "builtin/kind.h"

#define HOOK_CHECK_NAME(f) void f(struct problems *ps, const struct path *p, str name, bool prefix)
#define HOOK_DEFAULTS(f)   jv f(const struct kind_ctx *c, jv obj)
#define HOOK_PREPARE(f)    jv f(const struct kind_ctx *c, jv obj, jv old)
#define HOOK_VALIDATE(f)   void f(const struct kind_ctx *c, struct problems *ps, jv obj)
#define HOOK_VALIDATE_UPDATE(f) \
    void f(const struct kind_ctx *c, struct problems *ps, jv obj, jv old)
#define HOOK_VALIDATE_STATUS(f) \
    void f(const struct kind_ctx *c, struct problems *ps, jv obj, jv old)
#define HOOK_CELLS(f) jv f(const struct kind_ctx *c, jv obj)

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
HOOK_VALIDATE(job_validate);
HOOK_VALIDATE_UPDATE(job_validate_update);
HOOK_VALIDATE_STATUS(job_validate_status);

HOOK_DEFAULTS(cronjob_defaults);
HOOK_VALIDATE(cronjob_validate);

/* Many kinds: status is absent on create, and stays as it was on update. */
HOOK_PREPARE(status_is_the_servers);
