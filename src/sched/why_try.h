/* Tries a change on sched_decide. Shared by why_help.c and why_try.c. */
#pragma once

#include "sched/internal.h"
#include "sched/why_help.h"

/* Whether all of ours get a node after the steps. Memory of the trial is given back. */
bool why_try(const struct why_scene *scene, const struct help_step *steps, size_t n);
bool why_is_ours(const struct why_scene *scene, const struct sched_pod *pod); /* same owner */
