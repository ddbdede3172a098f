/* Tables: the columns that `kubectl get` shows and the cells under them, as kube-apiserver prints
 * them. For each kind here there are KIND_columns and KIND_cells, in the files cells_*.c. Kinds
 * that are not here have the default table. */
#pragma once

#include "builtin/kind.h"

#define CELLS_TABLE(X)          \
    X(configmap, 3)             \
    X(controllerrevision, 4)    \
    X(cronjob, 10)              \
    X(csidriver, 8)             \
    X(csinode, 3)               \
    X(daemonset, 11)            \
    X(deployment, 8)            \
    X(deviceclass, 2)           \
    X(endpoints, 3)             \
    X(endpointslice, 5)         \
    X(event, 10)                \
    X(hpa, 7)                   \
    X(ingress, 6)               \
    X(ingressclass, 4)          \
    X(ipaddress, 2)             \
    X(job, 8)                   \
    X(lease, 3)                 \
    X(namespace, 3)             \
    X(networkpolicy, 3)         \
    X(node, 10)                 \
    X(nodemetrics, 4)           \
    X(persistentvolume, 11)     \
    X(persistentvolumeclaim, 9) \
    X(pod, 9)                   \
    X(poddisruptionbudget, 5)   \
    X(podmetrics, 4)            \
    X(podtemplate, 4)           \
    X(policy, 4)                \
    X(policybinding, 4)         \
    X(priorityclass, 5)         \
    X(replicaset, 8)            \
    X(replicationcontroller, 8) \
    X(resourceclaim, 3)         \
    X(resourcequota, 4)         \
    X(resourceslice, 5)         \
    X(rolebinding, 6)           \
    X(runtimeclass, 3)          \
    X(scale, 4)                 \
    X(secret, 4)                \
    X(service, 7)               \
    X(serviceaccount, 3)        \
    X(servicecidr, 3)           \
    X(statefulset, 5)           \
    X(storageclass, 6)          \
    X(volumeattachment, 6)      \
    X(volumeattributesclass, 3) \
    X(webhooks, 3)

#define X(one, n)                                     \
    extern const struct kind_column one##_columns[n]; \
    jv one##_cells(const struct kind_ctx *c, jv obj);
CELLS_TABLE(X)
#undef X

/* The same columns filled from another version of the type. */
jv event_new_cells(const struct kind_ctx *c, jv obj); /* events.k8s.io */
jv hpa_v1_cells(const struct kind_ctx *c, jv obj);    /* autoscaling/v1 */

jv pod_row_conditions(const struct kind_ctx *c, jv obj);

/* For rows of kinds.c. */
#define TABLE_AS(one, hook) \
    .columns = one##_columns, .n_columns = COUNT(one##_columns), .cells = (hook)
#define TABLE(one) TABLE_AS(one, one##_cells)
