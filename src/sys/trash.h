/* Trees that nobody needs any more: renamed into one directory at once, removed in a thread of the
 * pool. What a process that died left in the directory goes when the next one starts. */
#pragma once

#include "loop/loop.h"

struct tree_trash;

/* dir: made when needed, on the file system of what is put there; removed when empty. */
struct tree_trash *tree_trash_new(struct loop *l, const char *dir);
/* What was put there has two more seconds to go; what is left then stays for the next process. */
void tree_trash_free(struct tree_trash *t); /* NULL is fine */
/* On the loop thread, and does not block. A path that does not exist is fine; one that cannot be
 * renamed is removed where it is. What cannot be removed is logged. */
void tree_trash_put(struct tree_trash *t, const char *path);
