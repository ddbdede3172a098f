/* Bodies: to an object of the right kind. */
#pragma once

#include "api/body.h"

/* A value into the shape of the resource of r: unknown fields told to s and dropped, types checked.
 * Absent and e on failure. Beside the loop where it is large. */
jv request_decode(struct api_req *r, struct arena *a, jv v, struct strict *s, struct err *e);
/* A body parsed and decoded, with kind and version checked and fieldValidation obeyed. 0, or -1 and
 * answered. */
int body_object(struct api_req *r, const struct resource *res, jv *out);
/* Another type than the resource's own, such as Binding or Scale. */
int body_typed(struct api_req *r, str kind, str group, str version, const struct schema *schema,
               jv *out);
