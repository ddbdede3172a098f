/* What seen_pod_read and seen_service_read look at, as types of protobuf: all else is passed over
 * when an object is read. A field they come to read goes in here, too, with the number it has in
 * Kubernetes' generated.proto; tests/unit/plan/test_observed_wire.c compares with whole objects. */

#include "plan/observed.h"

#include "kube/schema_rows.h"

/* ---- metadata */

static const struct schema_field owner_rows[] = {
    FIELD("kind", schema_string),     FIELD("name", schema_string),
    FIELD("uid", schema_string),      FIELD("apiVersion", schema_string),
    FIELD("controller", schema_bool),
};
static const struct schema owner = OBJECT("owner", owner_rows);
static const struct schema owners = LIST(owner);
static const struct schema labels = { .type = SCHEMA_MAP, .items = &schema_string };
static const struct schema_field meta_rows[] = {
    FIELD("name", schema_string),
    FIELD("namespace", schema_string),
    FIELD("uid", schema_string),
    FIELD("resourceVersion", schema_string),
    FIELD("deletionTimestamp", schema_time),
    FIELD("labels", labels),
    FIELD("ownerReferences", owners),
};
static const struct schema meta = OBJECT("meta", meta_rows);

/* ---- status */

static const struct schema_field waiting_rows[] = {
    FIELD("reason", schema_string),
    FIELD("message", schema_string),
};
static const struct schema waiting = OBJECT("waiting", waiting_rows);
static const struct schema_field ended_rows[] = {
    FIELD("exitCode", schema_int32),     FIELD("reason", schema_string),
    FIELD("message", schema_string),     FIELD("finishedAt", schema_time),
    FIELD("containerID", schema_string),
};
static const struct schema ended = OBJECT("ended", ended_rows);
static const struct schema_field state_rows[] = {
    FIELD("waiting", waiting),
    FIELD("terminated", ended),
};
static const struct schema state = OBJECT("state", state_rows);
static const struct schema_field container_status_rows[] = {
    FIELD("name", schema_string),
    FIELD("state", state),
    FIELD("restartCount", schema_int32),
    FIELD("containerID", schema_string),
};
static const struct schema container_status = OBJECT("container status", container_status_rows);
static const struct schema container_statuses = LIST(container_status);
static const struct schema_field condition_rows[] = {
    FIELD("type", schema_string),    FIELD("status", schema_string),
    FIELD("reason", schema_string),  FIELD("lastTransitionTime", schema_time),
    FIELD("message", schema_string),
};
static const struct schema condition = OBJECT("condition", condition_rows);
static const struct schema conditions = LIST(condition);
static const struct schema_field status_rows[] = {
    FIELD("phase", schema_string),
    FIELD("conditions", conditions),
    FIELD("reason", schema_string),
    FIELD("containerStatuses", container_statuses),
    FIELD("initContainerStatuses", container_statuses),
};
static const struct schema status = OBJECT("status", status_rows);

/* ---- whole objects */

static const struct schema_field container_rows[] = { FIELD("name", schema_string) };
static const struct schema container = OBJECT("container", container_rows);
static const struct schema containers = LIST(container);
static const struct schema_field spec_rows[] = {
    FIELD("containers", containers),
    FIELD("nodeName", schema_string),
};
static const struct schema spec = OBJECT("spec", spec_rows);
static const struct schema_field pod_rows[] = {
    FIELD("metadata", meta),
    FIELD("spec", spec),
    FIELD("status", status),
};
static const struct schema_field service_rows[] = { FIELD("metadata", meta) };

const struct schema seen_pod_type = OBJECT("pod", pod_rows);
const struct schema seen_service_type = OBJECT("service", service_rows);

static const struct wire_type types[] = {
    { "condition", "type status 4: lastTransitionTime reason message" },
    { "container", "name" },
    { "container status", "name state 5: restartCount 8: containerID" },
    { "ended", "exitCode 3: reason message 6: finishedAt containerID" },
    { "meta", "name 3: namespace 5: uid resourceVersion 9: deletionTimestamp 11: labels "
              "13: ownerReferences" },
    { "owner", "kind 3: name uid apiVersion controller" },
    { "pod", "metadata spec status" },
    { "service", "metadata" },
    { "spec", "2: containers 10: nodeName" },
    { "state", "waiting 3: terminated" },
    { "status", "phase conditions 4: reason 8: containerStatuses 10: initContainerStatuses" },
    { "waiting", "reason message" },
};

const struct wire seen_wire = { .types = types, .n = COUNT(types) };
