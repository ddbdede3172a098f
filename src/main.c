/* muster: picks the command and hands it its arguments. */

#include "cli/completion.h"
#include "cli/options.h"
#include "image.h"
#include "manifests.h"
#include "node/net_hub.h"
#include "node/warden_keeper.h"
#include "operator.h"
#include "run.h"
#include "up.h"
#include "validate.h"

#include <stdio.h>
#include <string.h>

static const struct command command_completion; /* it knows all the others */

static const struct command *const commands[] = {
    &command_run,      &command_up,        &command_down,     &command_get,       &command_describe,
    &command_logs,     &command_events,    &command_delete,   &command_exec,      &command_image,
    &command_operator, &command_manifests, &command_validate, &command_completion
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static int complete(const struct command *c, int argc, char **argv)
{
    AUTO(buf) struct buf b = { 0 };
    char **words;
    int n;
    int code = options_read(c, argc, argv, NULL, &words, &n);

    if (code >= 0)
        return code;
    if (n != 1 || completion_text(&b, words[0], commands, COMMANDS) < 0) {
        command_fail(EXIT_USAGE, "completion is for bash, zsh or fish");
        return command_usage(c);
    }
    return command_print(buf_str(&b)) < 0 ? EXIT_FAILED : EXIT_DONE;
}

static const struct command command_completion = {
    .name = "completion",
    .summary = "print what makes a shell complete our words",
    .help = "Usage: muster completion bash|zsh|fish\n"
            "\n"
            "  bash   source <(muster completion bash)\n"
            "  zsh    source <(muster completion zsh)\n"
            "  fish   muster completion fish | source\n",
    .operands = OPERANDS_SHELLS,
    .run = complete,
};

static void usage(FILE *to)
{
    fputs("Usage: muster COMMAND [OPTION]...\n\nCommands:\n", to);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("  version    print the version\n\n'muster COMMAND --help' says more.\n", to);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i]->name) == 0)
            return commands[i]->run(commands[i], argc - 1, argv + 1);
    if (strcmp(name, "warden") == 0) /* run by the node, not by people */
        return warden_main(argc - 1, argv + 1);
    if (strcmp(name, "hub") == 0)
        return net_hub_main(argc - 1, argv + 1);
    if (strcmp(name, "version") == 0 || strcmp(name, "--version") == 0) {
        puts("muster " MUSTER_VERSION);
        return EXIT_DONE;
    }
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        usage(stdout);
        return EXIT_DONE;
    }
    if (argc > 1)
        fprintf(stderr, "muster: no command '%s'\n", name);
    usage(stderr);
    return EXIT_USAGE;
}
