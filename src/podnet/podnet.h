/* The network of level namespaces, as the node sees it: every pod has an address of its own, held
 * by the hub (hub.h). On the loop thread; a thread of its own waits for the hub's answers. */
#pragma once

#include "loop/loop.h"
#include "podnet/network.h"

struct net;

struct net_opts {
    struct loop *loop;
    const char *data; /* the data directory: DATA/hub is ours */
    const char *exe;  /* run as `EXE hub ...`; NULL: this program */
    bool ephemeral;   /* the hub ends with us, however we end */
    /* The hub had died and another is there: what was made with net_socket has to be made again.
     * May be NULL. */
    void (*again)(void *ctx);
    void *ctx;
};

/* Finds the hub that runs for the data directory, or starts one, and does not wait for it. Texts of
 * o stay. */
int net_new(struct net **out, const struct net_opts *o, struct err *e);
int net_wait(struct net *n, struct err *e); /* before anything else but net_free */
/* The hub goes, and is waited for, when no pod is attached; otherwise it stays for the next one. A
 * hub that does not answer is left alone after ten seconds. */
void net_free(struct net *n);

const struct pod_network *net_pod_network(struct net *n); /* for node_opts; lives as long as n */
const char *net_gateway(const struct net *n); /* the hub's own address, as pods see it */
bool net_has_egress(const struct net *n);
bool net_has_services(const struct net *n); /* ClusterIPs can be reached */
const char *net_words(const struct net *n); /* how pods reach the outside, or why they do not */

/* A TCP socket, not blocking, of the hub's namespace: to connect to pods. */
struct net_ask *net_socket(struct net *n, struct net_then then);
enum { NET_API_PORT = 443 };
/* One that listens where pods look for the API: at the address of the service `kubernetes`. */
struct net_ask *net_listen(struct net *n, struct net_then then);
void net_cancel(struct net_ask *q); /* done is not called; NULL is fine */
