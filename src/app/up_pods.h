/* What the API asks of whoever runs pods, answered by the node of this process. */
#pragma once

#include "api/api.h"
#include "node/node.h"

struct up_pods;

struct up_pods *up_pods_new(void);
void up_pods_free(struct up_pods *u);
void up_pods_describe(struct up_pods *u, struct api_opts *o); /* before api_new */
/* NULL: there is none (any more), and the API says so. */
void up_pods_set_node(struct up_pods *u, struct node *n);
