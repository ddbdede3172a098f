/* Numbers for Prometheus. */
#pragma once

#include "api/request.h"

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);
void metrics_request(const struct api_req *r, int code); /* when its answer begins */
void metrics_print(struct api *api, struct buf *out);
