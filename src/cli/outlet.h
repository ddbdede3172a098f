/* Where words go: a thread of its own writes them, so that a reader who takes their time does not
 * hold up the loop. What waits is bounded: beyond that, the writer waits too. */
#pragma once

#include "base/str.h"

struct outlet;

struct outlet *outlet_new(void);
/* Copied. After others put before, whatever their descriptor. */
void outlet_put(struct outlet *o, int fd, str bytes);
bool outlet_is_broken(struct outlet *o, int fd); /* 1 or 2: nobody reads it any more */
void outlet_free(struct outlet *o);              /* when all of it is written; NULL is fine */
