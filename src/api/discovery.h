/* What there is to ask for: /api, /apis, groups, versions, resources. */
#pragma once

#include "api/request.h"

/* Answers and says so; false: not a path of discovery. parts: the path, split. */
bool discovery_handle(struct api_req *r, const str *parts, size_t n);
