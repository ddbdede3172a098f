/* Field numbers that are not simply the order of a type's rows; kube/protobuf.h says how to read
 * them. Facts of Kubernetes 1.34; numbers once given never change. By name. */
/* clang-format off */

#include "builtin/wire.h"

#define ADMISSION "io.k8s.api.admissionregistration.v1."
#define APPS "io.k8s.api.apps.v1."
#define AUTHN "io.k8s.api.authentication.v1."
#define AUTHZ "io.k8s.api.authorization.v1."
#define AUTOSCALING2 "io.k8s.api.autoscaling.v2."
#define BATCH "io.k8s.api.batch.v1."
#define CORE "io.k8s.api.core.v1."
#define DISCOVERY "io.k8s.api.discovery.v1."
#define NETWORKING "io.k8s.api.networking.v1."
#define RESOURCE "io.k8s.api.resource.v1."
#define APIEXT "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
#define META "io.k8s.apimachinery.pkg.apis.meta.v1."

static const struct wire_type types[] = {
    { ADMISSION "ExpressionWarning", "2: fieldRef warning" },
    { ADMISSION "MatchResources",
      "namespaceSelector objectSelector resourceRules excludeResourceRules 7: "
      "matchPolicy" },
    { ADMISSION "MutatingWebhook",
      "name clientConfig rules failurePolicy namespaceSelector sideEffects "
      "timeoutSeconds admissionReviewVersions matchPolicy reinvocationPolicy "
      "objectSelector matchConditions" },
    { ADMISSION "NamedRuleWithOperations", "resourceNames *RuleWithOperations" },
    { ADMISSION "Rule", "apiGroups apiVersions resources scope" },
    { ADMISSION "RuleWithOperations", "operations *Rule" },
    { ADMISSION "ValidatingWebhook",
      "name clientConfig rules failurePolicy namespaceSelector sideEffects "
      "timeoutSeconds admissionReviewVersions matchPolicy objectSelector "
      "matchConditions" },
    { ADMISSION "WebhookClientConfig", "service caBundle url" },
    { APPS "DaemonSetSpec",
      "selector template updateStrategy minReadySeconds 6: revisionHistoryLimit" },
    { APPS "DeploymentCondition",
      "type status 4: reason message lastUpdateTime lastTransitionTime" },
    { APPS "DeploymentSpec",
      "replicas selector template strategy minReadySeconds revisionHistoryLimit paused "
      "9: progressDeadlineSeconds" },
    { APPS "DeploymentStatus",
      "observedGeneration replicas updatedReplicas availableReplicas "
      "unavailableReplicas conditions readyReplicas collisionCount terminatingReplicas" },
    { APPS "ReplicaSetSpec", "replicas selector template minReadySeconds" },
    { APPS "ReplicaSetStatus",
      "replicas fullyLabeledReplicas observedGeneration readyReplicas availableReplicas "
      "conditions terminatingReplicas" },
    { APPS "StatefulSetStatus",
      "observedGeneration replicas readyReplicas currentReplicas updatedReplicas "
      "currentRevision updateRevision 9: collisionCount conditions availableReplicas" },
    { AUTHN "BoundObjectReference", "kind apiVersion name uid" },
    { AUTHN "TokenRequestSpec", "audiences 3: boundObjectRef expirationSeconds" },
    { AUTHN "TokenReviewStatus", "authenticated user error audiences" },
    { AUTHZ "SubjectAccessReviewStatus", "allowed reason evaluationError denied" },
    { AUTOSCALING2 "HPAScalingRules",
      "selectPolicy policies stabilizationWindowSeconds tolerance" },
    { AUTOSCALING2 "MetricSpec", "type object pods resource external 7: containerResource" },
    { AUTOSCALING2 "MetricStatus", "type object pods resource external 7: containerResource" },
    { BATCH "CronJobSpec",
      "schedule startingDeadlineSeconds concurrencyPolicy suspend jobTemplate "
      "successfulJobsHistoryLimit failedJobsHistoryLimit timeZone" },
    { BATCH "CronJobStatus", "active 4: lastScheduleTime lastSuccessfulTime" },
    { BATCH "JobSpec",
      "parallelism completions activeDeadlineSeconds selector manualSelector template "
      "backoffLimit ttlSecondsAfterFinished completionMode suspend podFailurePolicy "
      "backoffLimitPerIndex maxFailedIndexes podReplacementPolicy managedBy "
      "successPolicy" },
    { BATCH "JobStatus",
      "conditions startTime completionTime active succeeded failed completedIndexes "
      "uncountedTerminatedPods ready failedIndexes terminating" },
    { CORE "ClusterTrustBundleProjection", "name signerName labelSelector path optional" },
    { CORE "ConfigMap", "metadata data binaryData immutable" },
    { CORE "ConfigMapEnvSource", "*LocalObjectReference optional" },
    { CORE "ConfigMapKeySelector", "*LocalObjectReference key optional" },
    { CORE "ConfigMapProjection", "*LocalObjectReference items 4: optional" },
    { CORE "ConfigMapVolumeSource", "*LocalObjectReference items defaultMode optional" },
    { CORE "Container",
      "name image command args workingDir ports env resources volumeMounts "
      "livenessProbe readinessProbe lifecycle terminationMessagePath imagePullPolicy "
      "securityContext stdin stdinOnce tty envFrom terminationMessagePolicy "
      "volumeDevices startupProbe resizePolicy restartPolicy restartPolicyRules" },
    { CORE "EndpointAddress", "ip targetRef hostname nodeName" },
    { CORE "EphemeralContainer", "*Container targetContainerName" },
    { CORE "ISCSIPersistentVolumeSource",
      "targetPortal iqn lun iscsiInterface fsType readOnly portals chapAuthDiscovery "
      "10: secretRef chapAuthSession initiatorName" },
    { CORE "ISCSIVolumeSource",
      "targetPortal iqn lun iscsiInterface fsType readOnly portals chapAuthDiscovery "
      "10: secretRef chapAuthSession initiatorName" },
    { CORE "LocalObjectReference", "name" },
    { CORE "NamespaceCondition", "type status 4: lastTransitionTime reason message" },
    { CORE "NodeConfigSource", "2: configMap" },
    { CORE "NodeSpec",
      "podCIDR externalID providerID unschedulable taints configSource podCIDRs" },
    { CORE "PersistentVolumeClaimSpec",
      "accessModes resources volumeName selector storageClassName volumeMode dataSource "
      "dataSourceRef volumeAttributesClassName" },
    { CORE "PersistentVolumeClaimStatus",
      "phase accessModes capacity conditions allocatedResources 7: "
      "allocatedResourceStatuses currentVolumeAttributesClassName modifyVolumeStatus" },
    { CORE "PersistentVolumeSource",
      "gcePersistentDisk awsElasticBlockStore hostPath glusterfs nfs rbd iscsi cinder "
      "cephfs fc flocker flexVolume azureFile vsphereVolume quobyte azureDisk "
      "photonPersistentDisk portworxVolume scaleIO local storageos csi" },
    { CORE "PersistentVolumeSpec",
      "capacity *PersistentVolumeSource accessModes claimRef "
      "persistentVolumeReclaimPolicy storageClassName mountOptions volumeMode "
      "nodeAffinity volumeAttributesClassName" },
    { CORE "PodCondition",
      "type status lastProbeTime lastTransitionTime reason message observedGeneration" },
    { CORE "PodResourceClaim", "name 3: resourceClaimName resourceClaimTemplateName" },
    { CORE "PodSecurityContext",
      "seLinuxOptions runAsUser runAsNonRoot supplementalGroups fsGroup runAsGroup "
      "sysctls windowsOptions fsGroupChangePolicy seccompProfile appArmorProfile "
      "supplementalGroupsPolicy seLinuxChangePolicy" },
    { CORE "PodSpec",
      "volumes containers restartPolicy terminationGracePeriodSeconds "
      "activeDeadlineSeconds dnsPolicy nodeSelector serviceAccountName serviceAccount "
      "nodeName hostNetwork hostPID hostIPC securityContext imagePullSecrets hostname "
      "subdomain affinity schedulerName initContainers automountServiceAccountToken "
      "tolerations hostAliases priorityClassName priority dnsConfig "
      "shareProcessNamespace readinessGates runtimeClassName enableServiceLinks "
      "preemptionPolicy overhead topologySpreadConstraints ephemeralContainers "
      "setHostnameAsFQDN os hostUsers schedulingGates resourceClaims resources "
      "hostnameOverride" },
    { CORE "PodStatus",
      "phase conditions message reason hostIP podIP startTime containerStatuses "
      "qosClass initContainerStatuses nominatedNodeName podIPs "
      "ephemeralContainerStatuses resize resourceClaimStatuses hostIPs "
      "observedGeneration extendedResourceClaimStatus" },
    { CORE "Probe",
      "*ProbeHandler initialDelaySeconds timeoutSeconds periodSeconds successThreshold "
      "failureThreshold terminationGracePeriodSeconds" },
    { CORE "ProbeHandler", "exec httpGet tcpSocket grpc" },
    { CORE "ReplicationControllerSpec", "replicas selector template minReadySeconds" },
    { CORE "ReplicationControllerStatus",
      "replicas fullyLabeledReplicas observedGeneration readyReplicas availableReplicas "
      "conditions" },
    { CORE "Secret", "metadata data type stringData immutable" },
    { CORE "SecretEnvSource", "*LocalObjectReference optional" },
    { CORE "SecretKeySelector", "*LocalObjectReference key optional" },
    { CORE "SecretProjection", "*LocalObjectReference items 4: optional" },
    { CORE "SecurityContext",
      "capabilities privileged seLinuxOptions runAsUser runAsNonRoot "
      "readOnlyRootFilesystem allowPrivilegeEscalation runAsGroup procMount "
      "windowsOptions seccompProfile appArmorProfile" },
    { CORE "ServicePort", "name protocol port targetPort nodePort appProtocol" },
    { CORE "ServiceSpec",
      "ports selector clusterIP type externalIPs 7: sessionAffinity loadBalancerIP "
      "loadBalancerSourceRanges externalName externalTrafficPolicy healthCheckNodePort "
      "publishNotReadyAddresses sessionAffinityConfig 17: ipFamilyPolicy clusterIPs "
      "ipFamilies allocateLoadBalancerNodePorts loadBalancerClass internalTrafficPolicy "
      "trafficDistribution" },
    { CORE "Volume", "name *VolumeSource" },
    { CORE "VolumeMount",
      "name readOnly mountPath subPath mountPropagation subPathExpr recursiveReadOnly" },
    { CORE "VolumeSource",
      "hostPath emptyDir gcePersistentDisk awsElasticBlockStore gitRepo secret nfs "
      "iscsi glusterfs persistentVolumeClaim rbd flexVolume cinder cephfs flocker "
      "downwardAPI fc azureFile configMap vsphereVolume quobyte azureDisk "
      "photonPersistentDisk portworxVolume scaleIO projected storageos csi ephemeral "
      "image" },
    { DISCOVERY "EndpointSlice", "metadata endpoints ports addressType" },
    { NETWORKING "HTTPIngressPath", "path backend pathType" },
    { NETWORKING "IngressBackend", "3: resource service" },
    { NETWORKING "IngressLoadBalancerIngress", "ip hostname 4: ports" },
    { NETWORKING "IngressRule", "host *IngressRuleValue" },
    { NETWORKING "IngressRuleValue", "http" },
    { NETWORKING "IngressSpec", "defaultBackend tls rules ingressClassName" },
    { RESOURCE "AllocatedDeviceStatus",
      "driver pool device conditions data networkData shareID" },
    { RESOURCE "AllocationResult", "devices 3: nodeSelector 5: allocationTimestamp" },
    { RESOURCE "CapacityRequestPolicy", "default 3: validValues validRange" },
    { RESOURCE "DeviceAllocationConfiguration", "source requests *DeviceConfiguration" },
    { RESOURCE "DeviceAttribute", "2: int bool string version" },
    { RESOURCE "DeviceClaimConfiguration", "requests *DeviceConfiguration" },
    { RESOURCE "DeviceClassConfiguration", "*DeviceConfiguration" },
    { RESOURCE "DeviceClassSpec", "selectors config 4: extendedResourceName" },
    { RESOURCE "DeviceConfiguration", "opaque" },
    { RESOURCE "ResourceClaimConsumerReference", "apiGroup 3: resource name uid" },
    { RESOURCE "ResourceClaimStatus", "allocation reservedFor 4: devices" },
    { APIEXT "CustomResourceDefinitionSpec",
      "group 3: names scope 7: versions 9: conversion preserveUnknownFields" },
    { APIEXT "CustomResourceDefinitionVersion",
      "name served storage schema subresources additionalPrinterColumns deprecated "
      "deprecationWarning selectableFields" },
    { APIEXT "WebhookClientConfig", "service caBundle url" },
    { APIEXT "WebhookConversion", "2: clientConfig conversionReviewVersions" },
    { META "ManagedFieldsEntry",
      "manager operation apiVersion time 6: fieldsType fieldsV1 subresource" },
    { META "ObjectMeta",
      "name generateName namespace selfLink uid resourceVersion generation "
      "creationTimestamp deletionTimestamp deletionGracePeriodSeconds labels "
      "annotations ownerReferences finalizers 17: managedFields" },
    { META "OwnerReference", "kind 3: name uid apiVersion controller blockOwnerDeletion" },
};

const struct wire builtin_wire = { types, COUNT(types), .only_utf8 = true };
