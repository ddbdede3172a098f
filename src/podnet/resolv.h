/* Which resolv.conf serves pods. Pure, but for net_resolv_text. */
#pragma once

#include "base/buf.h"

/* From the machine's: what a pod can reach, that is, no nameserver on loopback. How many
 * nameservers are left. */
size_t net_resolv_filter(struct buf *b, str text);
/* /etc/resolv.conf; where it names a resolver of this machine only, the one that systemd keeps for
 * such cases, as kubelet takes it. False: no nameserver can be reached. */
bool net_resolv_text(struct buf *b);
