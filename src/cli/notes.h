/* Sentences about replicas: what several replicas have in common is printed once, with their
 * names. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

struct replica_note {
    str name, text;
};

/* "  master-0, worker-0: needs 2 nvidia.com/gpu": one line for each text, in the order of the first
 * replica that has it, and at most `most` lines. */
void notes_print(struct arena *a, struct buf *b, const struct replica_note *notes, size_t n,
                 size_t most);
