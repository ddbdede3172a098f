/* MPIJob's own parts. */
#pragma once

#include "job/kind.h"

bool mpi_uses_gpu(const struct job *j); /* the launcher does, so it is one of the hosts */
str mpi_launcher_name(struct arena *a, const struct job *j);
str mpi_config_name(struct arena *a, const struct job *j);
str mpi_account_name(struct arena *a, const struct job *j);
str mpi_worker_name(struct arena *a, const struct job *j, int64_t index);

/* How the launcher's remote shell reaches the workers. */
enum mpi_agent {
    AGENT_IMAGE, /* muster, put there by an init container of its own image */
    AGENT_HERE,  /* muster on the machine that pods share with us */
    AGENT_KUBECTL,
};
enum mpi_agent mpi_agent(const struct job *j);
const struct plan_settings *mpi_settings(const struct job *j); /* never NULL */

/* mpi_pods.c */
jv mpi_pod_spec(struct arena *a, const struct job *j, const struct job_role *r, int64_t index,
                jv spec);

/* mpi_config.c: the ConfigMap with the hosts and the remote shell. */
extern const struct kube_resource kube_configmaps;
void mpi_plan_config(struct job *j, struct plan *p);

/* mpi_access.c: what lets the launcher reach its workers, and no others. */
extern const struct planner_owned mpi_owned[];
extern const struct planner_grant mpi_grants[];
void mpi_extras(struct job *j, struct plan *p, bool wanted);

/* mpi_rules.c */
job_rule rule_mpi;      /* the original's checks, in its words */
job_rule rule_mpi_name; /* fits a label */
