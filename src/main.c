/* muster: picks the command and hands it its arguments. */

#include "app/image.h"
#include "app/manifests.h"
#include "app/operator.h"
#include "app/resources.h"
#include "app/run.h"
#include "app/up.h"
#include "app/validate.h"
#include "app/why.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/yaml.h"
#include "cli/completion.h"
#include "cli/options.h"
#include "podnet/hub.h"
#include "sandbox/keeper.h"
#include "sys/self.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const struct command command_completion; /* it knows all the others */
static const struct command command_version;

static const struct command *const commands[] = {
    &command_run,    &command_up,       &command_down,      &command_get,      &command_describe,
    &command_why,    &command_top,      &command_resources, &command_logs,     &command_events,
    &command_delete, &command_exec,     &command_ps,        &command_rerun,    &command_init,
    &command_image,  &command_operator, &command_manifests, &command_validate, &command_completion,
    &command_version
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
    .summary = "print shell completion code",
    .help = "Usage: muster completion bash|zsh|fish\n"
            "\n"
            "  bash   source <(muster completion bash)\n"
            "  zsh    source <(muster completion zsh)\n"
            "  fish   muster completion fish | source\n",
    .operands = OPERANDS_SHELLS,
    .run = complete,
};

struct version_flags {
    const char *output;
};

static const struct opt version_options[] = { { "output", 'o', OPT_TEXT,
                                                offsetof(struct version_flags, output), "FORMAT",
                                                "print json or yaml instead of text", "json|yaml" },
                                              { 0 } };

static int version(const struct command *c, int argc, char **argv)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    struct version_flags f = { 0 };
    char **words;
    int n;
    int code = options_read(c, argc, argv, &f, &words, &n);

    if (code >= 0)
        return code;
    if (n > 0) {
        command_fail(EXIT_USAGE, "version takes no operands: '%s'", words[0]);
        return command_usage(c);
    }
    jv told = jobj(a, { "version", jstr(a, S(MUSTER_VERSION)) });
    if (!f.output)
        buf_add(&b, S("muster " MUSTER_VERSION "\n"));
    else if (strcmp(f.output, "yaml") == 0)
        yaml_print(&b, told);
    else
        buf_printf(&b, "%" PRI_STR "\n", STR_ARG(json_text(a, told)));
    return command_print(buf_str(&b)) < 0 ? EXIT_FAILED : EXIT_DONE;
}

static const struct command command_version = {
    .name = "version",
    .summary = "print the version",
    .help = "Usage: muster version [-o json|yaml]\n",
    .options = version_options,
    .run = version,
};

static void usage(FILE *to)
{
    fputs("Usage: muster COMMAND [OPTION]...\n\nCommands:\n", to);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\nRun 'muster COMMAND --help' for details.\n", to);
}

static int no_command(const char *name)
{
    struct nearest n = nearest_to(str_of(name));

    for (size_t i = 0; i < COMMANDS; i++)
        nearest_try(&n, str_of(commands[i]->name));
    if (n.best.n)
        return command_fail(EXIT_USAGE, "no command '%s'; did you mean '%" PRI_STR "'?", name,
                            STR_ARG(n.best));
    command_fail(EXIT_USAGE, "no command '%s'", name);
    usage(stderr);
    return EXIT_USAGE;
}

/* Started with one of the three closed (`>&-`), the next file we open would take its number: what
 * is printed would go into the database. Reading where nothing was given still fails. */
static void stdio_hold(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDWR); /* the lowest: fd */
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    stdio_hold();
    if (sys_self()->is_bundled) /* else ps shows the loader's name */
        prctl(PR_SET_NAME, "muster");
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i]->name) == 0)
            return commands[i]->run(commands[i], argc - 1, argv + 1);
    if (strcmp(name, "warden") == 0) /* run by the node, not by people */
        return warden_main(argc - 1, argv + 1);
    if (strcmp(name, "hub") == 0)
        return net_hub_main(argc - 1, argv + 1);
    if (strcmp(name, "--version") == 0)
        return version(&command_version, argc - 1, argv + 1);
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        usage(stdout);
        return EXIT_DONE;
    }
    if (argc > 1)
        return no_command(name);
    usage(stderr);
    return EXIT_USAGE;
}
