/* Small cuts of real types, enough to try patches on: pods, deployments, services, config maps. */
#pragma once

#include "kube/schema.h"

#define SCALAR(name, t) static const struct schema name = { .type = (t) }
#define FIELDS(...)                                         \
    .fields = (const struct schema_field[]){ __VA_ARGS__ }, \
    .n_fields = sizeof((const struct schema_field[]){ __VA_ARGS__ }) / sizeof(struct schema_field)
#define FIELD(n, s)                      \
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

static const struct schema mini_owner = {
    .type = SCHEMA_OBJECT,
    .map_atomic = true,
    .go_name = "v1.OwnerReference",
    FIELDS(FIELD("apiVersion", &mini_string), FIELD("kind", &mini_string),
           FIELD("name", &mini_string), FIELD("uid", &mini_string))
};
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
    FIELDS(FIELD("name", &mini_string), FIELD("namespace", &mini_string),
           FIELD("uid", &mini_string), FIELD("resourceVersion", &mini_string),
           FIELD("generation", &mini_int), FIELD("creationTimestamp", &mini_time),
           FIELD("labels", &mini_strings), FIELD("annotations", &mini_strings),
           FIELD("ownerReferences", &mini_owners), FIELD("finalizers", &mini_finalizers),
           FIELD("managedFields", &mini_managed))
};

static const struct schema mini_env = { .type = SCHEMA_OBJECT,
                                        .go_name = "v1.EnvVar",
                                        FIELDS(FIELD("name", &mini_string),
                                               FIELD("value", &mini_string)) };
static const struct schema mini_envs = { .type = SCHEMA_LIST,
                                         .items = &mini_env,
                                         .list = LIST_MAP,
                                         KEYS("name"),
                                         .patch_merge = true,
                                         .patch_key = "name" };
static const struct schema mini_tcp_default = { .type = SCHEMA_STRING };
static const struct schema mini_port = { .type = SCHEMA_OBJECT,
                                         .go_name = "v1.ContainerPort",
                                         FIELDS(FIELD("name", &mini_string),
                                                FIELD("containerPort", &mini_int),
                                                FIELD("protocol", &mini_tcp_default)) };
static const struct schema mini_ports = { .type = SCHEMA_LIST,
                                          .items = &mini_port,
                                          .list = LIST_MAP,
                                          KEYS("containerPort", "protocol"),
                                          .patch_merge = true,
                                          .patch_key = "containerPort" };
static const struct schema mini_container = {
    .type = SCHEMA_OBJECT,
    .go_name = "v1.Container",
    FIELDS(FIELD("name", &mini_string), FIELD("image", &mini_string), FIELD("command", &mini_list),
           FIELD("args", &mini_list), FIELD("ports", &mini_ports), FIELD("env", &mini_envs),
           FIELD("resources", &mini_any), FIELD("terminationMessagePath", &mini_string),
           FIELD("terminationMessagePolicy", &mini_string), FIELD("imagePullPolicy", &mini_string))
};
static const struct schema mini_containers = { .type = SCHEMA_LIST,
                                               .items = &mini_container,
                                               .list = LIST_MAP,
                                               KEYS("name"),
                                               .patch_merge = true,
                                               .patch_key = "name" };
static const struct schema mini_path = { .type = SCHEMA_OBJECT,
                                         .go_name = "v1.HostPathVolumeSource",
                                         FIELDS(FIELD("path", &mini_string),
                                                FIELD("type", &mini_string)) };
static const struct schema mini_empty = { .type = SCHEMA_OBJECT,
                                          .go_name = "v1.EmptyDirVolumeSource",
                                          FIELDS(FIELD("medium", &mini_string)) };
static const struct schema mini_volume = { .type = SCHEMA_OBJECT,
                                           .go_name = "v1.Volume",
                                           FIELDS(FIELD("name", &mini_string),
                                                  FIELD("emptyDir", &mini_empty),
                                                  FIELD("hostPath", &mini_path)) };
static const struct schema mini_volumes = { .type = SCHEMA_LIST,
                                            .items = &mini_volume,
                                            .list = LIST_MAP,
                                            KEYS("name"),
                                            .patch_merge = true,
                                            .patch_retain_keys = true,
                                            .patch_key = "name" };
static const struct schema mini_toleration = { .type = SCHEMA_OBJECT,
                                               .go_name = "v1.Toleration",
                                               FIELDS(FIELD("key", &mini_string),
                                                      FIELD("operator", &mini_string)) };
static const struct schema mini_tolerations = { .type = SCHEMA_LIST, .items = &mini_toleration };
static const struct schema mini_node_selector = { .type = SCHEMA_MAP,
                                                  .items = &mini_string,
                                                  .map_atomic = true };
static const struct schema mini_pod_spec = {
    .type = SCHEMA_OBJECT,
    .go_name = "v1.PodSpec",
    FIELDS(FIELD("volumes", &mini_volumes), FIELD("initContainers", &mini_containers),
           FIELD("containers", &mini_containers), FIELD("restartPolicy", &mini_string),
           FIELD("terminationGracePeriodSeconds", &mini_int), FIELD("dnsPolicy", &mini_string),
           FIELD("nodeSelector", &mini_node_selector), FIELD("serviceAccountName", &mini_string),
           FIELD("serviceAccount", &mini_string), FIELD("nodeName", &mini_string),
           FIELD("securityContext", &mini_any), FIELD("schedulerName", &mini_string),
           FIELD("tolerations", &mini_tolerations), FIELD("priority", &mini_int),
           FIELD("enableServiceLinks", &mini_bool), FIELD("preemptionPolicy", &mini_string))
};
static const struct schema mini_condition = { .type = SCHEMA_OBJECT,
                                              .go_name = "v1.PodCondition",
                                              FIELDS(FIELD("type", &mini_string),
                                                     FIELD("status", &mini_string),
                                                     FIELD("reason", &mini_string)) };
static const struct schema mini_conditions = { .type = SCHEMA_LIST,
                                               .items = &mini_condition,
                                               .list = LIST_MAP,
                                               KEYS("type"),
                                               .patch_merge = true,
                                               .patch_key = "type" };
static const struct schema mini_status = { .type = SCHEMA_OBJECT,
                                           .go_name = "v1.PodStatus",
                                           FIELDS(FIELD("phase", &mini_string),
                                                  FIELD("conditions", &mini_conditions),
                                                  FIELD("replicas", &mini_int)) };

__attribute__((unused)) static const struct schema mini_pod = {
    .type = SCHEMA_OBJECT,
    .go_name = "v1.Pod",
    FIELDS(FIELD("kind", &mini_string), FIELD("apiVersion", &mini_string),
           FIELD("metadata", &mini_meta), FIELD("spec", &mini_pod_spec),
           FIELD("status", &mini_status))
};
static const struct schema mini_template = { .type = SCHEMA_OBJECT,
                                             .go_name = "v1.PodTemplateSpec",
                                             FIELDS(FIELD("metadata", &mini_meta),
                                                    FIELD("spec", &mini_pod_spec)) };
static const struct schema mini_strategy = { .type = SCHEMA_OBJECT,
                                             .go_name = "v1.DeploymentStrategy",
                                             .patch_retain_keys = true,
                                             FIELDS(FIELD("type", &mini_string),
                                                    FIELD("rollingUpdate", &mini_any)) };
static const struct schema mini_selector = { .type = SCHEMA_OBJECT,
                                             .go_name = "v1.LabelSelector",
                                             .map_atomic = true,
                                             FIELDS(FIELD("matchLabels", &mini_strings)) };
static const struct schema mini_deployment_spec = {
    .type = SCHEMA_OBJECT,
    .go_name = "v1.DeploymentSpec",
    FIELDS(FIELD("replicas", &mini_int), FIELD("selector", &mini_selector),
           FIELD("template", &mini_template), FIELD("strategy", &mini_strategy),
           FIELD("revisionHistoryLimit", &mini_int), FIELD("progressDeadlineSeconds", &mini_int))
};
__attribute__((unused)) static const struct schema mini_deployment = {
    .type = SCHEMA_OBJECT,
    .go_name = "v1.Deployment",
    FIELDS(FIELD("kind", &mini_string), FIELD("apiVersion", &mini_string),
           FIELD("metadata", &mini_meta), FIELD("spec", &mini_deployment_spec),
           FIELD("status", &mini_status))
};
__attribute__((unused)) static const struct schema mini_config_map = {
    .type = SCHEMA_OBJECT,
    .go_name = "v1.ConfigMap",
    FIELDS(FIELD("kind", &mini_string), FIELD("apiVersion", &mini_string),
           FIELD("metadata", &mini_meta), FIELD("immutable", &mini_bool),
           FIELD("data", &mini_strings))
};
