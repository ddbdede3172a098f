/* muster image: what images mean on this machine. */
#pragma once

#include "base/err.h"
#include "cli/command.h"

extern const struct command command_image;

/* Puts this program, with its libraries, into the directory agent beside the images.yaml of a data
 * directory, for images that have a root of their own; does nothing where it is there already. */
int image_agent_install(const char *dir, struct err *e);
