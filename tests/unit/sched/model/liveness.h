/* No state from which a gang that could start never does. */
#pragma once

#include "model.h"

size_t starving_worlds(void);
/* True if there is one, or a rule was broken; said: which, or how many states there are. */
bool someone_starves(size_t world, enum fault fault, char *said, size_t n_said);
