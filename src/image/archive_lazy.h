/* Loads libarchive. To be called before any of its functions. */
#pragma once

#include "base/err.h"

#include <stdbool.h>

int archive_lazy_load(struct err *e);
