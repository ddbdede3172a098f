/* What is wrong with manifests, told by line, column and field, without any server: YAML, fields
 * that the kind does not have, types, the rules of built-in kinds, of our jobs, and of custom kinds
 * whose definition is among what is read. Pure: files are the caller's. */
#pragma once

#include "base/yaml.h"

enum lint_level { LINT_ERROR, LINT_WARNING };

struct lint_finding {
    enum lint_level level;
    str file;
    size_t file_n;        /* in the order read, from 1 */
    struct yaml_place at; /* line 0: of the file as a whole */
    str object;           /* "TFJob/mnist"; empty: not known */
    str field;            /* "spec.replicas"; empty: the object as a whole */
    str text;
};

struct lint;

struct lint *lint_new(void);
void lint_free(struct lint *l);
static inline void lint_auto(struct lint **l)
{
    lint_free(*l);
}
/* Takes in one file. text must live until lint_free. */
void lint_read(struct lint *l, str file, str text);
/* Warns of objects that differ and have one kind and name: one would take the other's place. Before
 * lint_check; for who does not refuse them. */
void lint_namesakes(struct lint *l);
/* Looks at all that was read, now that all definitions are known. Once, after the last lint_read.
 * now_ms: what hooks take for the time. */
void lint_check(struct lint *l, int64_t now_ms);

/* By file in the order read, then by place. */
const struct lint_finding *lint_findings(const struct lint *l, size_t *n);
size_t lint_objects(const struct lint *l); /* how many were looked at */
/* The i-th as it was read, and where that was. */
jv lint_object(const struct lint *l, size_t i, str *file, struct yaml_place *at);
size_t lint_errors(const struct lint *l);
