/* metrics.k8s.io: what pods and nodes use, asked of whatever runs them and never stored. */
#pragma once

#include "api/request.h"

void usage_run(struct api_req *r); /* get and list */
