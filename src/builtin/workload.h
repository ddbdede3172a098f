/* What the kinds that make pods from a template share. */
#pragma once

#include "builtin/hooks.h"
#include "builtin/pod.h"

/* spec.selector of Deployments and their kin: required, not empty, matching the template.
 * what: "deployment", as the message names the kind. */
void selector_check(struct problems *ps, const struct path *spec_at, jv spec, const char *what);
bool selector_is_empty(jv selector);             /* {}: selects everything; null is not empty */
jv selector_shown(struct arena *a, jv selector); /* with its labels in order */
void selector_is_fixed(struct problems *ps, jv obj, jv old);
void selector_matches_check(struct problems *ps, const struct path *template_at, jv selector,
                            jv tmpl);
/* Pods that run for ever: restartPolicy Always, no deadline. what: "ReplicaSet". */
void endless_template_check(struct problems *ps, const struct path *p, jv tmpl, const char *what);
void int_or_percent_check(struct problems *ps, const struct path *p, jv v);
void at_most_100_percent(struct problems *ps, const struct path *p, jv v);
int64_t int_or_percent(jv v); /* the number of either */
/* status.* that must not be negative; fields ends with NULL. */
void counts_check(struct problems *ps, const struct path *p, jv status, const char *const *fields);
/* Not more than status.replicas, nor available more than ready. ready_name as the text has it. */
void replicas_check(struct problems *ps, const struct path *p, jv status, const char *const *parts,
                    const char *ready_name);
void collisions_check(struct problems *ps, const struct path *p, jv status, jv before);
jv strategy_shown(struct arena *a, jv strategy); /* with the Go names of its fields */
jv sorted_map(struct arena *a, jv map);          /* as Go prints maps; absent: null */
