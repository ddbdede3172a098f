/* What is there from the start, and stays. */
#pragma once

#include "api/request.h"

/* done as for api_new. */
void basics_make(struct api *api, void (*done)(void *ctx, const struct err *e), void *ctx);
/* What is to be there always is made again. */
void basics_on_event(struct api *api, const struct store_coll *c, const struct store_event *ev);
void basics_stop(struct api *api);
