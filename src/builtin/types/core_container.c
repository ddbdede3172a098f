/* core/v1: containers, their probes, resources and states. */
/* clang-format off */

#include "builtin/types/type_table.h"

#define PACKAGE "io.k8s.api.core.v1"
#define GO_PACKAGE "v1"

static const struct jnode tcp = { .type = JV_STR, .n = 3, .u.text = "TCP" };
ENUM_OR(core, Protocol, tcp, "SCTP", "TCP", "UDP")

LOCAL_TYPE(core, ContainerPort, PLAIN,
    F("name", STRING, 0, DOC("Unique within the pod; services can refer to it.")),
    F("hostPort", INT32, 0, DOC("The same port on the node, if that is wanted.")),
    F("containerPort", INT32, REQ | KEEP, DOC("From 1 to 65535.")),
    F("protocol", core_Protocol, 0, DOC("TCP unless said otherwise.")),
    F("hostIP", STRING, 0, DOC("Which address of the node.")))

LOCAL_TYPE(core, ConfigMapEnvSource, PLAIN,
    F("name", STRING, 0),
    F("optional", BOOL, PTR))

LOCAL_TYPE(core, SecretEnvSource, PLAIN,
    F("name", STRING, 0),
    F("optional", BOOL, PTR))

LOCAL_TYPE(core, EnvFromSource, PLAIN,
    F("prefix", STRING, 0, DOC("Put before each name.")),
    F("configMapRef", core_ConfigMapEnvSource, PTR, DOC("The config map.")),
    F("secretRef", core_SecretEnvSource, PTR, DOC("The secret.")))

LOCAL_TYPE(core, ConfigMapKeySelector, ATOMIC,
    F("name", STRING, 0),
    F("key", STRING, REQ | KEEP),
    F("optional", BOOL, PTR))

LOCAL_TYPE(core, SecretKeySelector, ATOMIC,
    F("name", STRING, 0),
    F("key", STRING, REQ | KEEP),
    F("optional", BOOL, PTR))

LOCAL_TYPE(core, FileKeySelector, ATOMIC,
    F("volumeName", STRING, REQ | KEEP),
    F("path", STRING, REQ | KEEP),
    F("key", STRING, REQ | KEEP),
    F("optional", BOOL, PTR))

LOCAL_TYPE(core, EnvVarSource, PLAIN,
    F("fieldRef", core_ObjectFieldSelector, PTR),
    F("resourceFieldRef", core_ResourceFieldSelector, PTR),
    F("configMapKeyRef", core_ConfigMapKeySelector, PTR),
    F("secretKeyRef", core_SecretKeySelector, PTR),
    F("fileKeyRef", core_FileKeySelector, PTR))

LOCAL_TYPE(core, EnvVar, PLAIN,
    F("name", STRING, REQ | KEEP, DOC("The name of the variable.")),
    F("value", STRING, 0, DOC("Its value. $(NAME) stands for variables named before.")),
    F("valueFrom", core_EnvVarSource, PTR, DOC("Where the value comes from, if not from here.")))

LOCAL_TYPE(core, ResourceClaim, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("request", STRING, 0))

TYPE(core, ResourceRequirements, PLAIN,
    F("limits", core_ResourceList, 0, DOC("The most that may be used.")),
    F("requests", core_ResourceList, 0, DOC("The amounts that are reserved. Defaults to the limits.")),
    F("claims", LIST(core_ResourceClaim, BY("name")), 0,
      DOC("Devices of the pod that this container uses.")))

STRING_TYPE(core, ResourceName)
LOCAL_STRING_TYPE(core, ResourceResizeRestartPolicy)

LOCAL_TYPE(core, ContainerResizePolicy, PLAIN,
    F("resourceName", core_ResourceName, REQ | KEEP),
    F("restartPolicy", core_ResourceResizeRestartPolicy, REQ | KEEP))

LOCAL_STRING_TYPE(core, ContainerRestartRuleOnExitCodesOperator)

LOCAL_TYPE(core, ContainerRestartRuleOnExitCodes, PLAIN,
    F("operator", core_ContainerRestartRuleOnExitCodesOperator, REQ),
    F("values", LIST(INT32, SET), 0))

LOCAL_STRING_TYPE(core, ContainerRestartRuleAction)

LOCAL_TYPE(core, ContainerRestartRule, PLAIN,
    F("action", core_ContainerRestartRuleAction, REQ),
    F("exitCodes", core_ContainerRestartRuleOnExitCodes, PTR))

LOCAL_STRING_TYPE(core, RecursiveReadOnlyMode)
LOCAL_ENUM(core, MountPropagationMode, "Bidirectional", "HostToContainer", "None")

LOCAL_TYPE(core, VolumeMount, PLAIN,
    F("name", STRING, REQ | KEEP, DOC("Of the volume.")),
    F("readOnly", BOOL, 0, DOC("Whether it cannot be written.")),
    F("recursiveReadOnly", core_RecursiveReadOnlyMode, PTR),
    F("mountPath", STRING, REQ | KEEP, DOC("Where it appears.")),
    F("subPath", STRING, 0, DOC("A path within the volume, instead of all of it.")),
    F("mountPropagation", core_MountPropagationMode, PTR),
    F("subPathExpr", STRING, 0))

LOCAL_TYPE(core, VolumeDevice, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("devicePath", STRING, REQ | KEEP))

LOCAL_TYPE(core, ExecAction, PLAIN,
    F("command", LIST(STRING), 0))

LOCAL_TYPE(core, HTTPHeader, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("value", STRING, REQ | KEEP))

LOCAL_ENUM(core, URIScheme, "HTTP", "HTTPS")

LOCAL_TYPE(core, HTTPGetAction, PLAIN,
    F("path", STRING, 0),
    F("port", INT_OR_STRING, REQ | KEEP),
    F("host", STRING, 0),
    F("scheme", core_URIScheme, 0),
    F("httpHeaders", LIST(core_HTTPHeader), 0))

LOCAL_TYPE(core, TCPSocketAction, PLAIN,
    F("port", INT_OR_STRING, REQ | KEEP),
    F("host", STRING, 0))

LOCAL_TYPE(core, GRPCAction, PLAIN,
    F("port", INT32, REQ | KEEP),
    F("service", STRING, KEEP | PTR))

LOCAL_TYPE(core, Probe, PLAIN,
    F("exec", core_ExecAction, PTR, DOC("A command that must exit with 0.")),
    F("httpGet", core_HTTPGetAction, PTR,
      DOC("A GET that must answer with a status from 200 to 399.")),
    F("tcpSocket", core_TCPSocketAction, PTR, DOC("A port that must accept connections.")),
    F("grpc", core_GRPCAction, PTR, DOC("A gRPC health check.")),
    F("initialDelaySeconds", INT32, 0, DOC("Time from the start to the first try.")),
    F("timeoutSeconds", INT32, 0, DOC("Time for an answer. 1 if unset.")),
    F("periodSeconds", INT32, 0, DOC("Time between tries. 10 if unset.")),
    F("successThreshold", INT32, 0, DOC("Successes in a row that count as success.")),
    F("failureThreshold", INT32, 0, DOC("Failures in a row that count as failure. 3 if unset.")),
    F("terminationGracePeriodSeconds", INT64, PTR))

LOCAL_TYPE(core, SleepAction, PLAIN,
    F("seconds", INT64, REQ | KEEP))

LOCAL_TYPE(core, LifecycleHandler, PLAIN,
    F("exec", core_ExecAction, PTR),
    F("httpGet", core_HTTPGetAction, PTR),
    F("tcpSocket", core_TCPSocketAction, PTR),
    F("sleep", core_SleepAction, PTR))

LOCAL_ENUM(core, Signal, "SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCLD", "SIGCONT",
    "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGIO", "SIGIOT", "SIGKILL", "SIGPIPE", "SIGPOLL",
    "SIGPROF", "SIGPWR", "SIGQUIT", "SIGRTMAX", "SIGRTMAX-1", "SIGRTMAX-10", "SIGRTMAX-11",
    "SIGRTMAX-12", "SIGRTMAX-13", "SIGRTMAX-14", "SIGRTMAX-2", "SIGRTMAX-3", "SIGRTMAX-4",
    "SIGRTMAX-5", "SIGRTMAX-6", "SIGRTMAX-7", "SIGRTMAX-8", "SIGRTMAX-9", "SIGRTMIN", "SIGRTMIN+1",
    "SIGRTMIN+10", "SIGRTMIN+11", "SIGRTMIN+12", "SIGRTMIN+13", "SIGRTMIN+14", "SIGRTMIN+15",
    "SIGRTMIN+2", "SIGRTMIN+3", "SIGRTMIN+4", "SIGRTMIN+5", "SIGRTMIN+6", "SIGRTMIN+7",
    "SIGRTMIN+8", "SIGRTMIN+9", "SIGSEGV", "SIGSTKFLT", "SIGSTOP", "SIGSYS", "SIGTERM", "SIGTRAP",
    "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGWINCH",
    "SIGXCPU", "SIGXFSZ")

LOCAL_TYPE(core, Lifecycle, PLAIN,
    F("postStart", core_LifecycleHandler, PTR),
    F("preStop", core_LifecycleHandler, PTR),
    F("stopSignal", core_Signal, PTR))

LOCAL_STRING_TYPE(core, Capability)

LOCAL_TYPE(core, Capabilities, PLAIN,
    F("add", LIST(core_Capability), 0),
    F("drop", LIST(core_Capability), 0))

TYPE(core, SELinuxOptions, PLAIN,
    F("user", STRING, 0),
    F("role", STRING, 0),
    F("type", STRING, 0),
    F("level", STRING, 0))

TYPE(core, WindowsSecurityContextOptions, PLAIN,
    F("gmsaCredentialSpecName", STRING, PTR),
    F("gmsaCredentialSpec", STRING, PTR),
    F("runAsUserName", STRING, PTR),
    F("hostProcess", BOOL, PTR))

LOCAL_ENUM(core, SeccompProfileType, "Localhost", "RuntimeDefault", "Unconfined")

TYPE(core, SeccompProfile, PLAIN,
    F("type", core_SeccompProfileType, REQ | KEEP),
    F("localhostProfile", STRING, PTR))

LOCAL_ENUM(core, AppArmorProfileType, "Localhost", "RuntimeDefault", "Unconfined")

TYPE(core, AppArmorProfile, PLAIN,
    F("type", core_AppArmorProfileType, REQ | KEEP),
    F("localhostProfile", STRING, PTR))

LOCAL_ENUM(core, ProcMountType, "Default", "Unmasked")

LOCAL_TYPE(core, SecurityContext, PLAIN,
    F("capabilities", core_Capabilities, PTR),
    F("privileged", BOOL, PTR),
    F("seLinuxOptions", core_SELinuxOptions, PTR),
    F("windowsOptions", core_WindowsSecurityContextOptions, PTR),
    F("runAsUser", INT64, PTR),
    F("runAsGroup", INT64, PTR),
    F("runAsNonRoot", BOOL, PTR),
    F("readOnlyRootFilesystem", BOOL, PTR),
    F("allowPrivilegeEscalation", BOOL, PTR),
    F("procMount", core_ProcMountType, PTR),
    F("seccompProfile", core_SeccompProfile, PTR),
    F("appArmorProfile", core_AppArmorProfile, PTR))

LOCAL_STRING_TYPE(core, ContainerRestartPolicy)
LOCAL_ENUM(core, TerminationMessagePolicy, "FallbackToLogsOnError", "File")

TYPE(core, Container,
    DOC("One container of a pod."),
    F("name", STRING, REQ | KEEP, DOC("Unique within the pod.")),
    F("image", STRING, 0, DOC("What to run.")),
    F("command", LIST(STRING), 0, DOC("The program, instead of that of the image.")),
    F("args", LIST(STRING), 0, DOC("Arguments, instead of those of the image.")),
    F("workingDir", STRING, 0, DOC("Where the program starts.")),
    F("ports", LIST(core_ContainerPort, BY("containerPort", "protocol"),
      MERGE("containerPort")), 0, DOC("Ports that the container listens on. For information.")),
    F("envFrom", LIST(core_EnvFromSource), 0, DOC("Objects whose keys all become variables.")),
    F("env", LIST(core_EnvVar, BY("name"), MERGE("name")), 0,
      DOC("Variables of the environment.")),
    F("resources", core_ResourceRequirements, KEEP, DOC("What the container needs and may use.")),
    F("resizePolicy", LIST(core_ContainerResizePolicy), 0,
      DOC("Which resources can change without a restart.")),
    F("restartPolicy", core_ContainerRestartPolicy, PTR,
      DOC("Always: an init container that keeps running beside the others.")),
    F("restartPolicyRules", LIST(core_ContainerRestartRule), 0),
    F("volumeMounts", LIST(core_VolumeMount, BY("mountPath"), MERGE("mountPath")), 0,
      DOC("Where volumes appear in the container.")),
    F("volumeDevices", LIST(core_VolumeDevice, BY("devicePath"), MERGE("devicePath")), 0,
      DOC("Where raw volumes appear in the container.")),
    F("livenessProbe", core_Probe, PTR, DOC("When it fails, the container is restarted.")),
    F("readinessProbe", core_Probe, PTR, DOC("While it fails, the pod is not ready.")),
    F("startupProbe", core_Probe, PTR, DOC("Until it succeeds, the other probes wait.")),
    F("lifecycle", core_Lifecycle, PTR, DOC("What to do after the start and before the stop.")),
    F("terminationMessagePath", STRING, 0,
      DOC("A file whose text becomes the message of the last state.")),
    F("terminationMessagePolicy", core_TerminationMessagePolicy, 0),
    F("imagePullPolicy", core_PullPolicy, 0,
      DOC("When to fetch the image: Always, IfNotPresent or Never.")),
    F("securityContext", core_SecurityContext, PTR, DOC("User, group and privileges.")),
    F("stdin", BOOL, 0, DOC("Whether to keep standard input open.")),
    F("stdinOnce", BOOL, 0,
      DOC("Whether to close standard input after the first who attached has left.")),
    F("tty", BOOL, 0, DOC("Whether to give the container a terminal.")))

TYPE(core, EphemeralContainer, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("image", STRING, 0),
    F("command", LIST(STRING), 0),
    F("args", LIST(STRING), 0),
    F("workingDir", STRING, 0),
    F("ports", LIST(core_ContainerPort, BY("containerPort", "protocol"),
      MERGE("containerPort")), 0),
    F("envFrom", LIST(core_EnvFromSource), 0),
    F("env", LIST(core_EnvVar, BY("name"), MERGE("name")), 0),
    F("resources", core_ResourceRequirements, KEEP),
    F("resizePolicy", LIST(core_ContainerResizePolicy), 0),
    F("restartPolicy", core_ContainerRestartPolicy, PTR),
    F("restartPolicyRules", LIST(core_ContainerRestartRule), 0),
    F("volumeMounts", LIST(core_VolumeMount, BY("mountPath"), MERGE("mountPath")), 0),
    F("volumeDevices", LIST(core_VolumeDevice, BY("devicePath"), MERGE("devicePath")), 0),
    F("livenessProbe", core_Probe, PTR),
    F("readinessProbe", core_Probe, PTR),
    F("startupProbe", core_Probe, PTR),
    F("lifecycle", core_Lifecycle, PTR),
    F("terminationMessagePath", STRING, 0),
    F("terminationMessagePolicy", core_TerminationMessagePolicy, 0),
    F("imagePullPolicy", core_PullPolicy, 0),
    F("securityContext", core_SecurityContext, PTR),
    F("stdin", BOOL, 0),
    F("stdinOnce", BOOL, 0),
    F("tty", BOOL, 0),
    F("targetContainerName", STRING, 0))

LOCAL_TYPE(core, ContainerStateWaiting, PLAIN,
    F("reason", STRING, 0),
    F("message", STRING, 0))

LOCAL_TYPE(core, ContainerStateRunning, PLAIN,
    F("startedAt", TIME, KEEP))

LOCAL_TYPE(core, ContainerStateTerminated, PLAIN,
    F("exitCode", INT32, REQ | KEEP),
    F("signal", INT32, 0),
    F("reason", STRING, 0),
    F("message", STRING, 0),
    F("startedAt", TIME, KEEP),
    F("finishedAt", TIME, KEEP),
    F("containerID", STRING, 0))

LOCAL_TYPE(core, ContainerState, PLAIN,
    F("waiting", core_ContainerStateWaiting, PTR),
    F("running", core_ContainerStateRunning, PTR),
    F("terminated", core_ContainerStateTerminated, PTR))

LOCAL_TYPE(core, VolumeMountStatus, PLAIN,
    F("name", STRING, REQ | KEEP),
    F("mountPath", STRING, REQ | KEEP),
    F("readOnly", BOOL, 0),
    F("recursiveReadOnly", core_RecursiveReadOnlyMode, PTR))

LOCAL_TYPE(core, LinuxContainerUser, PLAIN,
    F("uid", INT64, REQ | KEEP),
    F("gid", INT64, REQ | KEEP),
    F("supplementalGroups", LIST(INT64), 0))

LOCAL_TYPE(core, ContainerUser, PLAIN,
    F("linux", core_LinuxContainerUser, PTR))

LOCAL_STRING_TYPE(core, ResourceID)
LOCAL_STRING_TYPE(core, ResourceHealthStatus)

LOCAL_TYPE(core, ResourceHealth, PLAIN,
    F("resourceID", core_ResourceID, REQ | KEEP),
    F("health", core_ResourceHealthStatus, 0))

LOCAL_TYPE(core, ResourceStatus, PLAIN,
    F("name", core_ResourceName, REQ | KEEP),
    F("resources", LIST(core_ResourceHealth, BY("resourceID")), 0))

TYPE(core, ContainerStatus, PLAIN,
    F("name", STRING, REQ | KEEP, DOC("Of the container.")),
    F("state", core_ContainerState, KEEP, DOC("Its current state.")),
    F("lastState", core_ContainerState, KEEP, DOC("How it ended the last time.")),
    F("ready", BOOL, REQ | KEEP, DOC("Whether its readiness probe succeeds.")),
    F("restartCount", INT32, REQ | KEEP, DOC("How often it was restarted.")),
    F("image", STRING, REQ | KEEP, DOC("The image that it runs.")),
    F("imageID", STRING, REQ | KEEP, DOC("What exactly it runs.")),
    F("containerID", STRING, 0, DOC("How the runtime calls it.")),
    F("started", BOOL, PTR, DOC("Whether its startup probe has succeeded.")),
    F("allocatedResources", core_ResourceList, 0),
    F("resources", core_ResourceRequirements, PTR),
    F("volumeMounts", LIST(core_VolumeMountStatus, BY("mountPath"), MERGE("mountPath")), 0),
    F("user", core_ContainerUser, PTR),
    F("allocatedResourcesStatus", LIST(core_ResourceStatus, BY("name"), MERGE("name")), 0),
    F("stopSignal", core_Signal, PTR))
