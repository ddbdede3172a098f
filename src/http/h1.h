/* The way out of HTTP/1.1. */
#pragma once

#include "http/internal.h"

/* Consumes r: its connection speaks another protocol from the next turn on, which starts with what
 * the client sent after the request. state is then next->end()'s to free. */
void h1_upgrade(struct http_req *r, const struct proto *next, void *state);
