/* PyTorchJob's own parts. */
#pragma once

#include "job/kind.h"

struct pytorch_bounds { /* of elasticPolicy */
    int64_t min, max;
};
struct pytorch_bounds pytorch_bounds(const struct job *j);

/* pytorch_wait.c: a worker's pod spec with the container that waits until host can be found. */
jv pytorch_wait(struct arena *a, const struct job *j, const struct job_role *r, str host, jv spec);
/* Whether the template in the settings gives a list of containers; else it is not used. */
bool pytorch_template_is_sound(const struct plan_settings *s);

/* pytorch_hpa.c: the autoscaler. */
extern const struct planner_owned pytorch_owned[];
void pytorch_extras(struct job *j, struct plan *p, bool wanted);

/* pytorch_rules.c */
job_rule rule_elastic_worker; /* an elastic job has workers */
job_rule rule_one_processes;  /* processes a node are said in one place */
job_rule rule_processes;      /* a number of them is at least 1 */
job_rule rule_bounds;         /* min is not above max */
