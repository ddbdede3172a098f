/* muster up: the server, all rooms together. */
#pragma once

#include "cli/command.h"

extern const struct command command_up;
