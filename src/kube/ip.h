/* IP addresses and CIDRs as Kubernetes reads them: loosely where fields are old (leading zeros,
 * IPv4 in IPv6), canonically where they are new. */
#pragma once

#include "kube/problem.h"

struct ip {
    uint8_t bytes[16];  /* IPv4: the last four, after ::ffff */
    bool is4;           /* IPv4, also when written as ::ffff:1.2.3.4 */
    bool mapped;        /* was written as ::ffff:1.2.3.4 */
    bool leading_zeros; /* "010.0.0.1" */
};

bool ip_parse(str s, struct ip *out);
str ip_text(struct arena *a, const struct ip *ip); /* RFC 5952 */
bool ip_is_loopback(const struct ip *ip);
bool ip_is_unspecified(const struct ip *ip);
bool ip_is_link_local(const struct ip *ip);
bool ip_is_link_local_multicast(const struct ip *ip);

struct cidr {
    struct ip ip; /* as written, not masked */
    int bits;     /* of the prefix */
};
bool cidr_parse(str s, struct cidr *out);
str cidr_text(struct arena *a, const struct cidr *c); /* masked */
bool cidr_contains(const struct cidr *outer, const struct cidr *inner);

void ip_check(struct problems *ps, const struct path *p, str s);        /* new fields: canonical */
void ip_check_legacy(struct problems *ps, const struct path *p, str s); /* old fields: sloppy */
void cidr_check_legacy(struct problems *ps, const struct path *p, str s);
