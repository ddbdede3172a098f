/* muster down: stops the server that uses a data directory. */

#include "cli/command.h"
#include "cli/data.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* A `muster run` grants its pods the time that they ask for, 30 s unless they say otherwise. */
enum { QUIET_S = 5, WAIT_S = 120 };

/* Until nothing uses the directory any more. */
static int wait_free(const char *dir, int pid)
{
    struct err e = { 0 };

    if (data_wait_free(dir, QUIET_S, &e) == 0)
        return EXIT_DONE;
    if (e.code == ERR_TIMEOUT) {
        command_note("muster: waiting for pid %d to stop its pods", pid);
        e = (struct err){ 0 };
        if (data_wait_free(dir, WAIT_S, &e) == 0)
            return EXIT_DONE;
    }
    return command_fail(EXIT_FAILED, "pid %d: %s", pid, e.msg);
}

static int run(const struct command *c, int argc, char **argv)
{
    static const struct option options[] = { { "data", required_argument, NULL, 'd' },
                                             { "help", no_argument, NULL, 'h' },
                                             { 0 } };
    AUTO(arena) struct arena *a = arena_new();
    const char *given = NULL;
    const char *dir = NULL;
    struct err e = { 0 };
    int pid = 0;

    for (int opt; (opt = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (opt == 'h')
            return fputs(c->help, stdout), EXIT_DONE;
        if (opt != 'd')
            return command_usage(c);
        given = optarg;
    }
    if (optind < argc)
        return command_fail(EXIT_USAGE, "down takes no argument '%s'", argv[optind]);
    if (data_dir(a, given, &dir, &e) < 0 || data_holder(dir, &pid, &e) < 0)
        return command_fail(EXIT_FAILED, "%s", e.msg);
    if (pid <= 0)
        return command_fail(EXIT_FAILED, "nothing runs on %s", dir);
    if (kill(pid, SIGTERM) < 0) {
        err_sys(&e, "cannot stop pid %d", pid);
        return command_fail(EXIT_FAILED, "%s", e.msg);
    }
    return wait_free(dir, pid);
}

const struct command command_down = {
    .name = "down",
    .summary = "stop the running server",
    .help = "Usage: muster down [--data DIR]\n"
            "\n"
            "Stops the server or the `muster run` that uses the data directory. Returns when the\n"
            "directory is free: its pods have ended, and another server can use it.\n"
            "\n"
            "  --data DIR   the data directory (default: $XDG_DATA_HOME/muster)\n",
    .run = run,
};
