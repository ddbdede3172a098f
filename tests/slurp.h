/* Whole files, for tests. */
#pragma once

#include "tap.h"

/* Empty where it cannot be read. */
__attribute__((unused)) static str slurp(struct arena *a, const char *path)
{
    AUTO(buf) struct buf b = { 0 };
    FILE *f = fopen(path, "re");

    for (size_t n = 1; f && n; b.n += n)
        n = fread(buf_room(&b, 65536), 1, 65536, f);
    if (f)
        fclose(f);
    return arena_str(a, buf_str(&b));
}

/* Without it there is no test. */
__attribute__((unused)) static struct jdoc *slurp_json(const char *path)
{
    AUTO(arena) struct arena *a = arena_new();
    struct err e = { 0 };
    struct jdoc *d = jdoc_parse(slurp(a, path), NULL, &e);

    if (!d) {
        printf("Bail out! %s: %s\n", path, e.msg);
        exit(1);
    }
    return d;
}
