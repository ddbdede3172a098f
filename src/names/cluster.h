/* The names of the cluster, kept as services and pods change: hosts files of pods, and at level
 * namespaces a DNS server that they ask. The node tells what happens to its pods, and is asked for
 * what there is. On the loop thread. All functions take NULL for a node without names. */
#pragma once

#include "loop/loop.h"
#include "names/names.h"
#include "podnet/network.h"

struct names;
struct names_seat;

enum names_kind { NAMES_SERVICES, NAMES_ENDPOINTS, NAMES_SLICES };

/* Where names come from. */
struct names_source {
    bool (*is_listed)(void *ctx); /* all that the others give is known */
    jv (*list)(void *ctx, struct arena *a, enum names_kind what, str ns);
    /* Those of the namespace that have not ended; *n: how many. */
    struct names_pod *(*pods)(void *ctx, struct arena *a, str ns, size_t *n);
    void *ctx;
};

struct names_opts { /* borrowed as long as the names are kept */
    struct loop *loop;
    str data;    /* the directory */
    bool shared; /* pods share the machine's network: they get addresses of their own here */
    jv known;    /* uids of pods that may still run */
    const struct pod_network *net; /* NULL: the machine's own */
    str api_ip;                    /* behind kubernetes.default; empty: nobody knows */
    int64_t api_port;
    struct names_source from;
};

/* What is remembered of a pod, in the node's own record of it; starts as { 0 }. */
struct names_member {
    struct names_seat *seat; /* NULL: it knows no names */
    bool ready, leaving;     /* as names were worked out from last */
    char ip[48];
};

/* A pod as it is now. */
struct names_about {
    jv pod;
    const char *dir; /* its own */
    str ip;          /* empty: none yet */
    bool ended;
    bool ready;
    bool leaving;
};

struct names *names_new(const struct names_opts *o);
void names_start(struct names *k);
void names_free(struct names *k);

/* What pods must do without here, for the node's conditions; NULL: nothing. */
const char *names_limits(const struct names *k);

/* net: as the network made it, and more of it; mounts: /etc/hosts and its like are added. Where
 * pods share the machine's network it gives them their address, too. */
int names_attach(struct names *k, struct names_member *m, const struct names_about *p,
                 struct arena *a, jv *net, jv *mounts, struct err *e);
/* Members of the sandbox besides; left alone: none. */
void names_box(struct names *k, const struct names_member *m, jv pod, struct arena *a, jv *preload,
               jv *env);
/* It ran before us, and has that address. */
void names_adopt(struct names *k, struct names_member *m, const struct names_about *p, str ip);
void names_detach(struct names *k, struct names_member *m);
/* Its host name is not for others to see: it has a file of its own for it, or none. */
bool names_is_hidden(const struct names *k, const struct names_member *m);

void names_listed(struct names *k);          /* something is known from now on */
void names_changed(struct names *k, str ns); /* a service, a label */
/* Its state may have changed. */
void names_look(struct names *k, struct names_member *m, const struct names_about *p);
void names_lost(struct names *k, struct names_member *m, str ns); /* it is about to be freed */
/* A container starts; the pod knows itself from now on. service: that of its host name, or absent.
 */
void names_starting(struct names *k, struct names_member *m, const struct names_about *p,
                    jv service);
