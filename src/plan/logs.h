/* Where the logs of a replica are, and what is written there about them; for the node that writes
 * them and whoever reads them later. PURE. */
#pragma once

#include "base/json.h"

/* "NAMESPACE/JOB/worker-0" below DATA/logs, from a pod's labels; of a pod that is no job's,
 * "NAMESPACE/POD/POD". */
str logs_place(struct arena *a, jv pod);
bool logs_is_main(jv pod, str container);
/* "3.log"; of other containers than the pod's main one, "3.CONTAINER.log". */
str logs_name(struct arena *a, jv pod, str container, int64_t attempt);
/* The number in such a name, if it is of that container (of the main one: empty); -1: it is not.
 * Rotated ones count too: "3.log.1". */
int64_t logs_attempt(str name, str container);

/* A line of the file LOGS_INDEX in each replica's directory: one a run of a container. */
#define LOGS_INDEX "index"
struct logs_run {
    int64_t attempt;
    str container;
    bool is_main;
    str pod_uid;
    int64_t run;   /* of this pod's container: its restart count */
    str owner_uid; /* the pod's controller; "-": none */
    int64_t start_ms;
};
void logs_run_print(struct buf *b, const struct logs_run *r); /* with its newline */
bool logs_run_read(str line, struct logs_run *out);           /* without; false: it is not one */
