/* What a job must be like, in the original's words. Checked at admission where the server can, and
 * by the planner for whatever got past it. */
#pragma once

#include "kube/problem.h"

struct job_kind;

/* old absent: a new job. Else only what changed is checked, so that what was stored before a rule
 * existed can still be edited. */
void job_validate(const struct job_kind *kind, struct problems *ps, jv obj, jv old);

/* A warning for whoever writes such a job, with the field in front; empty: none. */
str job_advise(struct arena *a, const struct job_kind *kind, jv obj);

/* What a rule looks at. */
struct check {
    const struct job_kind *kind;
    struct problems *ps;
    jv obj, old;
    jv spec, policy, map; /* of obj */
    jv old_spec, old_policy, old_map;
    const str *keys; /* of map, ascending, null values left out */
    size_t n_keys;
    struct path spec_path, map_path, policy_path;
};
typedef void job_rule(struct check *c);
/* Whether a member is to be looked at: always in a new job, else if it changed. */
bool check_is_new(const struct check *c, jv now, jv before);
/* That a member, if it is there, is of this type. Behind a schema nothing else ever comes; whoever
 * has none is told, too. */
void check_value_type(struct check *c, const struct path *at, jv v, enum jv_type want);

job_rule rule_name;            /* a DNS-1035 label */
job_rule rule_managed_by_kept; /* immutable */
job_rule rule_managed_by;      /* one of the two known */
job_rule rule_map;             /* some replica type */
job_rule rule_types;           /* none but the kind's */
job_rule rule_containers;      /* each type has some, with images, and the main one */
job_rule rule_counts;          /* as many replicas as the kind's types must have */
job_rule rule_needed;          /* the types every job has */
/* validate_common.c: what no kind may leave out. */
void check_common(struct check *c);
