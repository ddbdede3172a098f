/* A command's options as a table: read by getopt's rules (anywhere on the line, until --), printed
 * as help, and told to shells for completion. */
#pragma once

#include "base/arena.h"
#include "cli/command.h"

#include <stddef.h>

enum opt_type {
    OPT_FLAG,     /* bool */
    OPT_TEXT,     /* const char * */
    OPT_LIST,     /* const char *: given again, joined by commas */
    OPT_EACH,     /* struct opt_words: given again, one more */
    OPT_INT,      /* int64_t, not negative */
    OPT_DURATION, /* int64_t, ms: "90s", "2m"; a bare number is seconds */
};

struct opt_words {
    const char **at;
    size_t n;
};

struct opt {
    const char *name; /* NULL ends a table */
    char letter;      /* 0: none */
    enum opt_type type;
    size_t at;       /* offset of its field in what is filled */
    const char *arg; /* for people: "FILE"; NULL: takes none */
    const char *help;
    const char *values; /* "json|yaml": none but these; NULL: any */
};

/* Fills the fields of what was given. -1: go on, *rest and *n are the operands; else an exit code,
 * and all was said. */
int options_read(const struct command *c, int argc, char **argv, void *to, char ***rest, int *n);
str options_help(struct arena *a, const struct command *c);
/* Where the words after `--` begin: an index of argv; argc if there is no `--`. */
int options_command(const struct command *c, int argc, char **argv);
