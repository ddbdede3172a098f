/* What is there from the start. */
#pragma once

#include "api/request.h"

/* done as for api_new. */
void basics_make(struct api *api, void (*done)(void *ctx, const struct err *e), void *ctx);
