/* muster validate. */
#pragma once

#include "cli/command.h"

extern const struct command command_validate;
