/* The records on the leaf pages of tables, whatever state the tree above them is in. */
#pragma once

#include "base/buf.h"
#include "store/pages.h"

enum { CELL_COLUMNS = 8 };

struct cell_value {
    char type; /* 'n' null, 'i' integer, 't' text, 'b' blob */
    int64_t number;
    str bytes;
};

struct cell {
    int64_t id;
    int n; /* columns; 0: the record makes no sense */
    struct cell_value at[CELL_COLUMNS];
};

/* Calls fn for each record of page no that can be made out; c is valid during the call. */
void cells_read(const struct pages *p, uint32_t no, void (*fn)(void *ctx, const struct cell *c),
                void *ctx);
