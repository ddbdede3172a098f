/* Watches: a place in the store's history each, pulled by the client. */
#pragma once

#include "api/request.h"

void watches_stop(struct api *api); /* ends them all */
