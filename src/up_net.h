/* The pods' network inside `muster up`, at level namespaces: the hub, and the API as pods reach it.
 */
#pragma once

#include "api/api.h"
#include "node/node.h"

struct up_net;

/* ephemeral: the hub goes with this process, however it ends. NULL: there can be none, which was
 * said; *conditions (of the node) says it, too. Both live in a, but for the network. */
struct up_net *up_net_new(struct arena *a, struct loop *l, struct api *api, const char *dir,
                          bool ephemeral, jv *conditions);
const struct node_net *up_net_node(struct up_net *u); /* NULL of NULL */
void up_net_free(struct up_net *u);                   /* after the node */
