/* The files that operands name: files, directories of manifests, standard input. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct files {
    struct arena *a;
    struct file_named {
        const char *path; /* NULL: standard input */
        str shown;
    } * at;
    size_t n;
    size_t cap;
};

/* Of a directory: all *.yaml, *.yml and *.json below it, sorted; none is an error. */
int files_add(struct files *f, const char *operand, struct err *e);
int files_read(const struct files *f, size_t i, str *out, struct err *e);
