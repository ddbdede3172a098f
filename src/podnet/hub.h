/* `muster hub DATA FD [--with-node]`: holds the network of a node's pods. Two processes: the outer
 * one stays on the machine's side (uplink, outside names) and clears away; the inner one is in the
 * hub's namespaces and serves DATA/hub/ctl. FD is the connection of the node that starts it. Both
 * go when nobody is connected and no pod is left; with --with-node, with the first connection. */
#pragma once

#include "podnet/egress.h"
#include "podnet/pods.h"

int net_hub_main(int argc, char **argv); /* argv[0] is "hub" */

/* What the outer process tells the inner one, once. */
struct net_hub_facts {
    uint32_t base; /* of the pods' network */
    struct net_egress egress;
};

struct net_hub {
    const char *data; /* absolute */
    int datafd;
    int listen;
    int first;
    int outer; /* the facts come from here; its end is ours */
    int home;  /* the machine's network namespace */
    bool with_node;
    bool is_user; /* in a user namespace of ours */
};

/* The inner process; never returns. */
__attribute__((noreturn)) void net_hub_serve(struct net_hub *h);

/* The process that holds a pod, from its state on disk; -1: it does not live. ip (may be NULL): its
 * address, or 0. */
int64_t net_hub_pod_pid(int datafd, str uid, uint32_t *ip);
