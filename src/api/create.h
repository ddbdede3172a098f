/* Creating objects, by POST, PUT or server-side apply. */
#pragma once

#include "api/write.h"

/* obj is decoded and of the right kind; managedFields are done already if is_apply. */
void create_object(struct api_req *r, jv obj, bool is_apply);
