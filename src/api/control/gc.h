/* Garbage collection by ownerReferences. */
#pragma once

#include "api/request.h"

struct gc *gc_new(struct api *api);
void gc_free(struct gc *g);
/* Everything that is stored at start, once the registry is complete. */
void gc_load(struct gc *g, struct store_coll *c, const struct store_obj *o);
/* Then once more, now that all dependents are known. */
void gc_load_ending(struct gc *g, struct store_coll *c, const struct store_obj *o);
/* From the store, for every committed change. */
void gc_on_event(struct gc *g, struct store_coll *c, const struct store_event *ev);
