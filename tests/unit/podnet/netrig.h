/* Pods of a rig with a network: each has a place in the hub. The test program is the hub, too. */
#pragma once

#include "podnet/podnet.h"
#include "podnet/subnet.h"
#include "rig.h"

enum { NETRIG_PORT = 23456 };

struct place {
    struct rig_pod *pod;
    struct net *net;
    char ip[NET_IP_TEXT];
    char uid[40];
};

/* What the hub answers: netrig_answered is for net_then, netrig_answer turns the loop until then.
 */
struct netrig_answer {
    struct arena *a; /* of ok */
    bool is_here;
    jv ok;
    int fd;
    struct err e;
};
void netrig_answered(void *arg, jv ok, int fd, const struct err *e);
jv netrig_answer(struct netrig_answer *got);

/* As rig_main; "hub ..." becomes one and exits. */
void netrig_main(int argc, char **argv, struct rig *r);
struct net *netrig_open(struct rig *r, void (*again)(void *ctx), void *ctx);
bool netrig_attach(struct arena *a, struct net *net, int n, struct place *p, jv *how);
struct place netrig_begin(struct rig *r, struct arena *a, struct net *net, int n);
void netrig_finish(struct place *p);
bool netrig_says(struct rig *r, const struct place *p, const char *text); /* soon */
/* Listens on every address of its own, answers each who comes with its name. */
void netrig_serve(struct place *p, const char *name);
/* Connects, again until it can, and prints "NAME heard ..."; name: of the container. */
void netrig_ask(struct place *p, const char *name, const char *ip, int port);
/* From here, through a socket of the hub's. */
bool netrig_hears(struct net *net, const char *ip, const char *text);
/* Processes of the hub of this rig: kills them with signo (0: none), and counts. */
int netrig_hubs(const struct rig *r, int signo);
bool netrig_no_hubs(const struct rig *r); /* soon */
