/* muster why: reads, judges, prints. */

#include "app/why_internal.h"

struct flags {
    struct session_opts to;
    const char *output;
};

static const struct opt options[] = { { "output", 'o', OPT_TEXT, offsetof(struct flags, output),
                                        "FORMAT", "print json instead of text", "json" },
                                      SESSION_OPTIONS(struct flags, to),
                                      { 0 } };

static int explain(struct session *s, const struct flags *f, const char *word)
{
    AUTO(buf) struct buf b = { 0 };
    struct why_page p = { .s = s, .a = s->a };
    int code = why_read(&p, word);

    if (code >= 0)
        return code;
    why_place(&p);
    why_judge(&p);
    if (f->output) {
        json_print_indent(&b, why_page_json(&p), 4);
        buf_addc(&b, '\n');
    } else {
        buf_add(&b, why_text(&p));
    }
    return command_print(buf_str(&b)) < 0 ? EXIT_FAILED : EXIT_DONE;
}

static int run(const struct command *c, int argc, char **argv)
{
    struct flags f = { 0 };
    struct session s;
    char **words;
    int n;
    int code = options_read(c, argc, argv, &f, &words, &n);

    if (code >= 0)
        return code;
    if (n != 1) {
        command_fail(EXIT_USAGE, "why needs one job, pod/NAME or podgroup/NAME");
        return command_usage(c);
    }
    code = session_open(&s, &f.to);
    if (code < 0)
        code = explain(&s, &f, words[0]);
    session_close(&s);
    return code;
}

const struct command command_why = {
    .name = "why",
    .summary = "say why a job or a pod waits, and what would help",
    .help =
        "Usage: muster why [OPTION]... JOB\n"
        "       muster why [OPTION]... pod/NAME|podgroup/NAME\n"
        "\n"
        "Says in one sentence why a job (NAME or KIND/NAME), a pod or a PodGroup does not run.\n"
        "Then it lists what is needed, what the nodes have, what is free and who holds the rest,\n"
        "why nodes cannot be used, who is before it in the queue, and what would help. What\n"
        "would help was tried on the scheduler's decision: each line alone is enough, as long as\n"
        "nothing else changes. Works on any cluster and only reads. If permissions are missing,\n"
        "it lists what it could not read and prints the rest.\n",
    .options = options,
    .operands = OPERANDS_JOBS,
    .run = run,
};
