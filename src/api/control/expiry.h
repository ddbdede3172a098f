/* Events are kept for an hour after they were last written. */
#pragma once

#include "api/request.h"

struct expiry *expiry_new(struct api *api, int64_t ttl_ms);
void expiry_free(struct expiry *x);
void expiry_load(struct expiry *x);
void expiry_on_event(struct expiry *x, struct store_coll *c, const struct store_event *ev);
