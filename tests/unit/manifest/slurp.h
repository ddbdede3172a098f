/* Whole files, for tests. */
#pragma once

#include "tap.h"

static str slurp(struct arena *a, const char *path)
{
    struct buf b = { 0 };
    FILE *f = fopen(path, "r");

    for (size_t n = 1; f && n;) {
        n = fread(buf_room(&b, 65536), 1, 65536, f);
        b.n += n;
    }
    if (f)
        fclose(f);
    str out = arena_str(a, buf_str(&b));
    buf_done(&b);
    return out;
}
