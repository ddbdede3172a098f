/* Keeps the hosts files of pods as services and pods change. Of the node; on the loop thread. All
 * take NULL for a node without names. */
#pragma once

#include "base/err.h"
#include "base/json.h"

struct node;
struct pod;
struct names;

struct names *names_new(struct node *n); /* NULL: the node has none */
void names_start(struct names *k);
void names_free(struct names *k);

/* What pods must do without here, for the node's conditions; NULL: nothing. */
const char *names_limits(const struct names *k);

/* net: as the network made it, and more of it; mounts: /etc/hosts and its like are added. Where
 * pods share the machine's network it gives them their address, too. */
int names_attach(struct names *k, struct pod *p, struct arena *a, jv *net, jv *mounts,
                 struct err *e);
/* Members of the sandbox besides; left alone: none. */
void names_box(struct names *k, struct pod *p, struct arena *a, jv *preload, jv *env);
void names_adopt(struct names *k, struct pod *p, jv sandbox); /* it ran before us */
void names_detach(struct names *k, struct pod *p);

void names_listed(struct names *k);                  /* pods or services */
void names_changed(struct names *k, str ns);         /* a service, a label */
void names_look(struct names *k, struct pod *p);     /* its state may have changed */
void names_lost(struct names *k, struct pod *p);     /* it is about to be freed */
void names_starting(struct names *k, struct pod *p); /* a container; it knows itself from now on */
