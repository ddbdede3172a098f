/* The life of namespaces: what may be made in them, and their end. */
#pragma once

#include "api/request.h"

struct namespaces *namespaces_new(struct api *api);
void namespaces_free(struct namespaces *n);
/* Whether objects may be created in r->ns; if not, it has been answered. */
bool namespaces_admit(struct api_req *r, str name);
/* A namespace as deleting it leaves it: Terminating, until spec.finalizers is empty. */
jv namespace_marked_for_deletion(struct arena *a, jv ns, int64_t now_ms);
bool namespace_is_held(jv ns);
void namespaces_load(struct namespaces *n); /* goes on with those that were ending */
/* From the store, for every committed change. */
void namespaces_on_event(struct namespaces *n, struct store_coll *c, const struct store_event *ev);
