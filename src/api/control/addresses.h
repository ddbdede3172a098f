/* Cluster addresses and node ports of services: each belongs to one service. */
#pragma once

#include "api/request.h"

struct addresses *addresses_new(struct api *api);
void addresses_free(struct addresses *d);
void addresses_load(struct addresses *d);
void addresses_on_event(struct addresses *d, struct store_coll *c, const struct store_event *ev);
/* A service with what it asks for: given, or checked and taken. Other kinds as they are. Problems
 * for addresses that are taken or out of range. */
jv addresses_take(struct addresses *d, struct arena *a, const struct resource *res, jv obj, jv old,
                  struct problems *ps);
/* Gives back what addresses_take gave to an object that was not stored after all. */
void addresses_release(struct addresses *d, const struct resource *res, jv obj);
