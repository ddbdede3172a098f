/* What a request asks for: its method, path and query, read once. Authorisation, routing, metrics
 * and handlers go by this alone, so that what is allowed is what is done. The reading is that of
 * kube-apiserver (RequestInfo). Pure. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct query_pair {
    str key, value; /* decoded */
    bool again;     /* the key came before; of most options the first value counts */
};

struct target {
    str path; /* decoded */
    const str *parts;
    size_t n_parts;
    const struct query_pair *query;
    size_t n_query;
    str verb;         /* "get", "list", "watch" ...; of other paths the method in lower case */
    bool on_resource; /* the rest is about that */
    str group, version;
    str ns; /* of namespaces/NS itself too */
    bool in_namespace;
    str resource, name, sub;
    size_t n_rest; /* parts after sub */
    str selected;  /* the only name that the field selector of a list or watch allows */
};

/* -1: path or query are malformed, as e says. Borrows from path and query. */
int target_read(struct arena *a, str method, str path, str query, struct target *out,
                struct err *e);
/* The first value of an option; STR_NONE: it is not there. */
str target_option(const struct target *t, const char *key);
