/* Whole trees of files, as pods leave them. */
#pragma once

#include <stdint.h>

/* name, in the directory, and everything in it; follows no links. As far as it can be. */
void warden_tree_remove(int dir, const char *name);
/* What it takes on the disk, as far as it can be seen; 0: there is none. */
int64_t warden_tree_bytes(const char *path);
