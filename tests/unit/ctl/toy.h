/* The smallest kind of job: spec.replicas pods and services, restarted when they fail, done when
 * all have succeeded; status.ready counts the running. */
#pragma once

#include "plan/planner.h"

extern const struct kube_resource toy_res;
extern const struct planner toy_planner;
