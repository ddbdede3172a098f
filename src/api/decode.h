/* Bodies: bytes to an object of the right kind. */
#pragma once

#include "api/request.h"

/* What a strict reading of a body has to say, in order. */
struct strict {
    struct arena *a;
    struct strict_note {
        size_t place; /* in the text; 0 for unknown fields, which come first */
        str text;
    } * at;
    size_t n;
};

void strict_add(struct strict *s, size_t place, str text);

/* The body as a value, JSON or YAML by its Content-Type. 0, or -1 and answered. kind: what was
 * expected, for the message. */
int body_parse(struct api_req *r, str kind, struct strict *s, jv *out);
/* A value into the shape of res: unknown fields told to s and dropped, types checked. Absent and e
 * on failure. */
jv object_decode(struct arena *a, const struct resource *res, jv v, struct strict *s,
                 struct err *e);
/* Both, with kind and version checked and fieldValidation obeyed. 0, or -1 and answered. */
int body_object(struct api_req *r, const struct resource *res, jv *out);
/* Another type than the resource's own, such as Binding or Scale. */
int body_typed(struct api_req *r, str kind, str group, str version, const struct schema *schema,
               jv *out);
/* Warnings for Warn, the text of the refusal for Strict (empty: fine). */
str strict_outcome(struct api_req *r, const struct strict *s);
