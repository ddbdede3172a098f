/* CustomResourceDefinitions come alive here: accepted, served, and taken away with their objects.
 */
#pragma once

#include "api/request.h"

struct crds *crds_new(struct api *api);
void crds_free(struct crds *c);
void crds_load(struct crds *c); /* what is stored at start */
/* From the store, for every committed change. */
void crds_on_event(struct crds *c, struct store_coll *coll, const struct store_event *ev);
/* Whether objects of r's kind may be created; if not, it has been answered. */
bool crds_admit(struct api_req *r, str name);
/* A CRD with the status it gets: its names taken if they are free, and served. */
jv crds_accepted(struct crds *c, struct arena *a, jv crd);
/* A CRD as deleting it leaves it: kept by a finalizer until its objects are gone. */
jv crd_marked_for_deletion(struct arena *a, jv crd, int64_t now_ms);
