/* Commands: a name, a line of help, and what runs. */
#pragma once

#include "base/str.h"

#include <stdbool.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_TIMEOUT = 124, EXIT_INTERRUPTED = 130 };

struct opt; /* cli/options.h */

/* What a shell may offer for a command's operands. */
enum operands {
    OPERANDS_NONE,
    OPERANDS_FILES,
    OPERANDS_JOBS,
    OPERANDS_RESOURCES,
    OPERANDS_SHELLS,
    OPERANDS_KINDS
};

struct command {
    const char *name;
    const char *summary;
    const char *help;          /* all of --help, but for the table of options */
    const struct opt *options; /* ends with an empty one; NULL: --help has them all */
    enum operands operands;
    int (*run)(const struct command *c, int argc, char **argv); /* argv[0] is the command's name */
};

extern const struct command command_delete, command_describe, command_down, command_events,
    command_exec, command_get, command_init, command_logs, command_ps, command_rerun, command_top;

/* "muster: ..." on stderr; returns code. */
int command_fail(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "..." alone, on stderr: nothing is wrong. */
void command_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* After getopt said '?': points to --help. */
int command_usage(const struct command *c);
/* To stdout, all of it and now; -1: that failed, and was said. */
int command_print(str text);
/* Likewise, with colours where color says so. */
int command_print_colored(str text, bool color);
void command_complain(str text); /* to stderr */
