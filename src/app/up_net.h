/* The pods' network inside `muster up`, at level namespaces: the hub, and the API as pods reach it.
 */
#pragma once

#include "api/api.h"
#include "node/node.h"

/* Of the node, as of now. */
jv up_condition(struct arena *a, const char *type, bool is, const char *reason, str message);

struct up_net;

/* At once, and does not wait. ephemeral: the hub goes with this process, however it ends. NULL:
 * there can be none, which was said. */
struct up_net *up_net_begin(struct loop *l, const char *dir, bool ephemeral);
/* Waits for it; the server of api is reached by pods from now on. *conditions (in a) are the node's
 * and say how things are. false: there is none, which was said. */
bool up_net_ready(struct up_net *u, struct arena *a, struct api *api, jv *conditions);
const struct pod_network *up_net_node(struct up_net *u); /* NULL of NULL */
void up_net_free(struct up_net *u);                      /* after the node */
