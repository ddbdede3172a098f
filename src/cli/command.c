/* What all commands share. */

#include "cli/command.h"

#include "base/terminal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* Whatever is printed goes through here: to a terminal without control characters, to all else as
 * it is. */
static bool print(FILE *to, str text, bool color)
{
    AUTO(buf) struct buf b = { 0 };

    if (isatty(fileno(to))) {
        terminal_text(&b, text, color);
        text = buf_str(&b);
    }
    return fwrite(text.p ? text.p : "", 1, text.n, to) == text.n && fflush(to) == 0;
}

int command_fail(int code, const char *fmt, ...)
{
    AUTO(buf) struct buf b = { 0 };
    va_list ap;

    buf_add(&b, S("muster: "));
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    buf_addc(&b, '\n');
    print(stderr, buf_str(&b), false);
    return code;
}

void command_note(const char *fmt, ...)
{
    AUTO(buf) struct buf b = { 0 };
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    buf_addc(&b, '\n');
    print(stderr, buf_str(&b), false);
}

int command_usage(const struct command *c)
{
    fprintf(stderr, "Try 'muster %s --help'.\n", c->name);
    return EXIT_USAGE;
}

void command_complain(str text)
{
    print(stderr, text, false);
}

int command_print(str text)
{
    return command_print_colored(text, false);
}

int command_print_colored(str text, bool color)
{
    if (print(stdout, text, color))
        return 0;
    if (errno != EPIPE) /* the reader has had enough */
        command_fail(EXIT_FAILED, "cannot write: %m");
    return -1;
}
