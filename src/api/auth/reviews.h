/* Reviews: questions about who may do what, answered and not stored. */
#pragma once

#include "api/request.h"

void review_run(struct api_req *r, jv review);
