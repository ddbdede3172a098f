/* elasticPolicy, as PyTorchJobs have it and PaddleJobs accept it. */

#include "job/elastic.h"

/* Kubernetes' own type, by its name. */
static const struct schema metric = { .type = SCHEMA_ANY,
                                      .name = "io.k8s.api.autoscaling.v2.MetricSpec" };
static const struct schema metrics = { .type = SCHEMA_LIST, .items = &metric };

static const struct schema_field conf_rows[] = {
    { S_INIT("key"), &schema_string, 0, NULL },
    { S_INIT("value"), &schema_string, 0, NULL },
};
static const struct schema conf_entry = { .type = SCHEMA_OBJECT,
                                          .fields = conf_rows,
                                          .n_fields = COUNT(conf_rows) };
static const struct schema conf = { .type = SCHEMA_LIST, .items = &conf_entry };

static const struct schema_field elastic_rows[] = {
    { S_INIT("minReplicas"), &schema_int32, FIELD_POINTER, "The fewest workers that can train." },
    { S_INIT("maxReplicas"), &schema_int32, FIELD_POINTER, "The most workers that can train." },
    { S_INIT("maxRestarts"), &schema_int32, FIELD_POINTER,
      "How often torchrun may start its workers again." },
    { S_INIT("metrics"), &metrics, 0,
      "What an autoscaler goes by; there is one only if some are given." },
};
const struct schema paddle_elastic = { .type = SCHEMA_OBJECT,
                                       .fields = elastic_rows,
                                       .n_fields = COUNT(elastic_rows) };

static const struct schema_field pytorch_rows[] = {
    { S_INIT("maxReplicas"), &schema_int32, FIELD_POINTER, "The most workers that can train." },
    { S_INIT("maxRestarts"), &schema_int32, FIELD_POINTER,
      "How often torchrun may start its workers again." },
    { S_INIT("metrics"), &metrics, 0,
      "What an autoscaler goes by; there is one only if some are given." },
    { S_INIT("minReplicas"), &schema_int32, FIELD_POINTER, "The fewest workers that can train." },
    { S_INIT("nProcPerNode"), &schema_int32, FIELD_POINTER, "Deprecated: use spec.nprocPerNode." },
    { S_INIT("rdzvBackend"), &schema_string, FIELD_POINTER,
      "How workers find each other: c10d (the default), etcd or etcd-v2." },
    { S_INIT("rdzvConf"), &conf, 0, "More settings of the rendezvous." },
    { S_INIT("rdzvHost"), &schema_string, FIELD_POINTER, "Where they meet; worker 0 by default." },
    { S_INIT("rdzvId"), &schema_string, FIELD_POINTER, "The name of the rendezvous." },
    { S_INIT("rdzvPort"), &schema_int32, FIELD_POINTER, "Its port; the workers' by default." },
    { S_INIT("standalone"), &schema_bool, FIELD_POINTER,
      "Whether each pod is its own rendezvous." },
};
const struct schema pytorch_elastic = { .type = SCHEMA_OBJECT,
                                        .fields = pytorch_rows,
                                        .n_fields = COUNT(pytorch_rows) };
