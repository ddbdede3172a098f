/* The files that `muster init` writes: src/cli/init, made into C when the program is built. */
#pragma once

#include "base/str.h"

struct init_file {
    const char *name; /* "pytorch.yaml"; NULL ends the table */
    str text;
};

extern const struct init_file init_files[];
