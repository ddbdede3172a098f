/* Names of container images: [REGISTRY[:PORT]/]PATH[:TAG][@DIGEST]. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/* As Docker shows it: without docker.io/ and library/. Borrows name. */
str image_name_short(str name);
str image_name_bare(str name);     /* without tag and digest; borrows name */
bool image_name_is_bare(str name); /* it has neither */
/* Nothing but what names are made of: no spaces, and no characters of patterns. */
bool image_name_is_valid(str name);
