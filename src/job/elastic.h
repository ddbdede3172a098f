/* The types of elasticPolicy. */
#pragma once

#include "kube/schema.h"

extern const struct schema paddle_elastic, pytorch_elastic;
