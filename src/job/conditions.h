/* status.conditions of a job: the list of what it has been through, in order. */
#pragma once

#include "job/job.h"

bool condition_is_true(const struct job *j, const char *type);
jv condition_find(const struct job *j, const char *type);
/* Sets one by the common rules: Failed=True freezes the list; what is there with equal status and
 * reason stays as it is; else it goes to the end. Reason: the kind's name and suffix. */
void condition_set(struct job *j, const char *type, bool holds, const char *suffix, str message);
void condition_drop(struct job *j, const char *type);
/* Puts Created first if it is missing; true: it was. */
bool condition_created(struct job *j);
str condition_created_text(const struct job *j); /* what it says then */
void condition_created_say(struct job *j, str message);
