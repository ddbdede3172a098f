/* Environment that kinds give their pods: a list that grows, then put into containers. */
#pragma once

#include "job/job.h"

enum { MANY_VARS = 24 };

struct env {
    struct arena *a;
    jv vars[MANY_VARS];
    size_t n;
};

void env_add(struct env *e, const char *name, str value);
void env_int(struct env *e, const char *name, int64_t value);
/* From the pod itself, by the downward API: "status.podIP". */
void env_field(struct env *e, const char *name, const char *field_path);
/* The pod spec with them in every container but init containers, after what the user wrote. */
jv env_into_all(const struct env *e, jv spec);
bool env_has(jv container, const char *name); /* the user wrote it */
