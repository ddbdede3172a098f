/* storage.k8s.io/v1: storage classes, attachments and CSI. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.storage.v1"
#define GO_PACKAGE "v1"

LOCAL_TYPE(storage, TokenRequest, PLAIN,
    F("audience", STRING, REQ | KEEP),
    F("expirationSeconds", INT64, PTR))

LOCAL_STRING_TYPE(storage, VolumeLifecycleMode)
LOCAL_STRING_TYPE(storage, FSGroupPolicy)

LOCAL_TYPE(storage, CSIDriverSpec, PLAIN,
    F("attachRequired", BOOL, PTR),
    F("podInfoOnMount", BOOL, PTR),
    F("volumeLifecycleModes", LIST(storage_VolumeLifecycleMode, SET), 0),
    F("storageCapacity", BOOL, PTR),
    F("fsGroupPolicy", storage_FSGroupPolicy, PTR),
    F("tokenRequests", LIST(storage_TokenRequest), 0),
    F("requiresRepublish", BOOL, PTR),
    F("seLinuxMount", BOOL, PTR),
    F("nodeAllocatableUpdatePeriodSeconds", INT64, PTR))

TYPE(storage, CSIDriver,
    DOC("A storage driver, and how the cluster must treat it."),
    OBJECT_HEAD,
    F("spec", storage_CSIDriverSpec, REQ | KEEP, DOC("The desired state.")))

LOCAL_TYPE(storage, VolumeNodeResources, PLAIN,
    F("count", INT32, PTR))

LOCAL_TYPE(storage, CSINodeDriver, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("nodeID", STRING, REQ | KEEP),
    F("topologyKeys", LIST(STRING), KEEP),
    F("allocatable", storage_VolumeNodeResources, PTR))

LOCAL_TYPE(storage, CSINodeSpec, PLAIN,
    F("drivers", LIST(storage_CSINodeDriver, BY("name"), MERGE("name")), REQ | KEEP))

TYPE(storage, CSINode,
    DOC("The storage drivers that a node has."),
    OBJECT_HEAD,
    F("spec", storage_CSINodeSpec, REQ | KEEP, DOC("The desired state.")))

TYPE(storage, CSIStorageCapacity,
    DOC("How much storage of a class is left in some part of the cluster."),
    OBJECT_HEAD,
    F("nodeTopology", meta_LabelSelector, PTR),
    F("storageClassName", STRING, REQ | KEEP),
    F("capacity", QUANTITY, PTR),
    F("maximumVolumeSize", QUANTITY, PTR))

LOCAL_ENUM(storage, VolumeBindingMode, "Immediate", "WaitForFirstConsumer")

TYPE(storage, StorageClass,
    DOC("A sort of storage that claims can ask for by name."),
    OBJECT_HEAD,
    F("provisioner", STRING, REQ | KEEP, DOC("Who makes the volumes.")),
    F("parameters", MAP(STRING), 0, DOC("Settings for the provisioner.")),
    F("reclaimPolicy", core_PersistentVolumeReclaimPolicy, PTR,
      DOC("What becomes of volumes once their claim is gone.")),
    F("mountOptions", LIST(STRING), 0, DOC("Options for mounting.")),
    F("allowVolumeExpansion", BOOL, PTR, DOC("Whether volumes can grow.")),
    F("volumeBindingMode", storage_VolumeBindingMode, PTR,
      DOC("Whether to wait with binding until a pod needs the claim.")),
    F("allowedTopologies", LIST(core_TopologySelectorTerm), 0))

LOCAL_TYPE(storage, VolumeAttachmentSource, PLAIN,
    F("persistentVolumeName", STRING, PTR),
    F("inlineVolumeSpec", core_PersistentVolumeSpec, PTR))

LOCAL_TYPE(storage, VolumeAttachmentSpec, PLAIN,
    F("attacher", STRING, REQ | KEEP),
    F("source", storage_VolumeAttachmentSource, REQ | KEEP),
    F("nodeName", STRING, REQ | KEEP))

LOCAL_TYPE(storage, VolumeError, PLAIN,
    F("time", TIME, KEEP),
    F("message", STRING, 0),
    F("errorCode", INT32, PTR))

LOCAL_TYPE(storage, VolumeAttachmentStatus, PLAIN,
    F("attached", BOOL, REQ | KEEP),
    F("attachmentMetadata", MAP(STRING), 0),
    F("attachError", storage_VolumeError, PTR),
    F("detachError", storage_VolumeError, PTR))

TYPE(storage, VolumeAttachment,
    DOC("A volume that is, or should be, attached to a node."),
    OBJECT_HEAD,
    F("spec", storage_VolumeAttachmentSpec, REQ | KEEP, DOC("The desired state.")),
    F("status", storage_VolumeAttachmentStatus, KEEP, DOC("The observed state. Written by the system.")))

TYPE(storage, VolumeAttributesClass,
    DOC("Properties of volumes that can change while they are in use."),
    OBJECT_HEAD,
    F("driverName", STRING, REQ | KEEP),
    F("parameters", MAP(STRING), 0))
