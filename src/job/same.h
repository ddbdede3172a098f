/* Comparing what is wanted with what a server has made of it. */
#pragma once

#include "base/json.h"

/* Whether all that is wanted is there; the server may have added, and written amounts its way. */
bool json_has(jv there, jv wanted);
