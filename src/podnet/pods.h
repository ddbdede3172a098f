/* The pods of a hub: each has a network namespace, a pair of veths and an address. Used by the
 * hub's process, in its namespaces. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "podnet/link.h"
#include "podnet/subnet.h"

enum { NET_SPARES = 4 };

struct net_pod {
    char *uid; /* NULL: a spare */
    uint32_t ip;
    int ns; /* of its namespace; -1: one that runs already, and was joined again */
};

struct net_pods {
    struct map at; /* by uid */
    struct net_pool pool;
    struct net_link link;
    int home; /* our network namespace */
    struct net_pod *spares[NET_SPARES];
    size_t nspares;
    struct {
        VEC(uint32_t);
    } kept; /* for pods that are to be mended */
};

int net_pods_init(struct net_pods *p, uint32_t base, struct err *e);
void net_pods_keep(struct net_pods *p, uint32_t ip); /* for net_pods_mend alone */
/* Makes one place ahead of its pod: for when there is nothing else to do. */
int net_pods_spare(struct net_pods *p, struct err *e);
/* Its place; made when it has none. NULL: e says why. */
const struct net_pod *net_pods_attach(struct net_pods *p, str uid, struct err *e);
/* One that runs, but whose hub has died: gets its address back, in the namespace of its process.
 * ip: the one it had. */
const struct net_pod *net_pods_mend(struct net_pods *p, str uid, uint32_t ip, int ns,
                                    struct err *e);
/* A socket of that namespace; -1: errno says why. */
int net_pods_socket(const struct net_pods *p, int ns, int family, int type);
void net_pods_detach(struct net_pods *p, str uid); /* one that is not there is fine */
