/* ClusterIPs: connections to a service's address go to one of its ready pods, by rules of nftables
 * in the hub. Pure. */
#pragma once

#include "base/buf.h"
#include "base/json.h"

#define NET_SERVICES "10.96.0.0" /* services' addresses, a /16 */
#define NET_API      "10.96.0.1" /* the service `kubernetes`: the hub itself, where the API listens */

/* list: as pod_network.services is given it. Empty: there is nothing to be set. */
void net_services_rules(struct buf *b, jv list);
