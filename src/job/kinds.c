/* The table of kinds, in the order they are shown. Alone in this file, so that a test can link one
 * of its own. */

#include "job/kinds.h"

extern const struct job_kind jax_job, mpi_job, paddle_job, pytorch_job, tf_job, xgboost_job;

const struct job_kind *const job_kinds[] = {
    &tf_job, &pytorch_job, &xgboost_job, &mpi_job, &paddle_job, &jax_job, NULL,
};
