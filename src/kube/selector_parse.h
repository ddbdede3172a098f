/* Shared by the two files of label selectors; nobody else needs it. */
#pragma once

#include "kube/selector.h"

/* Checks r->key and the values and takes them (sorting them). */
int requirement_init(struct arena *a, struct requirement *r, str *values, size_t n, str *why);
/* Sorts at. */
struct selector selector_of(struct arena *a, struct requirement *at, size_t n);
