/* Addresses of pods that share the machine's network: 127.N.0.0/16 is this cluster's, N reserved on
 * the machine for as long as it runs, so that clusters beside each other keep apart. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

struct names_addrs;

struct names_addrs *names_addrs_new(str data); /* N is the same each time, if it is free; the
 first address is any */
void names_addrs_free(struct names_addrs *s);
/* A free one, that has not been used for as long as possible; empty: there is none. */
str names_addrs_take(struct names_addrs *s, struct arena *a);
void names_addrs_mark(struct names_addrs *s, str ip); /* in use; another's: nothing */
void names_addrs_give(struct names_addrs *s, str ip);
