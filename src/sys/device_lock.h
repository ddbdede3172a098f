/* Which GPUs are in use on this machine, by whatever server or user: whoever runs a program on one
 * holds a flock(2) on its device file, which the kernel ends with the process. Only who may open
 * the device, and so may use it anyway, can hold it. */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <sys/types.h>

bool device_lock_is_for(const char *name); /* "nvidia0": one that is used by one pod at a time */
/* The process that holds the device; 0: none that this one can see. Does not open it, so that no
 * driver starts anything. */
pid_t device_lock_holder(const char *path);
struct device_lock_seen {
    const char *path;
    pid_t holder;
    dev_t dev;
    ino_t ino; /* 0: it is not there */
};
/* Those of many, with one look at the machine's locks. */
void device_lock_holders(struct device_lock_seen *at, size_t n);
/* The descriptor that holds it, until each copy is closed; -1: another holds it. -2: it cannot be
 * opened or locked, so who asks cannot use it. */
int device_lock_take(const char *path, struct err *e);
