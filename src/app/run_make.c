/* A command instead of files: the job that `muster run ... -- COMMAND` makes, as the YAML that a
 * file could hold. */

#include "app/run_internal.h"

#include "base/yaml.h"

#include <stdio.h>
#include <unistd.h>

/* The first flag that only says something about a command; NULL: none was given. */
static const char *flag_of(const struct run_flags *f)
{
    const struct {
        const char *name;
        bool is_given;
    } flags[] = {
        { "--kind", f->make.kind },
        { "--replicas", f->make.replicas >= 0 },
        { "--role", f->make.roles },
        { "--gpus", f->make.gpus },
        { "--cpu", f->make.cpu },
        { "--memory", f->make.memory },
        { "--name", f->make.name },
        { "--image", f->make.image },
        { "--nproc-per-node", f->make.nproc_per_node },
        { "--print", f->print },
        { "--upload", f->upload },
    };

    for (size_t i = 0; i < COUNT(flags); i++)
        if (flags[i].is_given)
            return flags[i].name;
    return NULL;
}

/* `muster run train.py` is what a newcomer tries first. */
static int check_files(char **operands, int n)
{
    for (int i = 0; i < n; i++) {
        str file = str_of(operands[i]);
        bool is_python = str_ends(file, S(".py"));
        if (is_python || str_ends(file, S(".sh")))
            return command_fail(EXIT_USAGE,
                                "%s is a script, not a file of jobs; run it with: muster run -- %s "
                                "%s",
                                operands[i], is_python ? "python3" : "sh", operands[i]);
    }
    return -1;
}

static int check_no_command(const struct run_flags *f, char **operands, int n)
{
    const char *flag = flag_of(f);
    bool kind = f->make.kind != NULL;

    if (!flag)
        return check_files(operands, n);
    return command_fail(EXIT_USAGE,
                        "%s %s a command after --, as in: muster run %s%s -- python3 %s", flag,
                        n ? "is not for files: it needs" : "needs", kind ? "--kind " : "",
                        kind ? f->make.kind : "", "train.py");
}

/* `muster run -- train.py` in the directory of train.py, which no PATH names. */
static int check_command(const struct make_opts *o)
{
    const char *file = o->command[0];
    bool is_python = str_ends(str_of(file), S(".py"));

    if (strchr(file, '/') || o->image || access(file, F_OK) < 0 ||
        !(is_python || str_ends(str_of(file), S(".sh"))))
        return -1;
    return command_fail(EXIT_USAGE, "%s is a script, and needs a program that runs it: -- %s %s",
                        file, is_python ? "python3" : "sh", file);
}

int run_make(struct run *r, char **operands, int n)
{
    const struct run_flags *f = r->f;
    struct make_opts o = f->make;
    AUTO(buf) struct buf b = { 0 };
    struct err e = { 0 };
    jv map = JV_ABSENT;
    int code = run_check_cluster(f);

    if (code >= 0)
        return code;
    if (o.n_command == 0)
        return check_no_command(f, operands, n);
    if (n)
        return command_fail(EXIT_USAGE,
                            "files and a command exclude each other: '%s' comes before --",
                            operands[0]);
    int refused = check_command(&o);
    if (refused >= 0)
        return refused;
    o.ns = f->ns;
    o.has_replicas = o.replicas >= 0;
    if ((code = run_add_upload(r, &o, &map)) >= 0)
        return code;
    jv job = make_job(r->a, &o, &e);
    if (!jv_exists(job))
        return command_fail(EXIT_USAGE, "%s", e.msg);
    if (jv_exists(map)) {
        yaml_print(&b, map);
        buf_add(&b, S("---\n"));
    }
    yaml_print(&b, job);
    r->made = arena_str(r->a, buf_str(&b));
    return -1;
}

int run_print(const struct run *r)
{
    AUTO(buf) struct buf b = { 0 };

    if (!r->f->make.image)
        buf_add(&b, S("# image " MAKE_IMAGE_HERE
                      " means the files of this machine; on a cluster, name a real image.\n"));
    for (size_t i = 0; i < r->submit.n; i++) {
        if (i)
            buf_add(&b, S("---\n"));
        yaml_print(&b, r->submit.at[i].obj);
    }
    return command_print(buf_str(&b)) < 0 ? EXIT_FAILED : EXIT_DONE;
}
