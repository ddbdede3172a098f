/* What all commands share. */

#include "cli/command.h"

#include <stdarg.h>
#include <stdio.h>

int command_fail(int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fputs("muster: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    return code;
}

int command_usage(const struct command *c)
{
    fprintf(stderr, "Try 'muster %s --help'.\n", c->name);
    return EXIT_USAGE;
}
