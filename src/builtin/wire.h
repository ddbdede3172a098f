/* How the built-in types are numbered in protobuf. */
#pragma once

#include "kube/protobuf.h"

extern const struct wire builtin_wire;
