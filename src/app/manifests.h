/* muster manifests: what a cluster needs to know of us, printed. */
#pragma once

#include "cli/command.h"

extern const struct command command_manifests;
