/* Files to objects that may be sent: nothing is, while something is wrong with any of them. */

#include "app/run_internal.h"

#include "app/validate.h"
#include "cli/files.h"

#include <stdio.h>

static int read_files(struct run *r, char **operands, int n)
{
    struct files files = { .a = r->a };
    struct err e = { 0 };

    for (int i = 0; i < n; i++)
        if (files_add(&files, operands[i], &e) < 0)
            return command_fail(EXIT_USAGE, "%s", e.msg);
    for (size_t i = 0; i < files.n; i++) {
        str text;
        if (files_read(&files, i, &text, &e) < 0)
            return command_fail(EXIT_USAGE, "%s", e.msg);
        lint_read(r->lint, files.at[i].shown, text);
    }
    if (r->made.n)
        lint_read(r->lint, S("command line"), r->made);
    lint_check(r->lint, wall_now_ms());
    return -1;
}

int run_read_input(struct run *r, char **operands, int n)
{
    AUTO(buf) struct buf b = { 0 };
    size_t objects;
    int code = read_files(r, operands, n);

    if (code >= 0)
        return code;
    validate_print(&b, r->lint, true);
    command_complain(buf_str(&b));
    if (lint_errors(r->lint))
        return EXIT_USAGE;
    objects = lint_objects(r->lint);
    r->submit.at = ARENA_ARRAY(r->a, struct submit_object, objects + 1);
    r->submit.n = objects;
    for (size_t i = 0; i < objects; i++) {
        struct submit_object *o = &r->submit.at[i];
        struct yaml_place at;
        str file;
        o->obj = lint_object(r->lint, i, &file, &at);
        o->where = at.line && !r->made.n
                       ? arena_printf(r->a, "%" PRI_STR ":%u:%u", STR_ARG(file), at.line, at.column)
                       : file;
    }
    return submit_check(&r->submit);
}
