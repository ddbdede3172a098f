/* What a cluster's DNS knows of one namespace, worked out from the same world as hosts files. PURE.
 * https://github.com/kubernetes/dns/blob/master/docs/specification.md */
#pragma once

#include "base/map.h"
#include "names/dns_packet.h"
#include "names/names.h"

struct dns_zone;

struct dns_zone *dns_zone_new(const struct names_world *w);
void dns_zone_free(struct dns_zone *z);

/* The namespace that a name of the cluster is of; empty: it can be of none. The name is in lower
 * case. */
str dns_namespace(str name);
bool dns_is_cluster(str name); /* ends in cluster.local, so that nobody else is to be asked */

/* Adds what is known of q's name. false: no such name. turn: which address comes first. */
bool dns_zone_answer(const struct dns_zone *z, const struct dns_question *q, unsigned turn,
                     struct dns_answer *out);
/* The name of an address; NULL: it has none here. */
const char *dns_zone_reverse(const struct dns_zone *z, uint32_t ip);
