/* Creating objects, by POST, PUT or server-side apply. */
#pragma once

#include "api/write.h"

struct update;

/* obj is decoded and of the right kind. applied: the server-side apply that found nothing there,
 * whose managedFields are done; it starts over if another write came first. */
void create_object(struct api_req *r, jv obj, struct update *applied);
