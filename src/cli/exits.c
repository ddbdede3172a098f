/* See exits.h. */

#include "cli/exits.h"

#include <inttypes.h>
#include <signal.h>
#include <stddef.h>

enum { SIGNALLED = 128 };

static const char *name_of(int64_t code, str reason)
{
    static const struct {
        int signo;
        const char *name;
    } rows[] = {
        { SIGHUP, "SIGHUP" },   { SIGINT, "SIGINT" },   { SIGQUIT, "SIGQUIT" },
        { SIGILL, "SIGILL" },   { SIGTRAP, "SIGTRAP" }, { SIGABRT, "SIGABRT" },
        { SIGBUS, "SIGBUS" },   { SIGFPE, "SIGFPE" },   { SIGKILL, "SIGKILL" },
        { SIGUSR1, "SIGUSR1" }, { SIGSEGV, "SIGSEGV" }, { SIGUSR2, "SIGUSR2" },
        { SIGPIPE, "SIGPIPE" }, { SIGALRM, "SIGALRM" }, { SIGTERM, "SIGTERM" },
        { SIGXCPU, "SIGXCPU" }, { SIGXFSZ, "SIGXFSZ" }, { SIGSYS, "SIGSYS" },
    };

    if (str_eqz(reason, "OOMKilled"))
        return "out of memory";
    for (size_t i = 0; i < COUNT(rows); i++)
        if (code == SIGNALLED + rows[i].signo)
            return rows[i].name;
    return NULL;
}

bool exit_has_name(int64_t code, str reason)
{
    return name_of(code, reason) != NULL;
}

str exit_text(struct arena *a, int64_t code, str reason)
{
    const char *name = name_of(code, reason);

    return name ? arena_printf(a, "%" PRId64 " (%s)", code, name)
                : arena_printf(a, "%" PRId64, code);
}
