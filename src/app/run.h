/* muster run: files in, a job's result out. */
#pragma once

#include "cli/command.h"

extern const struct command command_run;
