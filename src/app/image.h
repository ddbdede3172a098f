/* muster image: what images mean on this machine. */
#pragma once

#include "cli/command.h"

extern const struct command command_image;
