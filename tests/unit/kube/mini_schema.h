/* Small cuts of real types, enough to try patches on: pods, deployments, services, config maps. */
#pragma once

#include "kube/schema.h"

#define SCALAR(name, t) static const struct schema name = { .type = (t) }
#define FIELDS(...)                                         \
    .fields = (const struct schema_field[]){ __VA_ARGS__ }, \
    .n_fields = sizeof((const struct schema_field[]){ __VA_ARGS__ }) / sizeof(struct schema_field)
#define F(n, s)                          \
    {                                    \
        .name = S_INIT(n), .schema = (s) \
    }
#define KEYS(...)                      \
    .list_keys = (const char *const[]) \
    {                                  \
        __VA_ARGS__, NULL              \
    }

SCALAR(mini_string, SCHEMA_STRING);
SCALAR(mini_int, SCHEMA_INT32);
SCALAR(mini_bool, SCHEMA_BOOL);
SCALAR(mini_any, SCHEMA_ANY);
SCALAR(mini_time, SCHEMA_TIME);

static const struct schema mini_strings = { .type = SCHEMA_MAP, .items = &mini_string };
static const struct schema mini_list = { .type = SCHEMA_LIST, .items = &mini_string };
static const struct schema mini_finalizers = {
    .type = SCHEMA_LIST, .items = &mini_string, .list = LIST_SET, .patch_merge = true
};

static const struct schema mini_owner = { .type = SCHEMA_OBJECT,
                                          .map_atomic = true,
                                          .go_name = "v1.OwnerReference",
                                          FIELDS(F("apiVersion", &mini_string),
                                                 F("kind", &mini_string), F("name", &mini_string),
                                                 F("uid", &mini_string)) };
static const struct schema mini_owners = { .type = SCHEMA_LIST,
                                           .items = &mini_owner,
                                           .list = LIST_MAP,
                                           KEYS("uid"),
                                           .patch_merge = true,
                                           .patch_key = "uid" };
static const struct schema mini_managed = { .type = SCHEMA_LIST, .items = &mini_any };
static const struct schema mini_meta = {
    .type = SCHEMA_OBJECT,
    .go_name = "v1.ObjectMeta",
    FIELDS(F("name", &mini_string), F("namespace", &mini_string), F("uid", &mini_string),
           F("resourceVersion", &mini_string), F("generation", &mini_int),
           F("creationTimestamp", &mini_time), F("labels", &mini_strings),
           F("annotations", &mini_strings), F("ownerReferences", &mini_owners),
           F("finalizers", &mini_finalizers), F("managedFields", &mini_managed))
};

static const struct schema mini_env = { .type = SCHEMA_OBJECT,
                                        .go_name = "v1.EnvVar",
                                        FIELDS(F("name", &mini_string), F("value", &mini_string)) };
static const struct schema mini_envs = { .type = SCHEMA_LIST,
                                         .items = &mini_env,
                                         .list = LIST_MAP,
                                         KEYS("name"),
                                         .patch_merge = true,
                                         .patch_key = "name" };
static const struct schema mini_tcp_default = { .type = SCHEMA_STRING };
static const struct schema mini_port = {
    .type = SCHEMA_OBJECT,
    .go_name = "v1.ContainerPort",
    FIELDS(F("name", &mini_string), F("containerPort", &mini_int), F("protocol", &mini_tcp_default))
};
static const struct schema mini_ports = { .type = SCHEMA_LIST,
                                          .items = &mini_port,
                                          .list = LIST_MAP,
                                          KEYS("containerPort", "protocol"),
                                          .patch_merge = true,
                                          .patch_key = "containerPort" };
static const struct schema mini_container = {
    .type = SCHEMA_OBJECT,
    .go_name = "v1.Container",
    FIELDS(F("name", &mini_string), F("image", &mini_string), F("command", &mini_list),
           F("args", &mini_list), F("ports", &mini_ports), F("env", &mini_envs),
           F("resources", &mini_any), F("terminationMessagePath", &mini_string),
           F("terminationMessagePolicy", &mini_string), F("imagePullPolicy", &mini_string))
};
static const struct schema mini_containers = { .type = SCHEMA_LIST,
                                               .items = &mini_container,
                                               .list = LIST_MAP,
                                               KEYS("name"),
                                               .patch_merge = true,
                                               .patch_key = "name" };
static const struct schema mini_path = { .type = SCHEMA_OBJECT,
                                         .go_name = "v1.HostPathVolumeSource",
                                         FIELDS(F("path", &mini_string), F("type", &mini_string)) };
static const struct schema mini_empty = { .type = SCHEMA_OBJECT,
                                          .go_name = "v1.EmptyDirVolumeSource",
                                          FIELDS(F("medium", &mini_string)) };
static const struct schema mini_volume = {
    .type = SCHEMA_OBJECT,
    .go_name = "v1.Volume",
    FIELDS(F("name", &mini_string), F("emptyDir", &mini_empty), F("hostPath", &mini_path))
};
static const struct schema mini_volumes = { .type = SCHEMA_LIST,
                                            .items = &mini_volume,
                                            .list = LIST_MAP,
                                            KEYS("name"),
                                            .patch_merge = true,
                                            .patch_retain_keys = true,
                                            .patch_key = "name" };
static const struct schema mini_toleration = { .type = SCHEMA_OBJECT,
                                               .go_name = "v1.Toleration",
                                               FIELDS(F("key", &mini_string),
                                                      F("operator", &mini_string)) };
static const struct schema mini_tolerations = { .type = SCHEMA_LIST, .items = &mini_toleration };
static const struct schema mini_node_selector = { .type = SCHEMA_MAP,
                                                  .items = &mini_string,
                                                  .map_atomic = true };
static const struct schema mini_pod_spec = {
    .type = SCHEMA_OBJECT,
    .go_name = "v1.PodSpec",
    FIELDS(F("volumes", &mini_volumes), F("initContainers", &mini_containers),
           F("containers", &mini_containers), F("restartPolicy", &mini_string),
           F("terminationGracePeriodSeconds", &mini_int), F("dnsPolicy", &mini_string),
           F("nodeSelector", &mini_node_selector), F("serviceAccountName", &mini_string),
           F("serviceAccount", &mini_string), F("nodeName", &mini_string),
           F("securityContext", &mini_any), F("schedulerName", &mini_string),
           F("tolerations", &mini_tolerations), F("priority", &mini_int),
           F("enableServiceLinks", &mini_bool), F("preemptionPolicy", &mini_string))
};
static const struct schema mini_condition = {
    .type = SCHEMA_OBJECT,
    .go_name = "v1.PodCondition",
    FIELDS(F("type", &mini_string), F("status", &mini_string), F("reason", &mini_string))
};
static const struct schema mini_conditions = { .type = SCHEMA_LIST,
                                               .items = &mini_condition,
                                               .list = LIST_MAP,
                                               KEYS("type"),
                                               .patch_merge = true,
                                               .patch_key = "type" };
static const struct schema mini_status = {
    .type = SCHEMA_OBJECT,
    .go_name = "v1.PodStatus",
    FIELDS(F("phase", &mini_string), F("conditions", &mini_conditions), F("replicas", &mini_int))
};

__attribute__((unused)) static const struct schema mini_pod = {
    .type = SCHEMA_OBJECT,
    .go_name = "v1.Pod",
    FIELDS(F("kind", &mini_string), F("apiVersion", &mini_string), F("metadata", &mini_meta),
           F("spec", &mini_pod_spec), F("status", &mini_status))
};
static const struct schema mini_template = { .type = SCHEMA_OBJECT,
                                             .go_name = "v1.PodTemplateSpec",
                                             FIELDS(F("metadata", &mini_meta),
                                                    F("spec", &mini_pod_spec)) };
static const struct schema mini_strategy = { .type = SCHEMA_OBJECT,
                                             .go_name = "v1.DeploymentStrategy",
                                             .patch_retain_keys = true,
                                             FIELDS(F("type", &mini_string),
                                                    F("rollingUpdate", &mini_any)) };
static const struct schema mini_selector = { .type = SCHEMA_OBJECT,
                                             .go_name = "v1.LabelSelector",
                                             .map_atomic = true,
                                             FIELDS(F("matchLabels", &mini_strings)) };
static const struct schema mini_deployment_spec = {
    .type = SCHEMA_OBJECT,
    .go_name = "v1.DeploymentSpec",
    FIELDS(F("replicas", &mini_int), F("selector", &mini_selector), F("template", &mini_template),
           F("strategy", &mini_strategy), F("revisionHistoryLimit", &mini_int),
           F("progressDeadlineSeconds", &mini_int))
};
__attribute__((unused)) static const struct schema mini_deployment = {
    .type = SCHEMA_OBJECT,
    .go_name = "v1.Deployment",
    FIELDS(F("kind", &mini_string), F("apiVersion", &mini_string), F("metadata", &mini_meta),
           F("spec", &mini_deployment_spec), F("status", &mini_status))
};
__attribute__((unused)) static const struct schema mini_config_map = {
    .type = SCHEMA_OBJECT,
    .go_name = "v1.ConfigMap",
    FIELDS(F("kind", &mini_string), F("apiVersion", &mini_string), F("metadata", &mini_meta),
           F("immutable", &mini_bool), F("data", &mini_strings))
};
