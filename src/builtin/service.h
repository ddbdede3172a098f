/* What service.c and service_check.c share. */
#pragma once

#include "builtin/check.h"

bool service_is(jv obj, const char *type);
bool service_is_headless(jv obj);
bool service_is_external(jv obj); /* may be reached from outside the cluster */
bool service_needs_health_check(jv obj);
/* Not unspecified, loopback or link-local: what endpoints and external IPs may be. */
void endpoint_ip_check(struct problems *ps, const struct path *p, str ip);
void load_balancer_status_check(struct problems *ps, const struct path *p, jv status);
