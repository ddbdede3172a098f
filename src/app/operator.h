/* muster operator: the controller over HTTP, against any cluster. */
#pragma once

#include "cli/command.h"

extern const struct command command_operator;
