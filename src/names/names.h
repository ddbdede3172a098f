/* What names stand for in the cluster, PURE: services and pods in, lines of hosts files out. A line
 * is "ADDRESS LONGEST … SHORTEST": its last name is the one that only the namespace's own pods
 * know, so that dropping it gives the line for all others. */
#pragma once

#include "base/json.h"
#include "base/vec.h"

struct names_pod { /* one that has not ended */
    jv pod;
    str ip;      /* empty: none yet */
    bool ready;  /* and not on its way out */
    bool hidden; /* its host name is not for others to see: it has a file of its own for it */
};

struct names_world { /* of one namespace */
    str ns;
    jv services;  /* lists; others' are passed over */
    jv endpoints; /* Endpoints and EndpointSlices, of services without selector */
    jv slices;
    const struct names_pod *pods;
    size_t n;
    bool cluster_ips; /* they can be reached: names stand for them rather than for the pods */
    str api_ip;       /* behind kubernetes.default; empty: nobody knows */
    int64_t api_port;
};

struct names_lines {
    VEC(str);
};

/* Sorted, each once, without newline; texts live in a, out is the caller's to vec_done. */
void names_lines(struct arena *a, const struct names_world *w, struct names_lines *out);
/* The line as other namespaces see it; empty: not at all. */
str names_line_abroad(str line);
/* Of services with a ClusterIP: [{namespace, name, ip, ports: [{protocol, port, to: [{ip,
 * port}]}]}]; to is what is ready. */
jv names_routes(struct arena *a, const struct names_world *w);

/* Host name of a pod, as in its UTS namespace, and with its domain (empty: it has none). */
str names_hostname(jv pod);
str names_fqdn(struct arena *a, jv pod);
/* "ADDRESS [FQDN] HOSTNAME" */
str names_own_line(struct arena *a, jv pod, str ip);
/* The line by which a pod that is ready knows itself. service: that of its host name, if there is
 * one; empty: that stands for something else. */
str names_first_line(struct arena *a, jv pod, str ip, jv service);
/* Readiness by more than the start of its containers: a probe, a gate. */
bool names_is_probed(jv pod);

/* resolv.c: what a pod's resolv.conf holds. base: the node's own; cut loopback out of it
 * unless the pod shares the machine's network. */
str names_resolv(struct arena *a, jv pod, str base, bool loopback);
/* The node's own, with the cluster's server and domains instead: for pods that want those, which
 * names_resolv_is_cluster says. */
str names_resolv_cluster(struct arena *a, str base, str ns, str server);
bool names_resolv_is_cluster(jv pod);
