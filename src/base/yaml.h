/* YAML to JSON values and back, as kubectl and kube-apiserver read and write it (YAML 1.1 scalars,
 * sigs.k8s.io/yaml): yes and on are booleans, 0777 is octal, keys become text. On top of theirs:
 * duplicate keys are refused with both places, depth and alias expansion are limited. */
#pragma once

#include "base/json.h"

struct yaml_place {
    uint32_t line; /* from 1; 0: not known */
    uint32_t column;
};

struct yaml_opts {
    bool places; /* keep where each value stood, for yaml_where */
    /* Called for each duplicate key; the last value wins. NULL: duplicates are an error.
     * value_line: where Go's texts say it is. */
    void (*on_duplicate)(void *ctx, str key, struct yaml_place first, struct yaml_place again,
                         uint32_t value_line);
    void *ctx;
};

struct yaml_where;

struct yaml_doc {
    jv root;
    const struct yaml_where *where; /* NULL: places were not asked for */
};

struct yaml_docs {
    struct yaml_doc *at;
    size_t n;
};

/* All documents of the text; those that are empty or null are left out. JSON is fine too. Values
 * borrow nothing from text unless it is JSON, so text must live as long as a. opts may be NULL.
 * Errors read "file:line:column: what"; without a file they are in Go's words, "yaml: line 3:
 * what". */
int yaml_parse(struct arena *a, str file, str text, const struct yaml_opts *opts,
               struct yaml_docs *out, struct err *e);

/* Where a value stood that is part of the document (not a copy of it). */
bool yaml_where(const struct yaml_doc *d, jv node, struct yaml_place *out);
/* By field path, "spec.containers[0].name" or "metadata.labels[a.b/c]": the place of the key or
 * element, or of the innermost one that is there. */
bool yaml_where_path(const struct yaml_doc *d, str path, struct yaml_place *out);

/* Block style, keys sorted, long lines folded, as kubectl get -o yaml. Ends in a line feed. */
void yaml_print(struct buf *b, jv v);
/* The same value in a third of the space: indented by one, short values as JSON on their line. */
void yaml_print_compact(struct buf *b, jv v);
