/* The network of pods as an interface: what the node asks of whoever connects its pods. */
#pragma once

#include "base/err.h"
#include "base/json.h"

enum { DNS_PORT = 53 };

struct net_ask; /* a question to the network that is not answered yet */

/* Who gets the answer, on the loop thread and never from within the call that asks. ok absent: e
 * says why; fd: taken by done, -1: none. */
struct net_then {
    void (*done)(void *arg, jv ok, int fd, const struct err *e);
    void *arg;
};

/* Addresses of pods, and what they need to find each other. NULL: the machine's own network. No
 * call waits for the network. */
struct pod_network {
    /* The answer is for the sandbox: {ip, ns, …}. */
    struct net_ask *(*attach)(void *ctx, jv pod, struct net_then then);
    void (*detach)(void *ctx, str uid);
    void (*cancel)(struct net_ask *q); /* done is not called; NULL is fine */
    /* After a restart: a pod that has been running, with what attach made of net. May be NULL. */
    void (*adopt)(void *ctx, str uid, jv net);
    /* All services with a ClusterIP, whenever one or what is ready behind it changes: [{namespace,
     * name, ip, ports: [{protocol, port, to: [{ip, port}]}]}]. NULL: the network cannot reach
     * ClusterIPs, and names stand for pods instead. */
    void (*services)(void *ctx, jv list);
    /* Where pods ask for names: a server of ours, on a UDP socket and a TCP one that are bound
     * there, not blocking. NULL: there is no such place. */
    const char *dns;
    struct net_ask *(*dns_socket)(void *ctx, bool udp, struct net_then then);
    /* fn(arg) when sockets have to be had again; NULL: not any more. */
    void (*on_again)(void *ctx, void (*fn)(void *arg), void *arg);
    bool outside;       /* pods reach it */
    const char *resolv; /* text of resolv.conf for pods; NULL: the machine's */
    /* A TCP socket that reaches pods, not blocking. May be NULL. */
    struct net_ask *(*socket)(void *ctx, struct net_then then);
    /* One of the pod's own namespace, IPv4 or IPv6; likewise. */
    struct net_ask *(*socket_in)(void *ctx, str uid, bool six, struct net_then then);
    void *ctx;
};
