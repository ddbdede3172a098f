/* The scale subresource of workloads. */
#pragma once

#include "kube/problem.h"

void scale_check(struct problems *ps, jv scale); /* autoscaling/v1 Scale; metadata apart */
