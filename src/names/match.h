/* Which pods are behind which services of a namespace, in time proportional to both. PURE. */
#pragma once

#include "names/names.h"

struct names_end { /* one address behind a service */
    str ip;
    str hostname; /* of its own below the service's name; empty: none */
    jv pod;       /* absent: from Endpoints */
    jv ports;     /* of Endpoints and EndpointSlices: [{name, port, protocol}] */
};

struct names_service {
    jv service;
    struct {
        VEC(struct names_end);
    } ends;
    struct names_service *next; /* by the same pair of its selector */
};

struct names_services {
    struct names_service *at;
    size_t n;
};

/* The port of an end that a port of its service leads to; 0: none. */
int64_t names_target(const struct names_end *end, jv port);
bool names_selects(jv service, jv labels);
/* Ready ones only, unless the service publishes all. */
void names_match(struct arena *a, const struct names_world *w, struct names_services *out);
void names_services_done(struct names_services *s);
