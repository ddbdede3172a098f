/* A small library that goes into every program of a pod where pods share the machine's network: it
 * gives each pod its own address of 127.0.0.0/8 for wildcard and localhost, its host name, and
 * the cluster's names. Plain C and libc only; no locks, no memory kept, safe in any thread.
 * Programs that make their system calls themselves (static ones, Go) never meet it. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { PRE_FOUND_MAX = 256, PRE_NAME_MAX = 256 };

struct pre_self { /* what the node says of the pod, in the environment */
    bool is;      /* there is a pod: otherwise all calls are passed on */
    struct in_addr ip;
    char hostname[PRE_NAME_MAX];
    char fqdn[PRE_NAME_MAX]; /* empty: none */
    char hosts[4096];        /* the file of names; empty: none */
    char services[4096];     /* that of ClusterIPs; empty: none */
    uint16_t proxies[8];     /* ports of the machine's own proxies on localhost */
    size_t nproxies;
};

/* What is below is for the files of the library, not for programs. */
#pragma GCC visibility push(hidden)

const struct pre_self *pre_self(void);

/* The function that ours stands before. */
void *pre_next(void **cache, const char *name);
/* NULL: this C library has none. */
void *pre_next_if_any(void **cache, const char *name);
#define NEXT(name) ((__typeof__(&(name)))pre_next(&next_##name, #name))
/* Looked up before the program starts: it may call from where nothing may be looked up. */
#define PRE_START __attribute__((constructor)) static void start(void)

struct pre_found {
    struct in_addr at[PRE_FOUND_MAX];
    size_t n;
    char name[PRE_NAME_MAX]; /* its longest one */
};

/* By name, of the pod itself and of the cluster. False: not one of those. */
bool pre_find_name(const char *name, struct pre_found *out);
bool pre_find_addr(struct in_addr ip, char *name, size_t size);
/* Not known to the cluster, and no use to ask anybody else, who might take seconds to answer: names
 * of the cluster's own domain, and those without a dot that the machine's hosts file does not have
 * and that no domain is searched for. */
bool pre_is_nobodys(const char *name);
/* Addresses of this cluster's pods and services. */
bool pre_is_cluster_addr(struct in_addr ip);

/* Whether pre_route has anything to say about it. */
bool pre_is_routed(struct in_addr ip);
enum pre_route { PRE_PASS, PRE_CHANGED, PRE_REFUSED };
/* Where what is meant for this address goes: localhost to the pod, a ClusterIP to a pod of its
 * service. proto: IPPROTO_TCP or IPPROTO_UDP. */
enum pre_route pre_route(int proto, struct in_addr *ip, in_port_t *port);

#pragma GCC visibility pop
