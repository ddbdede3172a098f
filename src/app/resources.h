/* muster resources: what nodes have, and what a running node is told to offer. */
#pragma once

#include "cli/session.h"

extern const struct command command_resources;

/* ---- resources_print.c */

/* nodes: an array; pods: an array of all of them, or absent: not known. */
str resources_table(struct arena *a, jv nodes, jv pods);
jv resources_json(struct arena *a, jv nodes, jv pods);
/* A line for each resource of which more is in use than there is. */
str resources_excess(struct arena *a, jv node, jv pods);
jv resources_declared(struct arena *a, jv node); /* {name: amount} */
