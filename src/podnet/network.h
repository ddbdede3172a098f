/* The network of pods as an interface: what the node asks of whoever connects its pods. */
#pragma once

#include "base/err.h"
#include "base/json.h"

enum { DNS_PORT = 53 };

/* Addresses of pods, and what they need to find each other. NULL: the machine's own network. */
struct pod_network {
    /* net: for the sandbox ({ip, ns, …}); mounts: of each container, [{from, to, ro}]. Done before
     * it returns. */
    int (*attach)(void *ctx, struct arena *a, jv pod, jv *net, jv *mounts, struct err *e);
    void (*detach)(void *ctx, str uid);
    /* After a restart: a pod that has been running, with what attach made of net. May be NULL. */
    void (*adopt)(void *ctx, str uid, jv net);
    /* All services with a ClusterIP, whenever one or what is ready behind it changes: [{namespace,
     * name, ip, ports: [{protocol, port, to: [{ip, port}]}]}]. NULL: the network cannot reach
     * ClusterIPs, and names stand for pods instead. */
    void (*services)(void *ctx, jv list);
    /* Where pods ask for names: a server of ours, on a UDP socket and a TCP one that are bound
     * there, not blocking, the caller's; -1: e says why. NULL: there is no such place. */
    const char *dns;
    int (*dns_socket)(void *ctx, bool udp, struct err *e);
    /* fn(arg) when sockets have to be had again; NULL: not any more. */
    void (*on_again)(void *ctx, void (*fn)(void *arg), void *arg);
    bool outside;       /* pods reach it */
    const char *resolv; /* text of resolv.conf for pods; NULL: the machine's */
    /* A TCP socket that reaches pods: not blocking, the caller's; -1: e says why. May be NULL. */
    int (*socket)(void *ctx, struct err *e);
    /* One of the pod's own namespace, IPv4 or IPv6; likewise. */
    int (*socket_in)(void *ctx, str uid, bool six, struct err *e);
    void *ctx;
};
