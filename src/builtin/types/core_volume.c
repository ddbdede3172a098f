/* core/v1: volumes, claims and all the places their bytes may come from. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.core.v1"
#define GO_PACKAGE "v1"

TYPE(core, ObjectReference, ATOMIC,
    F("kind", STRING, 0),
    F("namespace", STRING, 0),
    F("name", STRING, 0),
    F("uid", meta_UID, 0),
    F("apiVersion", STRING, 0),
    F("resourceVersion", STRING, 0),
    F("fieldPath", STRING, 0))

MAP_TYPE(core, ResourceList, QUANTITY)
STRING_TYPE(core, ConditionStatus)

LOCAL_TYPE(core, VolumeResourceRequirements, PLAIN,
    F("limits", core_ResourceList, 0),
    F("requests", core_ResourceList, 0))

TYPE(core, TypedLocalObjectReference, ATOMIC,
    F("apiGroup", STRING, KEEP | PTR),
    F("kind", STRING, REQ | KEEP),
    F("name", STRING, REQ | KEEP))

LOCAL_TYPE(core, TypedObjectReference, PLAIN,
    F("apiGroup", STRING, KEEP | PTR),
    F("kind", STRING, REQ | KEEP),
    F("name", STRING, REQ | KEEP),
    F("namespace", STRING, PTR))

LOCAL_ENUM(core, PersistentVolumeAccessMode, "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
    "ReadWriteOncePod")
LOCAL_ENUM(core, PersistentVolumeMode, "Block", "Filesystem")

LOCAL_TYPE(core, PersistentVolumeClaimSpec, PLAIN,
    F("accessModes", LIST(core_PersistentVolumeAccessMode), 0,
      DOC("Who may use the volume, and how.")),
    F("selector", meta_LabelSelector, PTR, DOC("Which volumes will do.")),
    F("resources", core_VolumeResourceRequirements, KEEP, DOC("How much storage.")),
    F("volumeName", STRING, 0, DOC("The volume it is bound to.")),
    F("storageClassName", STRING, PTR, DOC("Which sort of storage.")),
    F("volumeMode", core_PersistentVolumeMode, PTR, DOC("Filesystem or Block.")),
    F("dataSource", core_TypedLocalObjectReference, PTR,
      DOC("What the volume should begin with.")),
    F("dataSourceRef", core_TypedObjectReference, PTR),
    F("volumeAttributesClassName", STRING, PTR))

LOCAL_STRING_TYPE(core, PersistentVolumeClaimConditionType)

LOCAL_TYPE(core, PersistentVolumeClaimCondition, PLAIN,
    F("type", core_PersistentVolumeClaimConditionType, REQ | KEEP),
    F("status", core_ConditionStatus, REQ | KEEP),
    F("lastProbeTime", TIME, KEEP),
    F("lastTransitionTime", TIME, KEEP),
    F("reason", STRING, 0),
    F("message", STRING, 0))

LOCAL_ENUM(core, PersistentVolumeClaimModifyVolumeStatus, "InProgress", "Infeasible", "Pending")

LOCAL_TYPE(core, ModifyVolumeStatus, PLAIN,
    F("targetVolumeAttributesClassName", STRING, 0),
    F("status", core_PersistentVolumeClaimModifyVolumeStatus, REQ | KEEP))

LOCAL_ENUM(core, PersistentVolumeClaimPhase, "Bound", "Lost", "Pending")
LOCAL_ENUM(core, ClaimResourceStatus, "ControllerResizeInProgress",
    "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible",
    "NodeResizePending")

LOCAL_TYPE(core, PersistentVolumeClaimStatus, PLAIN,
    F("phase", core_PersistentVolumeClaimPhase, 0),
    F("accessModes", LIST(core_PersistentVolumeAccessMode), 0),
    F("capacity", core_ResourceList, 0),
    F("conditions", LIST(core_PersistentVolumeClaimCondition, BY("type"), MERGE("type")), 0),
    F("allocatedResources", core_ResourceList, 0),
    F("allocatedResourceStatuses", MAP(core_ClaimResourceStatus,
      GO("map[v1.ResourceName]v1.ClaimResourceStatus")), 0),
    F("currentVolumeAttributesClassName", STRING, PTR),
    F("modifyVolumeStatus", core_ModifyVolumeStatus, PTR))

TYPE(core, PersistentVolumeClaim,
    DOC("A wish for storage, bound to a persistent volume that fits."),
    OBJECT_HEAD,
    F("spec", core_PersistentVolumeClaimSpec, KEEP, DOC("The desired state.")),
    F("status", core_PersistentVolumeClaimStatus, KEEP, DOC("The observed state. Written by the system.")))

LOCAL_TYPE(core, GCEPersistentDiskVolumeSource, PLAIN,
    F("pdName", STRING, REQ | KEEP),
    F("fsType", STRING, 0),
    F("partition", INT32, 0),
    F("readOnly", BOOL, 0))

LOCAL_TYPE(core, AWSElasticBlockStoreVolumeSource, PLAIN,
    F("volumeID", STRING, REQ | KEEP),
    F("fsType", STRING, 0),
    F("partition", INT32, 0),
    F("readOnly", BOOL, 0))

LOCAL_ENUM(core, HostPathType, "", "BlockDevice", "CharDevice", "Directory",
    "DirectoryOrCreate", "File", "FileOrCreate", "Socket")

LOCAL_TYPE(core, HostPathVolumeSource, PLAIN,
    F("path", STRING, REQ | KEEP),
    F("type", core_HostPathType, PTR))

LOCAL_TYPE(core, GlusterfsPersistentVolumeSource, PLAIN,
    F("endpoints", STRING, REQ | KEEP),
    F("path", STRING, REQ | KEEP),
    F("readOnly", BOOL, 0),
    F("endpointsNamespace", STRING, PTR))

LOCAL_TYPE(core, NFSVolumeSource, PLAIN,
    F("server", STRING, REQ | KEEP),
    F("path", STRING, REQ | KEEP),
    F("readOnly", BOOL, 0))

LOCAL_TYPE(core, SecretReference, ATOMIC,
    F("name", STRING, 0),
    F("namespace", STRING, 0))

LOCAL_TYPE(core, RBDPersistentVolumeSource, PLAIN,
    F("monitors", LIST(STRING), REQ | KEEP),
    F("image", STRING, REQ | KEEP),
    F("fsType", STRING, 0),
    F("pool", STRING, 0),
    F("user", STRING, 0),
    F("keyring", STRING, 0),
    F("secretRef", core_SecretReference, PTR),
    F("readOnly", BOOL, 0))

LOCAL_TYPE(core, ISCSIPersistentVolumeSource, PLAIN,
    F("targetPortal", STRING, REQ | KEEP),
    F("iqn", STRING, REQ | KEEP),
    F("lun", INT32, REQ | KEEP),
    F("iscsiInterface", STRING, 0),
    F("fsType", STRING, 0),
    F("readOnly", BOOL, 0),
    F("portals", LIST(STRING), 0),
    F("chapAuthDiscovery", BOOL, 0),
    F("chapAuthSession", BOOL, 0),
    F("secretRef", core_SecretReference, PTR),
    F("initiatorName", STRING, PTR))

LOCAL_TYPE(core, CinderPersistentVolumeSource, PLAIN,
    F("volumeID", STRING, REQ | KEEP),
    F("fsType", STRING, 0),
    F("readOnly", BOOL, 0),
    F("secretRef", core_SecretReference, PTR))

LOCAL_TYPE(core, CephFSPersistentVolumeSource, PLAIN,
    F("monitors", LIST(STRING), REQ | KEEP),
    F("path", STRING, 0),
    F("user", STRING, 0),
    F("secretFile", STRING, 0),
    F("secretRef", core_SecretReference, PTR),
    F("readOnly", BOOL, 0))

LOCAL_TYPE(core, FCVolumeSource, PLAIN,
    F("targetWWNs", LIST(STRING), 0),
    F("lun", INT32, PTR),
    F("fsType", STRING, 0),
    F("readOnly", BOOL, 0),
    F("wwids", LIST(STRING), 0))

LOCAL_TYPE(core, FlockerVolumeSource, PLAIN,
    F("datasetName", STRING, 0),
    F("datasetUUID", STRING, 0))

LOCAL_TYPE(core, FlexPersistentVolumeSource, PLAIN,
    F("driver", STRING, REQ | KEEP),
    F("fsType", STRING, 0),
    F("secretRef", core_SecretReference, PTR),
    F("readOnly", BOOL, 0),
    F("options", MAP(STRING), 0))

LOCAL_TYPE(core, AzureFilePersistentVolumeSource, PLAIN,
    F("secretName", STRING, REQ | KEEP),
    F("shareName", STRING, REQ | KEEP),
    F("readOnly", BOOL, 0),
    F("secretNamespace", STRING, KEEP | PTR))

LOCAL_TYPE(core, VsphereVirtualDiskVolumeSource, PLAIN,
    F("volumePath", STRING, REQ | KEEP),
    F("fsType", STRING, 0),
    F("storagePolicyName", STRING, 0),
    F("storagePolicyID", STRING, 0))

LOCAL_TYPE(core, QuobyteVolumeSource, PLAIN,
    F("registry", STRING, REQ | KEEP),
    F("volume", STRING, REQ | KEEP),
    F("readOnly", BOOL, 0),
    F("user", STRING, 0),
    F("group", STRING, 0),
    F("tenant", STRING, 0))

LOCAL_ENUM(core, AzureDataDiskCachingMode, "None", "ReadOnly", "ReadWrite")
LOCAL_ENUM(core, AzureDataDiskKind, "Dedicated", "Managed", "Shared")

LOCAL_TYPE(core, AzureDiskVolumeSource, PLAIN,
    F("diskName", STRING, REQ | KEEP),
    F("diskURI", STRING, REQ | KEEP),
    F("cachingMode", core_AzureDataDiskCachingMode, PTR),
    F("fsType", STRING, PTR),
    F("readOnly", BOOL, PTR),
    F("kind", core_AzureDataDiskKind, PTR))

LOCAL_TYPE(core, PhotonPersistentDiskVolumeSource, PLAIN,
    F("pdID", STRING, REQ | KEEP),
    F("fsType", STRING, 0))

LOCAL_TYPE(core, PortworxVolumeSource, PLAIN,
    F("volumeID", STRING, REQ | KEEP),
    F("fsType", STRING, 0),
    F("readOnly", BOOL, 0))

LOCAL_TYPE(core, ScaleIOPersistentVolumeSource, PLAIN,
    F("gateway", STRING, REQ | KEEP),
    F("system", STRING, REQ | KEEP),
    F("secretRef", core_SecretReference, REQ | KEEP | PTR),
    F("sslEnabled", BOOL, 0),
    F("protectionDomain", STRING, 0),
    F("storagePool", STRING, 0),
    F("storageMode", STRING, 0),
    F("volumeName", STRING, 0),
    F("fsType", STRING, 0),
    F("readOnly", BOOL, 0))

LOCAL_TYPE(core, LocalVolumeSource, PLAIN,
    F("path", STRING, REQ | KEEP),
    F("fsType", STRING, PTR))

LOCAL_TYPE(core, StorageOSPersistentVolumeSource, PLAIN,
    F("volumeName", STRING, 0),
    F("volumeNamespace", STRING, 0),
    F("fsType", STRING, 0),
    F("readOnly", BOOL, 0),
    F("secretRef", core_ObjectReference, PTR))

LOCAL_TYPE(core, CSIPersistentVolumeSource, PLAIN,
    F("driver", STRING, REQ | KEEP),
    F("volumeHandle", STRING, REQ | KEEP),
    F("readOnly", BOOL, 0),
    F("fsType", STRING, 0),
    F("volumeAttributes", MAP(STRING), 0),
    F("controllerPublishSecretRef", core_SecretReference, PTR),
    F("nodeStageSecretRef", core_SecretReference, PTR),
    F("nodePublishSecretRef", core_SecretReference, PTR),
    F("controllerExpandSecretRef", core_SecretReference, PTR),
    F("nodeExpandSecretRef", core_SecretReference, PTR))

LOCAL_ENUM(core, NodeSelectorOperator, "DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn")

LOCAL_TYPE(core, NodeSelectorRequirement, PLAIN,
    F("key", STRING, REQ | KEEP),
    F("operator", core_NodeSelectorOperator, REQ | KEEP),
    F("values", LIST(STRING), 0))

TYPE(core, NodeSelectorTerm, ATOMIC,
    F("matchExpressions", LIST(core_NodeSelectorRequirement), 0),
    F("matchFields", LIST(core_NodeSelectorRequirement), 0))

TYPE(core, NodeSelector, ATOMIC,
    F("nodeSelectorTerms", LIST(core_NodeSelectorTerm), REQ | KEEP))

LOCAL_TYPE(core, VolumeNodeAffinity, PLAIN,
    F("required", core_NodeSelector, PTR))

LOCAL_TYPE_AS(core, ObjectReferenceGranular, ObjectReference, PLAIN)
ENUM(core, PersistentVolumeReclaimPolicy, "Delete", "Recycle", "Retain")

TYPE(core, PersistentVolumeSpec, PLAIN,
    F("capacity", core_ResourceList, 0, DOC("How much storage.")),
    F("gcePersistentDisk", core_GCEPersistentDiskVolumeSource, PTR),
    F("awsElasticBlockStore", core_AWSElasticBlockStoreVolumeSource, PTR),
    F("hostPath", core_HostPathVolumeSource, PTR),
    F("glusterfs", core_GlusterfsPersistentVolumeSource, PTR),
    F("nfs", core_NFSVolumeSource, PTR),
    F("rbd", core_RBDPersistentVolumeSource, PTR),
    F("iscsi", core_ISCSIPersistentVolumeSource, PTR),
    F("cinder", core_CinderPersistentVolumeSource, PTR),
    F("cephfs", core_CephFSPersistentVolumeSource, PTR),
    F("fc", core_FCVolumeSource, PTR),
    F("flocker", core_FlockerVolumeSource, PTR),
    F("flexVolume", core_FlexPersistentVolumeSource, PTR),
    F("azureFile", core_AzureFilePersistentVolumeSource, PTR),
    F("vsphereVolume", core_VsphereVirtualDiskVolumeSource, PTR),
    F("quobyte", core_QuobyteVolumeSource, PTR),
    F("azureDisk", core_AzureDiskVolumeSource, PTR),
    F("photonPersistentDisk", core_PhotonPersistentDiskVolumeSource, PTR),
    F("portworxVolume", core_PortworxVolumeSource, PTR),
    F("scaleIO", core_ScaleIOPersistentVolumeSource, PTR),
    F("local", core_LocalVolumeSource, PTR),
    F("storageos", core_StorageOSPersistentVolumeSource, PTR),
    F("csi", core_CSIPersistentVolumeSource, PTR),
    F("accessModes", LIST(core_PersistentVolumeAccessMode), 0, DOC("Who may use it, and how.")),
    F("claimRef", core_ObjectReferenceGranular, PTR, DOC("The claim it is bound to.")),
    F("persistentVolumeReclaimPolicy", core_PersistentVolumeReclaimPolicy, 0,
      DOC("What becomes of it once the claim is gone.")),
    F("storageClassName", STRING, 0, DOC("Which sort of storage.")),
    F("mountOptions", LIST(STRING), 0),
    F("volumeMode", core_PersistentVolumeMode, PTR, DOC("Filesystem or Block.")),
    F("nodeAffinity", core_VolumeNodeAffinity, PTR),
    F("volumeAttributesClassName", STRING, PTR))

LOCAL_ENUM(core, PersistentVolumePhase, "Available", "Bound", "Failed", "Pending", "Released")

LOCAL_TYPE(core, PersistentVolumeStatus, PLAIN,
    F("phase", core_PersistentVolumePhase, 0),
    F("message", STRING, 0),
    F("reason", STRING, 0),
    F("lastPhaseTransitionTime", TIME, PTR))

TYPE(core, PersistentVolume,
    DOC("A piece of storage that outlives the pods that use it."),
    OBJECT_HEAD,
    F("spec", core_PersistentVolumeSpec, KEEP, DOC("The desired state.")),
    F("status", core_PersistentVolumeStatus, KEEP, DOC("The observed state. Written by the system.")))

LOCAL_STRING_TYPE(core, StorageMedium)

LOCAL_TYPE(core, EmptyDirVolumeSource, PLAIN,
    F("medium", core_StorageMedium, 0),
    F("sizeLimit", QUANTITY, PTR))

LOCAL_TYPE(core, GitRepoVolumeSource, PLAIN,
    F("repository", STRING, REQ | KEEP),
    F("revision", STRING, 0),
    F("directory", STRING, 0))

LOCAL_TYPE(core, KeyToPath, PLAIN,
    F("key", STRING, REQ | KEEP),
    F("path", STRING, REQ | KEEP),
    F("mode", INT32, PTR))

LOCAL_TYPE(core, SecretVolumeSource, PLAIN,
    F("secretName", STRING, 0),
    F("items", LIST(core_KeyToPath), 0),
    F("defaultMode", INT32, PTR),
    F("optional", BOOL, PTR))

TYPE(core, LocalObjectReference, ATOMIC,
    F("name", STRING, 0))

LOCAL_TYPE(core, ISCSIVolumeSource, PLAIN,
    F("targetPortal", STRING, REQ | KEEP),
    F("iqn", STRING, REQ | KEEP),
    F("lun", INT32, REQ | KEEP),
    F("iscsiInterface", STRING, 0),
    F("fsType", STRING, 0),
    F("readOnly", BOOL, 0),
    F("portals", LIST(STRING), 0),
    F("chapAuthDiscovery", BOOL, 0),
    F("chapAuthSession", BOOL, 0),
    F("secretRef", core_LocalObjectReference, PTR),
    F("initiatorName", STRING, PTR))

LOCAL_TYPE(core, GlusterfsVolumeSource, PLAIN,
    F("endpoints", STRING, REQ | KEEP),
    F("path", STRING, REQ | KEEP),
    F("readOnly", BOOL, 0))

LOCAL_TYPE(core, PersistentVolumeClaimVolumeSource, PLAIN,
    F("claimName", STRING, REQ | KEEP),
    F("readOnly", BOOL, 0))

LOCAL_TYPE(core, RBDVolumeSource, PLAIN,
    F("monitors", LIST(STRING), REQ | KEEP),
    F("image", STRING, REQ | KEEP),
    F("fsType", STRING, 0),
    F("pool", STRING, 0),
    F("user", STRING, 0),
    F("keyring", STRING, 0),
    F("secretRef", core_LocalObjectReference, PTR),
    F("readOnly", BOOL, 0))

LOCAL_TYPE(core, FlexVolumeSource, PLAIN,
    F("driver", STRING, REQ | KEEP),
    F("fsType", STRING, 0),
    F("secretRef", core_LocalObjectReference, PTR),
    F("readOnly", BOOL, 0),
    F("options", MAP(STRING), 0))

LOCAL_TYPE(core, CinderVolumeSource, PLAIN,
    F("volumeID", STRING, REQ | KEEP),
    F("fsType", STRING, 0),
    F("readOnly", BOOL, 0),
    F("secretRef", core_LocalObjectReference, PTR))

LOCAL_TYPE(core, CephFSVolumeSource, PLAIN,
    F("monitors", LIST(STRING), REQ | KEEP),
    F("path", STRING, 0),
    F("user", STRING, 0),
    F("secretFile", STRING, 0),
    F("secretRef", core_LocalObjectReference, PTR),
    F("readOnly", BOOL, 0))

TYPE(core, ObjectFieldSelector, ATOMIC,
    F("apiVersion", STRING, 0),
    F("fieldPath", STRING, REQ | KEEP))

TYPE(core, ResourceFieldSelector, ATOMIC,
    F("containerName", STRING, 0),
    F("resource", STRING, REQ | KEEP),
    F("divisor", QUANTITY, KEEP))

LOCAL_TYPE(core, DownwardAPIVolumeFile, PLAIN,
    F("path", STRING, REQ | KEEP),
    F("fieldRef", core_ObjectFieldSelector, PTR),
    F("resourceFieldRef", core_ResourceFieldSelector, PTR),
    F("mode", INT32, PTR))

LOCAL_TYPE(core, DownwardAPIVolumeSource, PLAIN,
    F("items", LIST(core_DownwardAPIVolumeFile), 0),
    F("defaultMode", INT32, PTR))

LOCAL_TYPE(core, AzureFileVolumeSource, PLAIN,
    F("secretName", STRING, REQ | KEEP),
    F("shareName", STRING, REQ | KEEP),
    F("readOnly", BOOL, 0))

LOCAL_TYPE(core, ConfigMapVolumeSource, PLAIN,
    F("name", STRING, 0),
    F("items", LIST(core_KeyToPath), 0),
    F("defaultMode", INT32, PTR),
    F("optional", BOOL, PTR))

LOCAL_TYPE(core, SecretProjection, PLAIN,
    F("name", STRING, 0),
    F("items", LIST(core_KeyToPath), 0),
    F("optional", BOOL, PTR))

LOCAL_TYPE(core, DownwardAPIProjection, PLAIN,
    F("items", LIST(core_DownwardAPIVolumeFile), 0))

LOCAL_TYPE(core, ConfigMapProjection, PLAIN,
    F("name", STRING, 0),
    F("items", LIST(core_KeyToPath), 0),
    F("optional", BOOL, PTR))

LOCAL_TYPE(core, ServiceAccountTokenProjection, PLAIN,
    F("audience", STRING, 0),
    F("expirationSeconds", INT64, PTR),
    F("path", STRING, REQ | KEEP))

LOCAL_TYPE(core, ClusterTrustBundleProjection, PLAIN,
    F("name", STRING, PTR),
    F("signerName", STRING, PTR),
    F("labelSelector", meta_LabelSelector, PTR),
    F("optional", BOOL, PTR),
    F("path", STRING, REQ | KEEP))

LOCAL_TYPE(core, PodCertificateProjection, PLAIN,
    F("signerName", STRING, REQ),
    F("keyType", STRING, REQ),
    F("maxExpirationSeconds", INT32, PTR),
    F("credentialBundlePath", STRING, 0),
    F("keyPath", STRING, 0),
    F("certificateChainPath", STRING, 0))

LOCAL_TYPE(core, VolumeProjection, PLAIN,
    F("secret", core_SecretProjection, PTR),
    F("downwardAPI", core_DownwardAPIProjection, PTR),
    F("configMap", core_ConfigMapProjection, PTR),
    F("serviceAccountToken", core_ServiceAccountTokenProjection, PTR),
    F("clusterTrustBundle", core_ClusterTrustBundleProjection, PTR),
    F("podCertificate", core_PodCertificateProjection, PTR))

LOCAL_TYPE(core, ProjectedVolumeSource, PLAIN,
    F("sources", LIST(core_VolumeProjection), KEEP),
    F("defaultMode", INT32, PTR))

LOCAL_TYPE(core, ScaleIOVolumeSource, PLAIN,
    F("gateway", STRING, REQ | KEEP),
    F("system", STRING, REQ | KEEP),
    F("secretRef", core_LocalObjectReference, REQ | KEEP | PTR),
    F("sslEnabled", BOOL, 0),
    F("protectionDomain", STRING, 0),
    F("storagePool", STRING, 0),
    F("storageMode", STRING, 0),
    F("volumeName", STRING, 0),
    F("fsType", STRING, 0),
    F("readOnly", BOOL, 0))

LOCAL_TYPE(core, StorageOSVolumeSource, PLAIN,
    F("volumeName", STRING, 0),
    F("volumeNamespace", STRING, 0),
    F("fsType", STRING, 0),
    F("readOnly", BOOL, 0),
    F("secretRef", core_LocalObjectReference, PTR))

LOCAL_TYPE(core, CSIVolumeSource, PLAIN,
    F("driver", STRING, REQ | KEEP),
    F("readOnly", BOOL, PTR),
    F("fsType", STRING, PTR),
    F("volumeAttributes", MAP(STRING), 0),
    F("nodePublishSecretRef", core_LocalObjectReference, PTR))

LOCAL_TYPE(core, PersistentVolumeClaimTemplate, PLAIN,
    F("metadata", meta_ObjectMeta, KEEP),
    F("spec", core_PersistentVolumeClaimSpec, REQ | KEEP))

LOCAL_TYPE(core, EphemeralVolumeSource, PLAIN,
    F("volumeClaimTemplate", core_PersistentVolumeClaimTemplate, PTR))

ENUM(core, PullPolicy, "Always", "IfNotPresent", "Never")

LOCAL_TYPE(core, ImageVolumeSource, PLAIN,
    F("reference", STRING, 0),
    F("pullPolicy", core_PullPolicy, 0))

TYPE(core, Volume,
    DOC("A directory for containers to mount. Names one source."),
    F("name", STRING, REQ | KEEP, DOC("Unique within the pod.")),
    F("hostPath", core_HostPathVolumeSource, PTR, DOC("A file or directory of the node.")),
    F("emptyDir", core_EmptyDirVolumeSource, PTR,
      DOC("An empty directory that goes with the pod.")),
    F("gcePersistentDisk", core_GCEPersistentDiskVolumeSource, PTR),
    F("awsElasticBlockStore", core_AWSElasticBlockStoreVolumeSource, PTR),
    F("gitRepo", core_GitRepoVolumeSource, PTR),
    F("secret", core_SecretVolumeSource, PTR, DOC("The keys of a secret, as files.")),
    F("nfs", core_NFSVolumeSource, PTR, DOC("A directory of an NFS server.")),
    F("iscsi", core_ISCSIVolumeSource, PTR),
    F("glusterfs", core_GlusterfsVolumeSource, PTR),
    F("persistentVolumeClaim", core_PersistentVolumeClaimVolumeSource, PTR,
      DOC("The storage of a claim.")),
    F("rbd", core_RBDVolumeSource, PTR),
    F("flexVolume", core_FlexVolumeSource, PTR),
    F("cinder", core_CinderVolumeSource, PTR),
    F("cephfs", core_CephFSVolumeSource, PTR),
    F("flocker", core_FlockerVolumeSource, PTR),
    F("downwardAPI", core_DownwardAPIVolumeSource, PTR, DOC("Facts about the pod, as files.")),
    F("fc", core_FCVolumeSource, PTR),
    F("azureFile", core_AzureFileVolumeSource, PTR),
    F("configMap", core_ConfigMapVolumeSource, PTR, DOC("The keys of a config map, as files.")),
    F("vsphereVolume", core_VsphereVirtualDiskVolumeSource, PTR),
    F("quobyte", core_QuobyteVolumeSource, PTR),
    F("azureDisk", core_AzureDiskVolumeSource, PTR),
    F("photonPersistentDisk", core_PhotonPersistentDiskVolumeSource, PTR),
    F("projected", core_ProjectedVolumeSource, PTR, DOC("Several sources in one directory.")),
    F("portworxVolume", core_PortworxVolumeSource, PTR),
    F("scaleIO", core_ScaleIOVolumeSource, PTR),
    F("storageos", core_StorageOSVolumeSource, PTR),
    F("csi", core_CSIVolumeSource, PTR),
    F("ephemeral", core_EphemeralVolumeSource, PTR, DOC("A claim made for this pod only.")),
    F("image", core_ImageVolumeSource, PTR, DOC("The files of an image.")))
