/* Plain SPDY/3.1, which clients ask for that carry streams and do not know WebSockets: kubectl
 * before 1.31, programs in Go. What is spoken over it is negotiated by a header. */
#pragma once

#include "api/request.h"

#define SPDY_NAME "SPDY/3.1"

/* True: the client asks for it, and offers this to be spoken. Else it is answered what it should
 * have asked for. Call it when the request is no WebSocket's. */
bool spdy_is_asked(struct api_req *r, str protocol);
struct ws *spdy_accept(struct http_req *r, str protocol, const struct ws_handler *h);
