/* Which objects a request is about: namespace, name, label and field selectors. */
#pragma once

#include "api/request.h"

struct selection {
    const struct resource *res;
    str prefix; /* of keys: "ns/" or empty */
    str name;   /* exact name, from metadata.name= or the path; empty: any */
    const struct selector *labels;
    const struct field_selector *fields;
    bool needs_object; /* the key alone does not decide */
};

/* 0, or -1 with 400 answered: a field that cannot be selected by. */
int selection_of(struct api_req *r, struct selection *out);
bool selection_has_key(const struct selection *s, str key);
bool selection_has(const struct selection *s, str key, jv obj);
/* By stored bytes; parses only when it must. */
bool selection_has_stored(const struct selection *s, str key, const struct value *stored);
