/* What pods that share the machine's network are given instead of one of their own: an address,
 * and the preload library that keeps them to it. */
#pragma once

#include "base/err.h"
#include "base/json.h"

struct names_shared;

/* data: the directory; known: uids of pods that may still run. */
struct names_shared *names_shared_new(str data, jv known);
void names_shared_free(struct names_shared *s);

int names_shared_attach(struct names_shared *s, struct arena *a, jv *net, struct err *e);
void names_shared_adopt(struct names_shared *s, str ip);
void names_shared_detach(struct names_shared *s, str ip);

/* The preload library; NULL: there is none. */
const char *names_shared_lib(const struct names_shared *s);
/* What it goes by: ["NAME=value"] for all containers. */
jv names_shared_env(const struct names_shared *s, struct arena *a, jv pod, str ip, str hosts);
/* What is behind ClusterIPs; see pod_network.services. */
int names_shared_routes(struct names_shared *s, jv routes, struct err *e);
