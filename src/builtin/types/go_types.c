/* The internal types of kube-apiserver that its messages print: name, then the fields in order as
 * Name:kind, or Name=jsonName:kind where the JSON name is not the Go name with a small letter, or
 * Name=^jsonName where the public API keeps the field one level up. Kinds: s string, i integer,
 * b bool, m map, q quantity, o int or string, j printed as it stands, @T a type, []K a list,
 * *K a pointer (null when absent). A table: one type a row, whatever its length. */
/* clang-format off */

#include "builtin/godiff.h"

const struct go_type go_types[] = {
    { "AWSElasticBlockStoreVolumeSource",
      "VolumeID:s FSType=fsType:s Partition:i ReadOnly:b" },
    { "Affinity",
      "NodeAffinity:*@NodeAffinity PodAffinity:*@PodAffinity "
      "PodAntiAffinity:*@PodAntiAffinity" },
    { "AppArmorProfile",
      "Type:s LocalhostProfile:*s" },
    { "AzureDiskVolumeSource",
      "DiskName:s DataDiskURI=diskURI:s CachingMode:*s FSType=fsType:*s ReadOnly:*b "
      "Kind:*s" },
    { "AzureFilePersistentVolumeSource",
      "SecretName:s ShareName:s ReadOnly:b SecretNamespace:*s" },
    { "AzureFileVolumeSource",
      "SecretName:s ShareName:s ReadOnly:b" },
    { "CSIPersistentVolumeSource",
      "Driver:s VolumeHandle:s ReadOnly:b FSType=fsType:s VolumeAttributes:m "
      "ControllerPublishSecretRef:*@SecretReference "
      "NodeStageSecretRef:*@SecretReference NodePublishSecretRef:*@SecretReference "
      "ControllerExpandSecretRef:*@SecretReference "
      "NodeExpandSecretRef:*@SecretReference" },
    { "CSIVolumeSource",
      "Driver:s ReadOnly:*b FSType=fsType:*s VolumeAttributes:m "
      "NodePublishSecretRef:*@LocalObjectReference" },
    { "Capabilities",
      "Add:[]s Drop:[]s" },
    { "CephFSPersistentVolumeSource",
      "Monitors:[]s Path:s User:s SecretFile:s SecretRef:*@SecretReference "
      "ReadOnly:b" },
    { "CephFSVolumeSource",
      "Monitors:[]s Path:s User:s SecretFile:s SecretRef:*@LocalObjectReference "
      "ReadOnly:b" },
    { "CinderPersistentVolumeSource",
      "VolumeID:s FSType=fsType:s ReadOnly:b SecretRef:*@SecretReference" },
    { "CinderVolumeSource",
      "VolumeID:s FSType=fsType:s ReadOnly:b SecretRef:*@LocalObjectReference" },
    { "ClusterTrustBundleProjection",
      "Name:*s SignerName:*s LabelSelector:*j Optional:*b Path:s" },
    { "ConfigMapEnvSource",
      "Name:s Optional:*b" },
    { "ConfigMapKeySelector",
      "Name:s Key:s Optional:*b" },
    { "ConfigMapProjection",
      "Name:s Items:[]@KeyToPath Optional:*b" },
    { "ConfigMapVolumeSource",
      "Name:s Items:[]@KeyToPath DefaultMode:*i Optional:*b" },
    { "Container",
      "Name:s Image:s Command:[]s Args:[]s WorkingDir:s Ports:[]@ContainerPort "
      "EnvFrom:[]@EnvFromSource Env:[]@EnvVar Resources:@ResourceRequirements "
      "ResizePolicy:[]@ContainerResizePolicy RestartPolicy:*s "
      "RestartPolicyRules:[]@ContainerRestartRule VolumeMounts:[]@VolumeMount "
      "VolumeDevices:[]@VolumeDevice LivenessProbe:*@Probe ReadinessProbe:*@Probe "
      "StartupProbe:*@Probe Lifecycle:*@Lifecycle TerminationMessagePath:s "
      "TerminationMessagePolicy:s ImagePullPolicy:s "
      "SecurityContext:*@SecurityContext Stdin:b StdinOnce:b TTY=tty:b" },
    { "ContainerPort",
      "Name:s HostPort:i ContainerPort:i Protocol:s HostIP:s" },
    { "ContainerResizePolicy",
      "ResourceName:s RestartPolicy:s" },
    { "ContainerRestartRule",
      "Action:s ExitCodes:*@ContainerRestartRuleOnExitCodes" },
    { "ContainerRestartRuleOnExitCodes",
      "Operator:s Values:[]i" },
    { "DownwardAPIProjection",
      "Items:[]@DownwardAPIVolumeFile" },
    { "DownwardAPIVolumeFile",
      "Path:s FieldRef:*@ObjectFieldSelector "
      "ResourceFieldRef:*@ResourceFieldSelector Mode:*i" },
    { "DownwardAPIVolumeSource",
      "Items:[]@DownwardAPIVolumeFile DefaultMode:*i" },
    { "EmptyDirVolumeSource",
      "Medium:s SizeLimit:*q" },
    { "EnvFromSource",
      "Prefix:s ConfigMapRef:*@ConfigMapEnvSource SecretRef:*@SecretEnvSource" },
    { "EnvVar",
      "Name:s Value:s ValueFrom:*@EnvVarSource" },
    { "EnvVarSource",
      "FieldRef:*@ObjectFieldSelector ResourceFieldRef:*@ResourceFieldSelector "
      "ConfigMapKeyRef:*@ConfigMapKeySelector SecretKeyRef:*@SecretKeySelector "
      "FileKeyRef:*@FileKeySelector" },
    { "EphemeralContainer",
      "Name:s Image:s Command:[]s Args:[]s WorkingDir:s Ports:[]@ContainerPort "
      "EnvFrom:[]@EnvFromSource Env:[]@EnvVar Resources:@ResourceRequirements "
      "ResizePolicy:[]@ContainerResizePolicy RestartPolicy:*s "
      "RestartPolicyRules:[]@ContainerRestartRule VolumeMounts:[]@VolumeMount "
      "VolumeDevices:[]@VolumeDevice LivenessProbe:*@Probe ReadinessProbe:*@Probe "
      "StartupProbe:*@Probe Lifecycle:*@Lifecycle TerminationMessagePath:s "
      "TerminationMessagePolicy:s ImagePullPolicy:s "
      "SecurityContext:*@SecurityContext Stdin:b StdinOnce:b TTY=tty:b "
      "TargetContainerName:s" },
    { "EphemeralVolumeSource",
      "VolumeClaimTemplate:*@PersistentVolumeClaimTemplate" },
    { "ExecAction",
      "Command:[]s" },
    { "FCVolumeSource",
      "TargetWWNs:[]s Lun:*i FSType=fsType:s ReadOnly:b WWIDs=wwids:[]s" },
    { "FileKeySelector",
      "VolumeName:s Path:s Key:s Optional:*b" },
    { "FlexPersistentVolumeSource",
      "Driver:s FSType=fsType:s SecretRef:*@SecretReference ReadOnly:b Options:m" },
    { "FlexVolumeSource",
      "Driver:s FSType=fsType:s SecretRef:*@LocalObjectReference ReadOnly:b "
      "Options:m" },
    { "FlockerVolumeSource",
      "DatasetName:s DatasetUUID:s" },
    { "GCEPersistentDiskVolumeSource",
      "PDName=pdName:s FSType=fsType:s Partition:i ReadOnly:b" },
    { "GRPCAction",
      "Port:i Service:*s" },
    { "GitRepoVolumeSource",
      "Repository:s Revision:s Directory:s" },
    { "GlusterfsPersistentVolumeSource",
      "EndpointsName=endpoints:s Path:s ReadOnly:b EndpointsNamespace:*s" },
    { "GlusterfsVolumeSource",
      "EndpointsName=endpoints:s Path:s ReadOnly:b" },
    { "HTTPGetAction",
      "Path:s Port:o Host:s Scheme:s HTTPHeaders=httpHeaders:[]@HTTPHeader" },
    { "HTTPHeader",
      "Name:s Value:s" },
    { "HostAlias",
      "IP=ip:s Hostnames:[]s" },
    { "HostPathVolumeSource",
      "Path:s Type:*s" },
    { "ISCSIPersistentVolumeSource",
      "TargetPortal:s IQN=iqn:s Lun:i ISCSIInterface=iscsiInterface:s "
      "FSType=fsType:s ReadOnly:b Portals:[]s DiscoveryCHAPAuth=chapAuthDiscovery:b "
      "SessionCHAPAuth=chapAuthSession:b SecretRef:*@SecretReference "
      "InitiatorName:*s" },
    { "ISCSIVolumeSource",
      "TargetPortal:s IQN=iqn:s Lun:i ISCSIInterface=iscsiInterface:s "
      "FSType=fsType:s ReadOnly:b Portals:[]s DiscoveryCHAPAuth=chapAuthDiscovery:b "
      "SessionCHAPAuth=chapAuthSession:b SecretRef:*@LocalObjectReference "
      "InitiatorName:*s" },
    { "ImageVolumeSource",
      "Reference:s PullPolicy:s" },
    { "KeyToPath",
      "Key:s Path:s Mode:*i" },
    { "Lifecycle",
      "PostStart:*@LifecycleHandler PreStop:*@LifecycleHandler StopSignal:*s" },
    { "LifecycleHandler",
      "Exec:*@ExecAction HTTPGet=httpGet:*@HTTPGetAction "
      "TCPSocket=tcpSocket:*@TCPSocketAction Sleep:*@SleepAction" },
    { "LocalObjectReference",
      "Name:s" },
    { "LocalVolumeSource",
      "Path:s FSType=fsType:*s" },
    { "NFSVolumeSource",
      "Server:s Path:s ReadOnly:b" },
    { "NodeAffinity",
      "RequiredDuringSchedulingIgnoredDuringExecution:*@NodeSelector "
      "PreferredDuringSchedulingIgnoredDuringExecution:[]@PreferredSchedulingTerm" },
    { "NodeSelector",
      "NodeSelectorTerms:[]@NodeSelectorTerm" },
    { "NodeSelectorRequirement",
      "Key:s Operator:s Values:[]s" },
    { "NodeSelectorTerm",
      "MatchExpressions:[]@NodeSelectorRequirement "
      "MatchFields:[]@NodeSelectorRequirement" },
    { "ObjectFieldSelector",
      "APIVersion=apiVersion:s FieldPath:s" },
    { "ObjectReference",
      "Kind:s Namespace:s Name:s UID=uid:j APIVersion=apiVersion:s ResourceVersion:s "
      "FieldPath:s" },
    { "PersistentVolumeClaimSpec",
      "AccessModes:[]s Selector:*j Resources:@VolumeResourceRequirements "
      "VolumeName:s StorageClassName:*s VolumeMode:*s "
      "DataSource:*@TypedLocalObjectReference DataSourceRef:*@TypedObjectReference "
      "VolumeAttributesClassName:*s" },
    { "PersistentVolumeClaimTemplate",
      "Spec:@PersistentVolumeClaimSpec" },
    { "PersistentVolumeClaimVolumeSource",
      "ClaimName:s ReadOnly:b" },
    { "PersistentVolumeSource",
      "GCEPersistentDisk=gcePersistentDisk:*@GCEPersistentDiskVolumeSource "
      "AWSElasticBlockStore=awsElasticBlockStore:*@AWSElasticBlockStoreVolumeSource "
      "HostPath:*@HostPathVolumeSource Glusterfs:*@GlusterfsPersistentVolumeSource "
      "NFS=nfs:*@NFSVolumeSource RBD=rbd:*@RBDPersistentVolumeSource "
      "Quobyte:*@QuobyteVolumeSource ISCSI=iscsi:*@ISCSIPersistentVolumeSource "
      "FlexVolume:*@FlexPersistentVolumeSource Cinder:*@CinderPersistentVolumeSource "
      "CephFS=cephfs:*@CephFSPersistentVolumeSource FC=fc:*@FCVolumeSource "
      "Flocker:*@FlockerVolumeSource AzureFile:*@AzureFilePersistentVolumeSource "
      "VsphereVolume:*@VsphereVirtualDiskVolumeSource "
      "AzureDisk:*@AzureDiskVolumeSource "
      "PhotonPersistentDisk:*@PhotonPersistentDiskVolumeSource "
      "PortworxVolume:*@PortworxVolumeSource ScaleIO:*@ScaleIOPersistentVolumeSource "
      "Local:*@LocalVolumeSource "
      "StorageOS=storageos:*@StorageOSPersistentVolumeSource "
      "CSI=csi:*@CSIPersistentVolumeSource" },
    { "PhotonPersistentDiskVolumeSource",
      "PdID:s FSType=fsType:s" },
    { "PodAffinity",
      "RequiredDuringSchedulingIgnoredDuringExecution:[]@PodAffinityTerm "
      "PreferredDuringSchedulingIgnoredDuringExecution:[]@WeightedPodAffinityTerm" },
    { "PodAffinityTerm",
      "LabelSelector:*j Namespaces:[]s TopologyKey:s NamespaceSelector:*j "
      "MatchLabelKeys:[]s MismatchLabelKeys:[]s" },
    { "PodAntiAffinity",
      "RequiredDuringSchedulingIgnoredDuringExecution:[]@PodAffinityTerm "
      "PreferredDuringSchedulingIgnoredDuringExecution:[]@WeightedPodAffinityTerm" },
    { "PodCertificateProjection",
      "SignerName:s KeyType:s MaxExpirationSeconds:*i CredentialBundlePath:s "
      "KeyPath:s CertificateChainPath:s" },
    { "PodDNSConfig",
      "Nameservers:[]s Searches:[]s Options:[]@PodDNSConfigOption" },
    { "PodDNSConfigOption",
      "Name:s Value:*s" },
    { "PodOS",
      "Name:s" },
    { "PodReadinessGate",
      "ConditionType:s" },
    { "PodResourceClaim",
      "Name:s ResourceClaimName:*s ResourceClaimTemplateName:*s" },
    { "PodSchedulingGate",
      "Name:s" },
    { "PodSecurityContext",
      "HostNetwork=^hostNetwork:b HostPID=^hostPID:b HostIPC=^hostIPC:b "
      "ShareProcessNamespace=^shareProcessNamespace:*b HostUsers=^hostUsers:*b "
      "SELinuxOptions=seLinuxOptions:*@SELinuxOptions "
      "WindowsOptions:*@WindowsSecurityContextOptions RunAsUser:*i RunAsGroup:*i "
      "RunAsNonRoot:*b SupplementalGroups:[]i SupplementalGroupsPolicy:*s "
      "FSGroup=fsGroup:*i FSGroupChangePolicy=fsGroupChangePolicy:*s "
      "Sysctls:[]@Sysctl SeccompProfile:*@SeccompProfile "
      "AppArmorProfile:*@AppArmorProfile SELinuxChangePolicy=seLinuxChangePolicy:*s" },
    { "PodSpec",
      "Volumes:[]@Volume InitContainers:[]@Container Containers:[]@Container "
      "EphemeralContainers:[]@EphemeralContainer RestartPolicy:s "
      "TerminationGracePeriodSeconds:*i ActiveDeadlineSeconds:*i "
      "DNSPolicy=dnsPolicy:s NodeSelector:m ServiceAccountName:s "
      "AutomountServiceAccountToken:*b NodeName:s "
      "SecurityContext:*@PodSecurityContext ImagePullSecrets:[]@LocalObjectReference "
      "Hostname:s Subdomain:s SetHostnameAsFQDN:*b Affinity:*@Affinity "
      "SchedulerName:s Tolerations:[]@Toleration HostAliases:[]@HostAlias "
      "PriorityClassName:s Priority:*i PreemptionPolicy:*s "
      "DNSConfig=dnsConfig:*@PodDNSConfig ReadinessGates:[]@PodReadinessGate "
      "RuntimeClassName:*s Overhead:m EnableServiceLinks:*b "
      "TopologySpreadConstraints:[]@TopologySpreadConstraint OS=os:*@PodOS "
      "SchedulingGates:[]@PodSchedulingGate ResourceClaims:[]@PodResourceClaim "
      "Resources:*@ResourceRequirements HostnameOverride:*s" },
    { "PortworxVolumeSource",
      "VolumeID:s FSType=fsType:s ReadOnly:b" },
    { "PreferredSchedulingTerm",
      "Weight:i Preference:@NodeSelectorTerm" },
    { "Probe",
      "Exec:*@ExecAction HTTPGet=httpGet:*@HTTPGetAction "
      "TCPSocket=tcpSocket:*@TCPSocketAction GRPC=grpc:*@GRPCAction "
      "InitialDelaySeconds:i TimeoutSeconds:i PeriodSeconds:i SuccessThreshold:i "
      "FailureThreshold:i TerminationGracePeriodSeconds:*i" },
    { "ProjectedVolumeSource",
      "Sources:[]@VolumeProjection DefaultMode:*i" },
    { "QuobyteVolumeSource",
      "Registry:s Volume:s ReadOnly:b User:s Group:s Tenant:s" },
    { "RBDPersistentVolumeSource",
      "CephMonitors=monitors:[]s RBDImage=image:s FSType=fsType:s RBDPool=pool:s "
      "RadosUser=user:s Keyring:s SecretRef:*@SecretReference ReadOnly:b" },
    { "RBDVolumeSource",
      "CephMonitors=monitors:[]s RBDImage=image:s FSType=fsType:s RBDPool=pool:s "
      "RadosUser=user:s Keyring:s SecretRef:*@LocalObjectReference ReadOnly:b" },
    { "ResourceClaim",
      "Name:s Request:s" },
    { "ResourceFieldSelector",
      "ContainerName:s Resource:s Divisor:q" },
    { "ResourceRequirements",
      "Limits:m Requests:m Claims:[]@ResourceClaim" },
    { "SELinuxOptions",
      "User:s Role:s Type:s Level:s" },
    { "ScaleIOPersistentVolumeSource",
      "Gateway:s System:s SecretRef:*@SecretReference SSLEnabled=sslEnabled:b "
      "ProtectionDomain:s StoragePool:s StorageMode:s VolumeName:s FSType=fsType:s "
      "ReadOnly:b" },
    { "ScaleIOVolumeSource",
      "Gateway:s System:s SecretRef:*@LocalObjectReference SSLEnabled=sslEnabled:b "
      "ProtectionDomain:s StoragePool:s StorageMode:s VolumeName:s FSType=fsType:s "
      "ReadOnly:b" },
    { "SeccompProfile",
      "Type:s LocalhostProfile:*s" },
    { "SecretEnvSource",
      "Name:s Optional:*b" },
    { "SecretKeySelector",
      "Name:s Key:s Optional:*b" },
    { "SecretProjection",
      "Name:s Items:[]@KeyToPath Optional:*b" },
    { "SecretReference",
      "Name:s Namespace:s" },
    { "SecretVolumeSource",
      "SecretName:s Items:[]@KeyToPath DefaultMode:*i Optional:*b" },
    { "SecurityContext",
      "Capabilities:*@Capabilities Privileged:*b "
      "SELinuxOptions=seLinuxOptions:*@SELinuxOptions "
      "WindowsOptions:*@WindowsSecurityContextOptions RunAsUser:*i RunAsGroup:*i "
      "RunAsNonRoot:*b ReadOnlyRootFilesystem:*b AllowPrivilegeEscalation:*b "
      "ProcMount:*s SeccompProfile:*@SeccompProfile "
      "AppArmorProfile:*@AppArmorProfile" },
    { "ServiceAccountTokenProjection",
      "Audience:s ExpirationSeconds:i Path:s" },
    { "SleepAction",
      "Seconds:i" },
    { "StorageOSPersistentVolumeSource",
      "VolumeName:s VolumeNamespace:s FSType=fsType:s ReadOnly:b "
      "SecretRef:*@ObjectReference" },
    { "StorageOSVolumeSource",
      "VolumeName:s VolumeNamespace:s FSType=fsType:s ReadOnly:b "
      "SecretRef:*@LocalObjectReference" },
    { "Sysctl",
      "Name:s Value:s" },
    { "TCPSocketAction",
      "Port:o Host:s" },
    { "Toleration",
      "Key:s Operator:s Value:s Effect:s TolerationSeconds:*i" },
    { "TopologySpreadConstraint",
      "MaxSkew:i TopologyKey:s WhenUnsatisfiable:s LabelSelector:*j MinDomains:*i "
      "NodeAffinityPolicy:*s NodeTaintsPolicy:*s MatchLabelKeys:[]s" },
    { "TypedLocalObjectReference",
      "APIGroup=apiGroup:*s Kind:s Name:s" },
    { "TypedObjectReference",
      "APIGroup=apiGroup:*s Kind:s Name:s Namespace:*s" },
    { "Volume",
      "Name:s HostPath:*@HostPathVolumeSource EmptyDir:*@EmptyDirVolumeSource "
      "GCEPersistentDisk=gcePersistentDisk:*@GCEPersistentDiskVolumeSource "
      "AWSElasticBlockStore=awsElasticBlockStore:*@AWSElasticBlockStoreVolumeSource "
      "GitRepo:*@GitRepoVolumeSource Secret:*@SecretVolumeSource "
      "NFS=nfs:*@NFSVolumeSource ISCSI=iscsi:*@ISCSIVolumeSource "
      "Glusterfs:*@GlusterfsVolumeSource "
      "PersistentVolumeClaim:*@PersistentVolumeClaimVolumeSource "
      "RBD=rbd:*@RBDVolumeSource Quobyte:*@QuobyteVolumeSource "
      "FlexVolume:*@FlexVolumeSource Cinder:*@CinderVolumeSource "
      "CephFS=cephfs:*@CephFSVolumeSource Flocker:*@FlockerVolumeSource "
      "DownwardAPI:*@DownwardAPIVolumeSource FC=fc:*@FCVolumeSource "
      "AzureFile:*@AzureFileVolumeSource ConfigMap:*@ConfigMapVolumeSource "
      "VsphereVolume:*@VsphereVirtualDiskVolumeSource "
      "AzureDisk:*@AzureDiskVolumeSource "
      "PhotonPersistentDisk:*@PhotonPersistentDiskVolumeSource "
      "Projected:*@ProjectedVolumeSource PortworxVolume:*@PortworxVolumeSource "
      "ScaleIO:*@ScaleIOVolumeSource StorageOS=storageos:*@StorageOSVolumeSource "
      "CSI=csi:*@CSIVolumeSource Ephemeral:*@EphemeralVolumeSource "
      "Image:*@ImageVolumeSource" },
    { "VolumeDevice",
      "Name:s DevicePath:s" },
    { "VolumeMount",
      "Name:s ReadOnly:b RecursiveReadOnly:*s MountPath:s SubPath:s "
      "MountPropagation:*s SubPathExpr:s" },
    { "VolumeProjection",
      "Secret:*@SecretProjection DownwardAPI:*@DownwardAPIProjection "
      "ConfigMap:*@ConfigMapProjection "
      "ServiceAccountToken:*@ServiceAccountTokenProjection "
      "ClusterTrustBundle:*@ClusterTrustBundleProjection "
      "PodCertificate:*@PodCertificateProjection" },
    { "VolumeResourceRequirements",
      "Limits:m Requests:m" },
    { "VsphereVirtualDiskVolumeSource",
      "VolumePath:s FSType=fsType:s StoragePolicyName:s StoragePolicyID:s" },
    { "WeightedPodAffinityTerm",
      "Weight:i PodAffinityTerm:@PodAffinityTerm" },
    { "WindowsSecurityContextOptions",
      "GMSACredentialSpecName=gmsaCredentialSpecName:*s "
      "GMSACredentialSpec=gmsaCredentialSpec:*s RunAsUserName:*s HostProcess:*b" },
};
const size_t go_types_n = COUNT(go_types);
