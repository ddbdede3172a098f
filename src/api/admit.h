/* Rules that need to look at other objects, or at who asks. */
#pragma once

#include "api/request.h"

/* 0, or -1 and answered. */
int admit_create(struct api_req *r, jv *obj);
int admit_delete(struct api_req *r, jv obj);
