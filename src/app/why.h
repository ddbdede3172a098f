/* muster why: why a job, a pod or a PodGroup waits, and what would help. */
#pragma once

#include "cli/command.h"

extern const struct command command_why;
