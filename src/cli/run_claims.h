/* Claims of runs: directories that stay when the run is over, DATA/claims/RUN/CLAIM. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

struct run_claim {
    const char *name; /* CLAIM, or CLAIM@NAMESPACE */
    const char *path;
    int64_t bytes;
};

/* What a run has in its directory of claims, by name. */
size_t run_claims_list(struct arena *a, const char *dir, struct run_claim **out);
/* Moves the claim that the latest earlier run of the same job left into run's directory. 1: done;
 * 0: none left one; -1: it is in use, or cannot be moved. */
int run_claims_reuse(struct arena *a, const char *data, const char *run, const char *claim,
                     struct err *e);
/* [{name, path, bytes}] */
jv run_claims_json(struct arena *a, const struct run_claim *at, size_t n);
/* "1.5 MiB". */
str run_claims_size(struct arena *a, int64_t bytes);
