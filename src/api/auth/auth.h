/* Who is asking. */
#pragma once

#include "api/request.h"

/* Fills r->user from the client certificate or the bearer token; false: nobody we know. */
bool auth_who(struct api_req *r);
/* A page of another site must not reach us through the user's browser (DNS rebinding): requests
 * that a browser makes have to name an address of this machine as their host. */
bool auth_origin_is_ours(const struct http_req *h);
