/* Bodies: bytes to a value, by their Content-Type. */
#pragma once

#include "api/request.h"
#include "base/yaml.h"
#include "kube/protobuf.h"

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
/* Warnings for Warn, the text of the refusal for Strict (empty: fine). */
str strict_outcome(struct api_req *r, const struct strict *s);

/* What a body should be. */
struct body_type {
    str kind;
    str api_version;             /* empty: any */
    const struct schema *schema; /* NULL: of a custom resource, which has no protobuf form */
};

enum body_form { BODY_JSON, BODY_YAML, BODY_PROTOBUF, BODY_UNKNOWN };

enum body_form body_form(const struct api_req *r);
/* False, and answered: a body in a form of text that is not UTF-8. */
bool body_is_text(struct api_req *r);
void body_refuse_form(struct api_req *r, bool custom); /* answers 415 */
/* The body as a value. 0, or -1 and answered. */
int body_parse(struct api_req *r, const struct body_type *t, struct strict *s, jv *out);
/* Parses it as JSON or YAML, beside the loop where it is large. */
jv body_json(struct api_req *r, const struct json_opts *opts, struct err *e);
int body_yaml(struct api_req *r, const struct yaml_opts *opts, struct yaml_docs *docs,
              struct err *e);
/* As a JSON client would have sent it; of another type than t only kind and apiVersion. Absent and
 * e on failure. */
jv body_from_protobuf(struct arena *a, const struct body_type *t, const struct protobuf_body *body,
                      struct err *e);
/* Answers 400 with what was expected, why it is not, and how the body begins. */
void body_unrecognized(struct api_req *r, str kind, const char *before, const char *why);
