/* What the caller allocates for a Service: it owns the ranges, these functions say where numbers
 * are needed and put them in. */
#pragma once

#include "kube/problem.h"

/* A ClusterIP is to be found (""), or the one that the user chose is to be reserved. None for
 * headless and ExternalName services. */
bool service_needs_cluster_ip(jv obj);
str service_chosen_cluster_ip(jv obj); /* "" when any will do or none is needed */
jv service_with_cluster_ip(struct arena *a, jv obj, str ip);
/* What a refused choice is told. kube-apiserver's reasons: `the provided IP (1.2.3.4) is not in the
 * valid range. The range of valid IPs is 10.0.0.0/24`, `provided IP is already allocated`. */
void service_bad_cluster_ip(struct problems *ps, jv obj, const char *why);

/* The index of the next port, from on, that needs a number on every node; -1: none. */
int64_t service_next_node_port(jv obj, size_t from);
jv service_with_node_port(struct arena *a, jv obj, size_t index, int64_t port);
/* For `type: LoadBalancer` with externalTrafficPolicy Local. */
bool service_needs_health_port(jv obj);
jv service_with_health_port(struct arena *a, jv obj, int64_t port);
