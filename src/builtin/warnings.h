/* What a request is told beside its answer: fields that are deprecated, ignored or odd. Pure. */
#pragma once

#include "kube/problem.h"

struct warnings {
    struct arena *a; /* holds all texts */
    str *at;
    size_t n;
    size_t cap;
};

/* Each text once. */
void warning_add(struct warnings *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "spec.nodeSelector[x]: text" */
void warning_at(struct warnings *w, const struct path *p, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- parts that kinds share */

void ip_warn(struct warnings *w, const struct path *p, str ip);
void cidr_warn(struct warnings *w, const struct path *p, str cidr);
const char *node_label_deprecated(str key); /* why, or NULL */
void node_selector_term_warn(struct warnings *w, const struct path *p, jv term, bool check_values);
/* p: of the spec. */
void claim_spec_warn(struct warnings *w, const struct path *p, jv spec);
/* A list of resources whose bytes are no whole number. */
void fraction_warn(struct warnings *w, const struct path *p, jv list, str name);
/* p: what holds metadata and spec; NULL: the pod itself. */
void pod_template_warn(struct warnings *w, const struct path *p, jv tmpl);
/* Files of its volumes that fall on one another. */
void volume_paths_warn(struct warnings *w, jv volumes);
