/* What all commands share. */

#include "cli/command.h"

#include <errno.h>
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

void command_note(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
}

int command_usage(const struct command *c)
{
    fprintf(stderr, "Try 'muster %s --help'.\n", c->name);
    return EXIT_USAGE;
}

int command_print(str text)
{
    if (fwrite(text.p ? text.p : "", 1, text.n, stdout) == text.n && fflush(stdout) == 0)
        return 0;
    if (errno != EPIPE) /* the reader has had enough */
        command_fail(EXIT_FAILED, "cannot write: %m");
    return -1;
}
