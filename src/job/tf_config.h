/* TF_CONFIG: what each TensorFlow process is told about the others. */
#pragma once

#include "job/job.h"

/* Whether a job has more than one process to tell about. */
bool tf_is_distributed(const struct job *j);
/* Everything that the pods of a job share, made once a pass. */
const void *tf_config_prepare(const struct job *j);
/* The text for one pod, in a. */
str tf_config_text(struct arena *a, const struct job *j, const struct job_role *r, int64_t index);
