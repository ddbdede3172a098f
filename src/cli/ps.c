/* muster ps: runs of `muster run`, past and present; muster ps rm: removes what they left. muster
 * rerun: one of them once more. */

#include "cli/options.h"
#include "cli/run_claims.h"
#include "cli/runs.h"
#include "cli/table.h"
#include "cli/view.h"

#include "base/time.h"
#include "base/yaml.h"
#include "loop/loop.h"
#include "sys/self.h"

#include <errno.h>
#include <unistd.h>

struct flags {
    const char *data;
    const char *output;
    bool all;
};

static const struct opt options[] = {
    { "all", 0, OPT_FLAG, offsetof(struct flags, all), NULL, "with rm: every run that is over",
      NULL },
    { "output", 'o', OPT_TEXT, offsetof(struct flags, output), "FORM",
      "what is known of each run, json or yaml", "json|yaml" },
    { "data", 0, OPT_TEXT, offsetof(struct flags, data), "DIR",
      "the data directory (default: $XDG_DATA_HOME/muster)", NULL },
    { 0 }
};

/* ---- showing */

static str claims_text(struct arena *a, const struct run_info *r)
{
    AUTO(buf) struct buf b = { 0 };
    struct run_claim *claims;
    size_t n = run_claims_list(a, r->run.claims, &claims);

    if (access(arena_printf(a, "%s/logs", r->run.path).p, F_OK) == 0)
        buf_add(&b, S("logs"));
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%sclaim %s (%" PRI_STR ")", b.n ? ", " : "", claims[i].name,
                   STR_ARG(run_claims_size(a, claims[i].bytes)));
    return b.n ? arena_str(a, buf_str(&b)) : S("-");
}

static int print_json(struct arena *a, const struct run_info *all, size_t n, const char *form)
{
    AUTO(buf) struct buf b = { 0 };
    struct jbuild list = jb_arr(a);

    for (size_t i = 0; i < n; i++) {
        struct jbuild one = jb_from(a, all[i].summary);
        struct run_claim *claims;
        size_t n_claims = run_claims_list(a, all[i].run.claims, &claims);
        jb_set(&one, S("run"), jstr(a, str_of(all[i].run.name)));
        jb_set(&one, S("state"), jstr(a, all[i].state));
        jb_set(&one, S("path"), jstr(a, str_of(all[i].run.path)));
        jb_set(&one, S("claims"), run_claims_json(a, claims, n_claims));
        jb_push(&list, jb_done(&one));
    }
    jv v = jobj(a, { "runs", jb_done(&list) });
    if (strcmp(form, "yaml") == 0) {
        yaml_print(&b, v);
    } else {
        json_print_indent(&b, v, 4);
        buf_addc(&b, '\n');
    }
    return command_print(buf_str(&b)) < 0 ? EXIT_FAILED : EXIT_DONE;
}

static int print_table(struct arena *a, const struct run_info *all, size_t n, int64_t now_ms)
{
    AUTO(buf) struct buf b = { 0 };
    struct table t;

    if (!n) {
        command_note("muster: no runs");
        return EXIT_DONE;
    }
    table_init(&t, a, "RUN|STATE|AGE|TIME|LEFT|DIRECTORY");
    for (size_t i = 0; i < n; i++) {
        const struct run_info *r = &all[i];
        str cells[] = { str_of(r->run.name),
                        r->state,
                        age_text(a, now_ms - r->began_ms),
                        r->ms >= 0 ? time_short(a, r->ms) : S("-"),
                        claims_text(a, r),
                        r->directory.n ? r->directory : S("-") };
        table_add(&t, cells);
    }
    table_print(&t, &b);
    return command_print(buf_str(&b)) < 0 ? EXIT_FAILED : EXIT_DONE;
}

static int show(const struct flags *f)
{
    AUTO(arena) struct arena *a = arena_new();
    struct run_info *all;
    struct err e = { 0 };
    int64_t now = wall_now_ms();
    size_t n;

    if (runs_list(a, f->data, now, &all, &n, &e) < 0)
        return command_fail(EXIT_FAILED, "%s", e.msg);
    return f->output ? print_json(a, all, n, f->output) : print_table(a, all, n, now);
}

/* ---- removing */

static int remove_one(const struct run_info *r)
{
    struct err e = { 0 };

    if (data_run_remove(&r->run, &e) < 0)
        return command_fail(EXIT_FAILED, "%s", e.msg);
    AUTO(arena) struct arena *a = arena_new();
    command_print(arena_printf(a, "run %s removed\n", r->run.name));
    return -1;
}

static int remove_all(const struct flags *f)
{
    AUTO(arena) struct arena *a = arena_new();
    struct run_info *all;
    struct err e = { 0 };
    int worst = EXIT_DONE;
    size_t n;

    if (runs_list(a, f->data, 0, &all, &n, &e) < 0)
        return command_fail(EXIT_FAILED, "%s", e.msg);
    for (size_t i = 0; i < n; i++)
        if (!all[i].run.is_running && remove_one(&all[i]) >= 0)
            worst = EXIT_FAILED;
    return worst;
}

static int remove_named(const struct flags *f, char **names, int n)
{
    AUTO(arena) struct arena *a = arena_new();
    int worst = EXIT_DONE;

    for (int i = 0; i < n; i++) {
        struct run_info r;
        struct err e = { 0 };
        int code = runs_find(a, f->data, names[i], &r, &e) < 0
                       ? command_fail(EXIT_FAILED, "%s", e.msg)
                       : remove_one(&r);
        worst = code >= 0 ? code : worst;
    }
    return worst;
}

static int run(const struct command *c, int argc, char **argv)
{
    struct flags f = { 0 };
    char **words;
    int n;
    int code = options_read(c, argc, argv, &f, &words, &n);

    if (code >= 0)
        return code;
    bool rm = n > 0 && strcmp(words[0], "rm") == 0;
    if (n > 0 && !rm) {
        command_fail(EXIT_USAGE, "ps has no '%s'", words[0]);
        return command_usage(c);
    }
    if (!rm && f.all)
        return command_fail(EXIT_USAGE, "ps: --all is for 'muster ps rm'");
    if (!rm)
        return show(&f);
    if ((n > 1) == f.all)
        return command_fail(EXIT_USAGE, "ps rm needs the names of runs, or --all");
    return f.all ? remove_all(&f) : remove_named(&f, words + 1, n - 1);
}

const struct command command_ps = {
    .name = "ps",
    .summary = "list runs, past and present, or remove what they left",
    .help = "Usage: muster ps [OPTION]...\n"
            "       muster ps rm RUN...|--all\n"
            "\n"
            "Lists the runs of `muster run` on this machine, the latest first: their state, how\n"
            "long they took, what they left (logs and claims) and the directory they were started\n"
            "in. Logs of the latest 20 runs are kept, claims until they are removed.\n"
            "`muster ps rm` removes runs with all they left.\n",
    .options = options,
    .run = run,
};

/* ---- once more */

static int rerun(const struct command *c, int argc, char **argv)
{
    AUTO(arena) struct arena *a = arena_new();
    struct flags f = { 0 };
    struct run_info r;
    struct err e = { 0 };
    char **words;
    int n;
    int code = options_read(c, argc, argv, &f, &words, &n);

    if (code >= 0)
        return code;
    if (n != 1) {
        command_fail(EXIT_USAGE, "rerun needs the name of one run");
        return command_usage(c);
    }
    if (runs_find(a, f.data, words[0], &r, &e) < 0)
        return command_fail(EXIT_FAILED, "%s", e.msg);
    if (!jv_is(r.args, JV_ARR) || !r.directory.n)
        return command_fail(EXIT_FAILED, "it is not known how run %s was started", words[0]);
    const char **args = ARENA_ARRAY(a, const char *, jv_len(r.args) + 3);
    size_t k = 0;
    args[k++] = "muster";
    args[k++] = "run";
    JV_EACH (it, r.args) {
        args[k++] = arena_z(a, jv_str(it.value, S("")));
        if (strcmp(args[k - 1], "-") == 0)
            return command_fail(EXIT_FAILED, "run %s read its input from standard input", words[0]);
    }
    args[k] = NULL;
    if (chdir(arena_z(a, r.directory)) < 0)
        return command_fail(EXIT_FAILED, "%s: %s", arena_z(a, r.directory), strerror(errno));
    execv(SYS_SELF_EXE, sys_self_argv(a, (char *const *)(uintptr_t)args));
    return command_fail(EXIT_FAILED, "start muster: %s", strerror(errno));
}

static const struct opt rerun_options[] = {
    { "data", 0, OPT_TEXT, offsetof(struct flags, data), "DIR",
      "the data directory (default: $XDG_DATA_HOME/muster)", NULL },
    { 0 }
};

const struct command command_rerun = {
    .name = "rerun",
    .summary = "repeat an earlier run",
    .help = "Usage: muster rerun RUN\n"
            "\n"
            "Calls `muster run` as it was called for RUN (see `muster ps`): the same command line\n"
            "in the same directory. Files are read as they are now.\n",
    .options = rerun_options,
    .run = rerun,
};
