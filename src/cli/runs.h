/* Runs of `muster run`, going on and over: what their summaries say of them. */
#pragma once

#include "base/json.h"
#include "cli/data.h"

struct run_info {
    struct data_run run;
    str state; /* "Running", "Succeeded", ...; "Killed": it ended without a word; "-": unknown */
    int64_t began_ms;
    int64_t ms; /* how long it ran; -1: unknown */
    str directory;
    jv args; /* of its command line */
    jv jobs; /* [{kind, namespace, name}] */
    jv summary;
};

/* Of the usual data directory, or the one given; the latest first. */
int runs_list(struct arena *a, const char *data, int64_t now_ms, struct run_info **out, size_t *n,
              struct err *e);
/* The run of that name. ERR_NOT_FOUND: there is none. */
int runs_find(struct arena *a, const char *data, const char *name, struct run_info *out,
              struct err *e);
