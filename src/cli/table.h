/* Columns as kubectl prints them: as wide as their widest cell, three spaces apart. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

enum { TABLE_COLUMNS = 24 };

struct table {
    struct arena *a;
    size_t columns;
    bool headed; /* the head was printed */
    bool bare;   /* print none */
    unsigned indent;
    size_t widths[TABLE_COLUMNS]; /* so far; they never shrink */
    str head[TABLE_COLUMNS];
    const str **rows; /* that are yet to be printed */
    size_t n;
    size_t cap;
};

/* names: "NAME|STATE|AGE" */
void table_init(struct table *t, struct arena *a, const char *names);
void table_column(struct table *t, str name); /* one more */
/* As many cells as there are columns; copied. Control characters become spaces: what comes from a
 * cluster is not to move our terminal's cursor. */
void table_add(struct table *t, const str *cells);
void table_print(struct table *t, struct buf *b); /* and forgets the rows */
/* How many columns of a terminal it takes, more or less. */
size_t text_width(str s);
/* s without control characters. */
str text_plain(struct arena *a, str s);
