/* Every built-in kind, one row each: what discovery says of it, its type, its hooks. */

#include "builtin/cells.h"
#include "builtin/hooks.h"
#include "builtin/types.h"
#include "kube/names.h"

#define core_API         .group = "", .version = "v1"
#define apps_API         .group = "apps", .version = "v1"
#define events_API       .group = "events.k8s.io", .version = "v1"
#define authn_API        .group = "authentication.k8s.io", .version = "v1"
#define authz_API        .group = "authorization.k8s.io", .version = "v1"
#define autoscaling2_API .group = "autoscaling", .version = "v2"
#define autoscaling1_API .group = "autoscaling", .version = "v1"
#define batch_API        .group = "batch", .version = "v1"
#define networking_API   .group = "networking.k8s.io", .version = "v1"
#define policy_API       .group = "policy", .version = "v1"
#define rbac_API         .group = "rbac.authorization.k8s.io", .version = "v1"
#define storage_API      .group = "storage.k8s.io", .version = "v1"
#define admission_API    .group = "admissionregistration.k8s.io", .version = "v1"
#define apiext_API       .group = "apiextensions.k8s.io", .version = "v1"
#define scheduling_API   .group = "scheduling.k8s.io", .version = "v1"
#define coordination_API .group = "coordination.k8s.io", .version = "v1"
#define discovery_API    .group = "discovery.k8s.io", .version = "v1"

#define KIND(api, Kind, many, one) \
    api##_API, .kind = #Kind, .plural = (many), .singular = (one), .schema = &api##_##Kind

enum {
    NAMESPACED = KIND_NAMESPACED,
    STATUS = KIND_STATUS,
    GENERATION = KIND_GENERATION,
    CREATE_ON_UPDATE = KIND_CREATE_ON_UPDATE,
    UNCONDITIONAL = KIND_UNCONDITIONAL,
    SCALE = KIND_SCALE,
    REVIEW = KIND_REVIEW,
    GRACEFUL = KIND_GRACEFUL,
};

#define READ_WRITE "get,patch,update"
#define PROXY      "create,delete,get,patch,update"

static const struct kind_sub status_only[] = { { .name = "status", .verbs = READ_WRITE }, { 0 } };
static const struct kind_sub scale_and_status[] = {
    { "scale", "autoscaling", "v1", "Scale", READ_WRITE },
    { .name = "status", .verbs = READ_WRITE },
    { 0 },
};
static const struct kind_sub namespace_subs[] = {
    { "finalize", NULL, NULL, NULL, "update" },
    { "status", NULL, NULL, NULL, READ_WRITE },
    { 0 },
};
static const struct kind_sub node_subs[] = {
    { "proxy", NULL, NULL, "NodeProxyOptions", PROXY },
    { "status", NULL, NULL, NULL, READ_WRITE },
    { 0 },
};
static const struct kind_sub pod_subs[] = {
    { "attach", NULL, NULL, "PodAttachOptions", "create,get" },
    { "binding", NULL, NULL, "Binding", "create" },
    { "ephemeralcontainers", NULL, NULL, NULL, READ_WRITE },
    { "eviction", "policy", "v1", "Eviction", "create" },
    { "exec", NULL, NULL, "PodExecOptions", "create,get" },
    { "log", NULL, NULL, NULL, "get" },
    { "portforward", NULL, NULL, "PodPortForwardOptions", "create,get" },
    { "proxy", NULL, NULL, "PodProxyOptions", PROXY },
    { "resize", NULL, NULL, NULL, READ_WRITE },
    { "status", NULL, NULL, NULL, READ_WRITE },
    { 0 },
};
static const struct kind_sub serviceaccount_subs[] = {
    { "token", "authentication.k8s.io", "v1", "TokenRequest", "create" },
    { 0 },
};
static const struct kind_sub service_subs[] = {
    { "proxy", NULL, NULL, "ServiceProxyOptions", PROXY },
    { "status", NULL, NULL, NULL, READ_WRITE },
    { 0 },
};

/* clang-format off */
const struct builtin_kind builtin_kinds[] = {
    { KIND(core, Binding, "bindings", "binding"),
      .verbs = "create",
      .flags = NAMESPACED | REVIEW },
    { KIND(core, ConfigMap, "configmaps", "configmap"),
      TABLE(configmap),
      .validate = configmap_validate,
      .validate_update = configmap_validate_update,
      .short_names = "cm",
      .flags = NAMESPACED | UNCONDITIONAL },
    { KIND(core, Endpoints, "endpoints", "endpoints"),
      TABLE(endpoints),
      .short_names = "ep",
      .flags = NAMESPACED | CREATE_ON_UPDATE | UNCONDITIONAL },
    { KIND(core, Event, "events", "event"),
      TABLE(event),
      .short_names = "ev",
      .flags = NAMESPACED | CREATE_ON_UPDATE | UNCONDITIONAL,
      .select_fields = "involvedObject.kind,involvedObject.namespace"
                       ",involvedObject.name,involvedObject.uid"
                       ",involvedObject.apiVersion,involvedObject.resourceVersion"
                       ",involvedObject.fieldPath,reason,reportingComponent,source"
                       ",type" },
    { KIND(core, LimitRange, "limitranges", "limitrange"),
      .short_names = "limits",
      .flags = NAMESPACED | CREATE_ON_UPDATE | UNCONDITIONAL },
    { KIND(core, Namespace, "namespaces", "namespace"),
      TABLE(namespace),
      .check_name = name_is_label,
      .defaults = namespace_defaults,
      .prepare = namespace_prepare,
      .validate = namespace_validate,
      .validate_status = namespace_validate_status,
      .short_names = "ns",
      .verbs = "create,delete,get,list,patch,update,watch",
      .flags = STATUS | UNCONDITIONAL,
      .subs = namespace_subs,
      .select_fields = "status.phase" },
    { KIND(core, Node, "nodes", "node"),
      TABLE(node),
      .defaults = node_defaults,
      .prepare = node_prepare,
      .validate = node_validate,
      .validate_update = node_validate_update,
      .validate_status = node_validate_status,
      .short_names = "no",
      .flags = STATUS | UNCONDITIONAL,
      .subs = node_subs,
      .select_fields = "spec.unschedulable" },
    { KIND(core, PersistentVolumeClaim, "persistentvolumeclaims", "persistentvolumeclaim"),
      TABLE(persistentvolumeclaim),
      .defaults = persistentvolumeclaim_defaults,
      .prepare = persistentvolumeclaim_prepare,
      .validate = persistentvolumeclaim_validate,
      .validate_update = persistentvolumeclaim_validate_update,
      .validate_status = persistentvolumeclaim_validate_status,
      .short_names = "pvc",
      .flags = NAMESPACED | STATUS | UNCONDITIONAL,
      .subs = status_only },
    { KIND(core, PersistentVolume, "persistentvolumes", "persistentvolume"),
      TABLE(persistentvolume),
      .defaults = persistentvolume_defaults,
      .prepare = persistentvolume_prepare,
      .validate = persistentvolume_validate,
      .validate_update = persistentvolume_validate_update,
      .short_names = "pv",
      .flags = STATUS | UNCONDITIONAL,
      .subs = status_only },
    { KIND(core, Pod, "pods", "pod"),
      TABLE(pod),
      .row_conditions = pod_row_conditions,
      .defaults = pod_defaults,
      .prepare = pod_prepare,
      .validate = pod_validate,
      .validate_update = pod_validate_update,
      .validate_status = pod_validate_status,
      .short_names = "po",
      .categories = "all",
      .flags = NAMESPACED | STATUS | GENERATION | UNCONDITIONAL | GRACEFUL,
      .subs = pod_subs,
      .select_fields = "spec.nodeName,spec.restartPolicy,spec.schedulerName"
                       ",spec.serviceAccountName,spec.hostNetwork,status.phase"
                       ",status.podIP,status.podIPs,status.nominatedNodeName" },
    { KIND(core, PodTemplate, "podtemplates", "podtemplate"),
      TABLE(podtemplate),
      .defaults = podtemplate_defaults,
      .validate = podtemplate_validate,
      .flags = NAMESPACED | GENERATION | UNCONDITIONAL },
    { KIND(core, ReplicationController, "replicationcontrollers", "replicationcontroller"),
      .defaults = replicationcontroller_defaults,
      .prepare = status_is_the_servers,
      .validate = replicationcontroller_validate,
      TABLE(replicationcontroller),
      .short_names = "rc",
      .categories = "all",
      .flags = NAMESPACED | STATUS | SCALE | GENERATION | UNCONDITIONAL,
      .subs = scale_and_status,
      .select_fields = "status.replicas" },
    { KIND(core, ResourceQuota, "resourcequotas", "resourcequota"),
      TABLE(resourcequota),
      .short_names = "quota",
      .flags = NAMESPACED | STATUS | UNCONDITIONAL,
      .subs = status_only },
    { KIND(core, Secret, "secrets", "secret"),
      TABLE(secret),
      .defaults = secret_defaults,
      .validate = secret_validate,
      .validate_update = secret_validate_update,
      .flags = NAMESPACED | UNCONDITIONAL,
      .select_fields = "type" },
    { KIND(core, ServiceAccount, "serviceaccounts", "serviceaccount"),
      TABLE(serviceaccount),
      .short_names = "sa",
      .flags = NAMESPACED | UNCONDITIONAL,
      .subs = serviceaccount_subs },
    { KIND(core, Service, "services", "service"),
      TABLE(service),
      .check_name = name_is_1035_label,
      .defaults = service_defaults,
      .prepare = service_prepare,
      .validate = service_validate,
      .validate_update = service_validate_update,
      .validate_status = service_validate_status,
      .short_names = "svc",
      .categories = "all",
      .flags = NAMESPACED | STATUS | CREATE_ON_UPDATE | UNCONDITIONAL,
      .subs = service_subs,
      .select_fields = "spec.clusterIP,spec.type" },

    { KIND(apps, ControllerRevision, "controllerrevisions", "controllerrevision"),
      .validate = controllerrevision_validate,
      .validate_update = controllerrevision_validate_update,
      TABLE(controllerrevision),
      .flags = NAMESPACED | UNCONDITIONAL },
    { KIND(apps, DaemonSet, "daemonsets", "daemonset"),
      .defaults = daemonset_defaults,
      .prepare = daemonset_prepare,
      .validate = daemonset_validate,
      .validate_update = daemonset_validate_update,
      .validate_status = daemonset_validate_status,
      TABLE(daemonset),
      .short_names = "ds",
      .categories = "all",
      .flags = NAMESPACED | STATUS | GENERATION | UNCONDITIONAL,
      .subs = status_only },
    { KIND(apps, Deployment, "deployments", "deployment"),
      .defaults = deployment_defaults,
      .prepare = status_is_the_servers,
      .validate = deployment_validate,
      .validate_update = deployment_validate_update,
      .validate_status = deployment_validate_status,
      TABLE(deployment),
      .short_names = "deploy",
      .categories = "all",
      .flags = NAMESPACED | STATUS | SCALE | GENERATION | UNCONDITIONAL,
      .subs = scale_and_status },
    { KIND(apps, ReplicaSet, "replicasets", "replicaset"),
      .defaults = replicaset_defaults,
      .prepare = status_is_the_servers,
      .validate = replicaset_validate,
      .validate_update = replicaset_validate_update,
      .validate_status = replicaset_validate_status,
      TABLE(replicaset),
      .short_names = "rs",
      .categories = "all",
      .flags = NAMESPACED | STATUS | SCALE | GENERATION | UNCONDITIONAL,
      .subs = scale_and_status },
    { KIND(apps, StatefulSet, "statefulsets", "statefulset"),
      .check_name = name_is_label,
      .defaults = statefulset_defaults,
      .prepare = status_is_the_servers,
      .validate = statefulset_validate,
      .validate_update = statefulset_validate_update,
      .validate_status = statefulset_validate_status,
      TABLE(statefulset),
      .short_names = "sts",
      .categories = "all",
      .flags = NAMESPACED | STATUS | SCALE | GENERATION | UNCONDITIONAL,
      .subs = scale_and_status },

    { KIND(events, Event, "events", "event"),
      TABLE_AS(event, event_new_cells),
      .short_names = "ev",
      .flags = NAMESPACED | CREATE_ON_UPDATE | UNCONDITIONAL,
      .select_fields = "reason,regarding.kind,regarding.namespace,regarding.name"
                       ",regarding.uid,regarding.apiVersion,regarding.resourceVersion"
                       ",regarding.fieldPath,reportingController,type" },

    { KIND(authn, SelfSubjectReview, "selfsubjectreviews", "selfsubjectreview"),
      .verbs = "create",
      .flags = REVIEW },
    { KIND(authn, TokenReview, "tokenreviews", "tokenreview"),
      .verbs = "create",
      .flags = REVIEW },

    { KIND(authz, LocalSubjectAccessReview, "localsubjectaccessreviews",
           "localsubjectaccessreview"),
      .verbs = "create",
      .flags = NAMESPACED | REVIEW },
    { KIND(authz, SelfSubjectAccessReview, "selfsubjectaccessreviews", "selfsubjectaccessreview"),
      .verbs = "create",
      .flags = REVIEW },
    { KIND(authz, SelfSubjectRulesReview, "selfsubjectrulesreviews", "selfsubjectrulesreview"),
      .verbs = "create",
      .flags = REVIEW },
    { KIND(authz, SubjectAccessReview, "subjectaccessreviews", "subjectaccessreview"),
      .verbs = "create",
      .flags = REVIEW },

    { KIND(autoscaling2, HorizontalPodAutoscaler, "horizontalpodautoscalers",
           "horizontalpodautoscaler"),
      TABLE(hpa),
      .short_names = "hpa",
      .categories = "all",
      .flags = NAMESPACED | STATUS | UNCONDITIONAL,
      .subs = status_only },

    { KIND(autoscaling1, HorizontalPodAutoscaler, "horizontalpodautoscalers",
           "horizontalpodautoscaler"),
      TABLE_AS(hpa, hpa_v1_cells),
      .short_names = "hpa",
      .categories = "all",
      .flags = NAMESPACED | STATUS | UNCONDITIONAL,
      .subs = status_only },

    { KIND(batch, CronJob, "cronjobs", "cronjob"),
      .defaults = cronjob_defaults,
      .prepare = status_is_the_servers,
      .validate = cronjob_validate,
      TABLE(cronjob),
      .short_names = "cj",
      .categories = "all",
      .flags = NAMESPACED | STATUS | GENERATION | UNCONDITIONAL,
      .subs = status_only },
    { KIND(batch, Job, "jobs", "job"),
      .defaults = job_defaults,
      .prepare = job_prepare,
      .validate = job_validate,
      .validate_update = job_validate_update,
      .validate_status = job_validate_status,
      TABLE(job),
      .categories = "all",
      .flags = NAMESPACED | STATUS | GENERATION | UNCONDITIONAL,
      .subs = status_only,
      .select_fields = "status.successful" },

    { KIND(networking, IngressClass, "ingressclasses", "ingressclass"),
      TABLE(ingressclass),
      .flags = GENERATION | UNCONDITIONAL },
    { KIND(networking, Ingress, "ingresses", "ingress"),
      TABLE(ingress),
      .short_names = "ing",
      .flags = NAMESPACED | STATUS | GENERATION | UNCONDITIONAL,
      .subs = status_only },
    { KIND(networking, IPAddress, "ipaddresses", "ipaddress"),
      TABLE(ipaddress),
      .short_names = "ip",
      .flags = UNCONDITIONAL },
    { KIND(networking, NetworkPolicy, "networkpolicies", "networkpolicy"),
      TABLE(networkpolicy),
      .short_names = "netpol",
      .flags = NAMESPACED | GENERATION | UNCONDITIONAL },
    { KIND(networking, ServiceCIDR, "servicecidrs", "servicecidr"),
      TABLE(servicecidr),
      .flags = STATUS | UNCONDITIONAL,
      .subs = status_only },

    { KIND(policy, PodDisruptionBudget, "poddisruptionbudgets", "poddisruptionbudget"),
      TABLE(poddisruptionbudget),
      .short_names = "pdb",
      .flags = NAMESPACED | STATUS | GENERATION,
      .subs = status_only },

    { KIND(rbac, ClusterRoleBinding, "clusterrolebindings", "clusterrolebinding"),
      TABLE(rolebinding),
      .flags = CREATE_ON_UPDATE | UNCONDITIONAL },
    { KIND(rbac, ClusterRole, "clusterroles", "clusterrole"),
      .flags = CREATE_ON_UPDATE | UNCONDITIONAL },
    { KIND(rbac, RoleBinding, "rolebindings", "rolebinding"),
      TABLE(rolebinding),
      .flags = NAMESPACED | CREATE_ON_UPDATE | UNCONDITIONAL },
    { KIND(rbac, Role, "roles", "role"),
      .flags = NAMESPACED | CREATE_ON_UPDATE | UNCONDITIONAL },

    { KIND(storage, CSIDriver, "csidrivers", "csidriver"),
      TABLE(csidriver),
      .flags = 0 },
    { KIND(storage, CSINode, "csinodes", "csinode"),
      TABLE(csinode),
      .flags = 0 },
    { KIND(storage, CSIStorageCapacity, "csistoragecapacities", "csistoragecapacity"),
      .flags = NAMESPACED },
    { KIND(storage, StorageClass, "storageclasses", "storageclass"),
      TABLE(storageclass),
      .short_names = "sc",
      .flags = UNCONDITIONAL },
    { KIND(storage, VolumeAttachment, "volumeattachments", "volumeattachment"),
      TABLE(volumeattachment),
      .flags = STATUS,
      .subs = status_only },
    { KIND(storage, VolumeAttributesClass, "volumeattributesclasses", "volumeattributesclass"),
      TABLE(volumeattributesclass),
      .short_names = "vac",
      .flags = UNCONDITIONAL },

    { KIND(admission, MutatingWebhookConfiguration, "mutatingwebhookconfigurations",
           "mutatingwebhookconfiguration"),
      TABLE(webhooks),
      .categories = "api-extensions",
      .flags = GENERATION },
    { KIND(admission, ValidatingAdmissionPolicy, "validatingadmissionpolicies",
           "validatingadmissionpolicy"),
      TABLE(policy),
      .categories = "api-extensions",
      .flags = STATUS | GENERATION,
      .subs = status_only },
    { KIND(admission, ValidatingAdmissionPolicyBinding, "validatingadmissionpolicybindings",
           "validatingadmissionpolicybinding"),
      TABLE(policybinding),
      .categories = "api-extensions",
      .flags = GENERATION },
    { KIND(admission, ValidatingWebhookConfiguration, "validatingwebhookconfigurations",
           "validatingwebhookconfiguration"),
      TABLE(webhooks),
      .categories = "api-extensions",
      .flags = GENERATION },

    { KIND(apiext, CustomResourceDefinition, "customresourcedefinitions",
           "customresourcedefinition"),
      .short_names = "crd,crds",
      .categories = "api-extensions",
      .flags = STATUS | GENERATION,
      .subs = status_only },

    { KIND(scheduling, PriorityClass, "priorityclasses", "priorityclass"),
      TABLE(priorityclass),
      .short_names = "pc",
      .flags = GENERATION | UNCONDITIONAL },

    { KIND(coordination, Lease, "leases", "lease"),
      TABLE(lease),
      .flags = NAMESPACED | CREATE_ON_UPDATE },

    { KIND(discovery, EndpointSlice, "endpointslices", "endpointslice"),
      TABLE(endpointslice),
      .flags = NAMESPACED | GENERATION | UNCONDITIONAL },
};
const size_t builtin_kinds_n = COUNT(builtin_kinds);
/* clang-format on */

const struct builtin_kind *builtin_find(str group, str version, str plural)
{
    for (size_t i = 0; i < COUNT(builtin_kinds); i++) {
        const struct builtin_kind *k = &builtin_kinds[i];
        if (str_eqz(plural, k->plural) && str_eqz(group, k->group) && str_eqz(version, k->version))
            return k;
    }
    return NULL;
}

const struct builtin_kind *builtin_find_kind(str group, str version, str kind)
{
    for (size_t i = 0; i < COUNT(builtin_kinds); i++) {
        const struct builtin_kind *k = &builtin_kinds[i];
        if (str_eqz(kind, k->kind) && str_eqz(group, k->group) && str_eqz(version, k->version))
            return k;
    }
    return NULL;
}
