/* Whole trees of files, as pods leave them. */
#pragma once

/* name, in the directory, and everything in it; follows no links. As far as it can be. */
void warden_tree_remove(int dir, const char *name);
