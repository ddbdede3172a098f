/* Everything that is not a resource: health, version, discovery, OpenAPI, metrics. */
#pragma once

#include "api/request.h"

/* Answers; false: there is no such path. */
bool paths_handle(struct api_req *r);
