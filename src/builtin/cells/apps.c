/* Tables of what runs pods: deployments and their like, and pod templates. */

#include "builtin/cells/internal.h"

const struct kind_column deployment_columns[] = {
    NAME_COLUMN,
    COLUMN("Ready", "string", "Pods that are ready, of those wanted."),
    COLUMN("Up-to-date", "string", "Pods of the current template."),
    COLUMN("Available", "string", "Pods that have been ready for long enough."),
    AGE_COLUMN,
    CONTAINERS_COLUMN(WIDE_COLUMN),
    IMAGES_COLUMN(WIDE_COLUMN),
    WIDE_COLUMN("Selector", "string", "Which pods belong to it."),
};

/* The same for replicasets and replicationcontrollers. */
#define REPLICAS_COLUMNS                                                \
    NAME_COLUMN, COLUMN("Desired", "integer", "Pods wanted."),          \
        COLUMN("Current", "integer", "Pods there are."),                \
        COLUMN("Ready", "integer", "Pods that are ready."), AGE_COLUMN, \
        CONTAINERS_COLUMN(WIDE_COLUMN), IMAGES_COLUMN(WIDE_COLUMN),     \
        WIDE_COLUMN("Selector", "string", "Which pods belong to it.")

const struct kind_column replicaset_columns[] = { REPLICAS_COLUMNS };
const struct kind_column replicationcontroller_columns[] = { REPLICAS_COLUMNS };

const struct kind_column statefulset_columns[] = {
    NAME_COLUMN,
    COLUMN("Ready", "string", "Pods that are ready, of those wanted."),
    AGE_COLUMN,
    CONTAINERS_COLUMN(WIDE_COLUMN),
    IMAGES_COLUMN(WIDE_COLUMN),
};

const struct kind_column daemonset_columns[] = {
    NAME_COLUMN,
    COLUMN("Desired", "integer", "Nodes that should run a pod of it."),
    COLUMN("Current", "integer", "Nodes that should, and do."),
    COLUMN("Ready", "integer", "Nodes whose pod is ready."),
    COLUMN("Up-to-date", "integer", "Nodes whose pod is of the current template."),
    COLUMN("Available", "integer", "Nodes whose pod has been ready for long enough."),
    COLUMN("Node Selector", "string", "Labels of the nodes it is for."),
    AGE_COLUMN,
    CONTAINERS_COLUMN(WIDE_COLUMN),
    IMAGES_COLUMN(WIDE_COLUMN),
    WIDE_COLUMN("Selector", "string", "Which pods belong to it."),
};

const struct kind_column scale_columns[] = {
    COLUMN("Name", "string", "The name of the object that is scaled."),
    COLUMN("Desired", "integer", "Pods wanted."),
    COLUMN("Available", "integer", "Pods there are."),
    AGE_COLUMN,
};

const struct kind_column podtemplate_columns[] = {
    NAME_COLUMN,
    CONTAINERS_COLUMN(COLUMN),
    IMAGES_COLUMN(COLUMN),
    COLUMN("Pod Labels", "string", "Labels the pods get."),
};

const struct kind_column controllerrevision_columns[] = {
    NAME_COLUMN,
    COLUMN("Controller", "string", "What this is a revision of."),
    COLUMN("Revision", "string", "Number of the revision."),
    AGE_COLUMN,
};

static jv containers_of(jv obj)
{
    return jv_at(obj, "spec", "template", "spec", "containers");
}

static jv container_names(const struct kind_ctx *c, jv obj)
{
    return cell_joined(c, containers_of(obj), "name");
}

static jv container_images(const struct kind_ctx *c, jv obj)
{
    return cell_joined(c, containers_of(obj), "image");
}

jv deployment_cells(const struct kind_ctx *c, jv obj)
{
    jv status = jv_at(obj, "status");

    return jarr(c->a, cell_name(c, obj),
                cell_ratio(c, jv_int(jv_at(status, "readyReplicas"), 0),
                           jv_int(jv_at(obj, "spec", "replicas"), 0)),
                cell_int(c, jv_at(status, "updatedReplicas")),
                cell_int(c, jv_at(status, "availableReplicas")), cell_age(c, obj),
                container_names(c, obj), container_images(c, obj),
                cell_selector(c, jv_at(obj, "spec", "selector")));
}

static jv replicas_cells(const struct kind_ctx *c, jv obj, jv selector)
{
    jv status = jv_at(obj, "status");

    return jarr(c->a, cell_name(c, obj), cell_int(c, jv_at(obj, "spec", "replicas")),
                cell_int(c, jv_at(status, "replicas")), cell_int(c, jv_at(status, "readyReplicas")),
                cell_age(c, obj), container_names(c, obj), container_images(c, obj), selector);
}

jv replicaset_cells(const struct kind_ctx *c, jv obj)
{
    return replicas_cells(c, obj, cell_selector(c, jv_at(obj, "spec", "selector")));
}

jv replicationcontroller_cells(const struct kind_ctx *c, jv obj)
{
    return replicas_cells(c, obj, cell_labels(c, jv_at(obj, "spec", "selector")));
}

jv statefulset_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj),
                cell_ratio(c, jv_int(jv_at(obj, "status", "readyReplicas"), 0),
                           jv_int(jv_at(obj, "spec", "replicas"), 0)),
                cell_age(c, obj), container_names(c, obj), container_images(c, obj));
}

jv daemonset_cells(const struct kind_ctx *c, jv obj)
{
    jv status = jv_at(obj, "status");

    return jarr(c->a, cell_name(c, obj), cell_int(c, jv_at(status, "desiredNumberScheduled")),
                cell_int(c, jv_at(status, "currentNumberScheduled")),
                cell_int(c, jv_at(status, "numberReady")),
                cell_int(c, jv_at(status, "updatedNumberScheduled")),
                cell_int(c, jv_at(status, "numberAvailable")),
                cell_labels(c, jv_at(obj, "spec", "template", "spec", "nodeSelector")),
                cell_age(c, obj), container_names(c, obj), container_images(c, obj),
                cell_selector(c, jv_at(obj, "spec", "selector")));
}

jv podtemplate_cells(const struct kind_ctx *c, jv obj)
{
    jv template = jv_at(obj, "template");
    jv containers = jv_at(template, "spec", "containers");

    return jarr(c->a, cell_name(c, obj), cell_joined(c, containers, "name"),
                cell_joined(c, containers, "image"),
                cell_labels(c, jv_at(template, "metadata", "labels")));
}

/* "statefulset.apps/web" */
static jv controller(const struct kind_ctx *c, jv obj)
{
    JV_EACH (it, jv_at(obj, "metadata", "ownerReferences")) {
        if (!jv_bool(jv_at(it.value, "controller"), false))
            continue;
        AUTO(buf) struct buf b = { 0 };
        str version = jv_str(jv_at(it.value, "apiVersion"), S(""));
        buf_add(&b, jv_str(jv_at(it.value, "kind"), S("")));
        if (str_find(version, '/') > 0) {
            buf_addc(&b, '.');
            buf_add(&b, str_cut(&version, '/'));
        }
        lower(&b);
        buf_addc(&b, '/');
        buf_add(&b, jv_str(jv_at(it.value, "name"), S("")));
        return cell_take(c, &b);
    }
    return jstrz(c->a, "<none>");
}

jv controllerrevision_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj), controller(c, obj), cell_int(c, jv_at(obj, "revision")),
                cell_age(c, obj));
}

jv scale_cells(const struct kind_ctx *c, jv obj)
{
    return jarr(c->a, cell_name(c, obj), cell_int(c, jv_at(obj, "spec", "replicas")),
                cell_int(c, jv_at(obj, "status", "replicas")), cell_age(c, obj));
}
