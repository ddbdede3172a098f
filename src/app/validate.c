/* muster validate: what is wrong with manifests, without a server. Here rather than in cli/, which
 * does not know what objects of each kind must be like. */

#include "app/validate.h"

#include "cli/files.h"
#include "cli/options.h"
#include "lint/lint.h"
#include "loop/loop.h"

#include <stdio.h>

struct flags {
    const char *output;
    bool quiet;
    bool strict;
};

static const struct opt options[] = { { "output", 'o', OPT_TEXT, offsetof(struct flags, output),
                                        "FORMAT", "text (the default) or json", "text|json" },
                                      { "quiet", 'q', OPT_FLAG, offsetof(struct flags, quiet), NULL,
                                        "print nothing about valid files, and no warnings", NULL },
                                      { "strict", 0, OPT_FLAG, offsetof(struct flags, strict), NULL,
                                        "treat warnings as errors", NULL },
                                      { 0 } };

/* Some quote a whole object. */
static void print_short(struct buf *b, str text)
{
    enum { HEAD = 240, TAIL = 160 };
    str head = str_clip(text, HEAD);
    str tail = str_sub(text, text.n - TAIL, text.n);

    if (text.n <= HEAD + TAIL) {
        buf_add(b, text);
        return;
    }
    while (tail.n && ((unsigned char)tail.p[0] & 0xc0) == 0x80)
        tail = str_sub(tail, 1, tail.n);
    buf_printf(b, "%" PRI_STR " ... %" PRI_STR, STR_ARG(head), STR_ARG(tail));
}

void validate_print(struct buf *b, const struct lint *l, bool warnings)
{
    size_t n;
    const struct lint_finding *at = lint_findings(l, &n);

    for (size_t i = 0; i < n; i++) {
        const struct lint_finding *x = &at[i];
        if (x->level == LINT_WARNING && !warnings)
            continue;
        buf_add(b, x->file);
        if (x->at.line)
            buf_printf(b, ":%u:%u", x->at.line, x->at.column);
        buf_printf(b, ": %s", x->level == LINT_WARNING ? "warning: " : "");
        if (x->field.n)
            buf_printf(b, "%" PRI_STR ": ", STR_ARG(x->field));
        print_short(b, x->text);
        buf_addc(b, '\n');
    }
}

static jv finding_json(struct arena *a, const struct lint_finding *x)
{
    return jobj(
        a, { "file", jstr(a, x->file) }, { "line", x->at.line ? jint(a, x->at.line) : JV_ABSENT },
        { "column", x->at.line ? jint(a, x->at.column) : JV_ABSENT },
        { "level", x->level == LINT_ERROR ? jstrz(a, "error") : jstrz(a, "warning") },
        { "object", x->object.n ? jstr(a, x->object) : JV_ABSENT },
        { "field", x->field.n ? jstr(a, x->field) : JV_ABSENT }, { "message", jstr(a, x->text) });
}

static void print_json(struct arena *a, struct buf *b, const struct lint *l, bool valid)
{
    struct jbuild list = jb_arr(a);
    size_t n;
    const struct lint_finding *at = lint_findings(l, &n);

    for (size_t i = 0; i < n; i++)
        jb_push(&list, finding_json(a, &at[i]));
    json_print_indent(b,
                      jobj(a, { "valid", jbool(valid) },
                           { "objects", jint(a, (int64_t)lint_objects(l)) },
                           { "findings", jb_done(&list) }),
                      2);
    buf_addc(b, '\n');
}

static int report(const struct lint *l, const struct flags *f)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(buf) struct buf b = { 0 };
    size_t n;
    size_t bad = (lint_findings(l, &n), f->strict ? n : lint_errors(l));
    bool json = f->output && strcmp(f->output, "json") == 0;

    if (json)
        print_json(a, &b, l, !bad);
    else
        validate_print(&b, l, !f->quiet || f->strict);
    if (!json && !f->quiet && !bad)
        buf_printf(&b, "%zu object%s, all valid\n", lint_objects(l),
                   lint_objects(l) == 1 ? "" : "s");
    if (command_print(buf_str(&b)) < 0)
        return EXIT_FAILED;
    return bad ? EXIT_USAGE : EXIT_DONE;
}

static int run(const struct command *c, int argc, char **argv)
{
    AUTO(arena) struct arena *a = arena_new();
    AUTO(lint) struct lint *l = lint_new();
    struct files files = { .a = a };
    struct flags f = { 0 };
    struct err e = { 0 };
    char **names;
    int n;
    int code = options_read(c, argc, argv, &f, &names, &n);

    if (code >= 0)
        return code;
    if (n == 0) {
        command_fail(EXIT_USAGE, "validate needs a file, a directory or - for standard input");
        return command_usage(c);
    }
    for (int i = 0; i < n; i++)
        if (files_add(&files, names[i], &e) < 0)
            return command_fail(EXIT_USAGE, "%s", e.msg);
    for (size_t i = 0; i < files.n; i++) {
        str text;
        if (files_read(&files, i, &text, &e) < 0)
            return command_fail(EXIT_USAGE, "%s", e.msg);
        lint_read(l, files.at[i].shown, text);
    }
    lint_namesakes(l);
    lint_check(l, wall_now_ms());
    return report(l, &f);
}

const struct command command_validate = {
    .name = "validate",
    .summary = "check manifests without a cluster",
    .help =
        "Usage: muster validate [OPTION]... FILE|DIR|-...\n"
        "\n"
        "Checks every object in the files: its syntax, its fields and their types, and the\n"
        "rules of Kubernetes' own kinds, of our jobs, and of other kinds whose definition is\n"
        "among the files. Files are YAML or JSON, with any number of documents. DIR stands for\n"
        "all *.yaml, *.yml and *.json files below it, - for standard input. Prints all errors,\n"
        "with file:line:column and field. Exits with 0 if there are none, else with 2.\n",
    .options = options,
    .operands = OPERANDS_FILES,
    .run = run,
};
