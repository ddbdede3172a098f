/* What the scheduler of one machine is told of jobs: how many of their pods start together. */
#pragma once

#include "binder/binder.h"

struct binder_gangs up_gangs_of_jobs(struct arena *a); /* its array lives in a */
