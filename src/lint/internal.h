/* What the files of this room share; not for other rooms. */
#pragma once

#include "base/vec.h"
#include "crd/crd.h"
#include "job/kinds.h"
#include "kube/problem.h"
#include "lint/lint.h"

/* One object of a file: a document, or an item of a List. */
struct lint_object {
    str file;
    size_t file_n;
    const struct yaml_doc *doc;
    uint32_t line_offset; /* of the piece of the file that doc was read from */
    str prefix;           /* "items[2].", or empty */
    jv v;
};

struct lint {
    struct arena *a;
    int64_t now_ms;
    struct {
        VEC(struct lint_object);
    } objects;
    struct {
        VEC(struct lint_finding);
    } findings;
    struct {
        VEC(struct crd *);
    } crds;               /* found in the files */
    struct crd *jobs[16]; /* of our kinds, by their row; made at first use */
    size_t n_files;
    size_t errors;
};

void finding_add(struct lint *l, const struct lint_object *o, enum lint_level level, str field,
                 str text);

/* shape.c: fields that s does not have and values of the wrong type, all of them. Returns v without
 * the latter. typed false: types are somebody else's to judge, but for those of metadata. */
struct shape_check {
    struct arena *a;
    struct problems *wrong;
    void (*on_unknown)(void *ctx, str field, str text);
    void *ctx;
};
jv shape_check(const struct shape_check *c, const struct schema *s, jv v, bool typed);

/* object.c: everything about one object. */
void object_check(struct lint *l, const struct lint_object *o);
/* Whether it is a definition; then it is compiled for the others, if it can be. */
void object_define(struct lint *l, const struct lint_object *o);
