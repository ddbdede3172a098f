/* Names of container images: [REGISTRY[:PORT]/]PATH[:TAG][@DIGEST]. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/* As Docker shows it: without docker.io/ and library/. Borrows name. */
str image_name_short(str name);
str image_name_bare(str name);     /* without tag and digest; borrows name */
bool image_name_is_bare(str name); /* it has neither */
/* It has only characters of names: no spaces, and no characters of patterns except the brackets of
 * an IPv6 address at the start. */
bool image_name_is_valid(str name);
