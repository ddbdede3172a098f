/* muster init: a job and a script to begin with, which run as they are. */

#include "cli/init.h"

#include "base/err.h"
#include "cli/make_job.h"
#include "cli/options.h"
#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define KINDS MAKE_KINDS "|pod"

/* What is written, and which of our files it is. */
static const struct {
    const char *name;
    const char *ending;
} written[] = { { "train.yaml", ".yaml" }, { "train.py", ".py" } };

static str text_of(struct arena *a, const char *kind, const char *ending)
{
    str name = arena_printf(a, "%s%s", kind, ending);

    for (const struct init_file *f = init_files; f->name; f++)
        if (str_eqz(name, f->name))
            return f->text;
    return STR_NONE;
}

static const char *path_of(struct arena *a, const char *dir, size_t i)
{
    return dir ? arena_printf(a, "%s/%s", dir, written[i].name).p : written[i].name;
}

static int write_file(const char *path, str text, struct err *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (fd < 0)
        return err_sys(e, "write %s", path);
    if (sys_write_all(fd, text, -1) < 0) {
        err_sys(e, "write %s", path);
        close(fd);
        unlink(path);
        return -1;
    }
    return close(fd) < 0 ? err_sys(e, "write %s", path) : 0;
}

/* All or none: nothing that is there is overwritten. */
static int write_files(struct arena *a, const char *kind, const char *dir)
{
    struct err e = { 0 };
    struct stat st;

    if (dir && mkdir(dir, 0777) < 0 && errno != EEXIST)
        return command_fail(EXIT_FAILED, "cannot create %s: %m", dir);
    for (size_t i = 0; i < COUNT(written); i++)
        if (lstat(path_of(a, dir, i), &st) == 0)
            return command_fail(EXIT_FAILED,
                                "%s exists already and is not overwritten; name another directory: "
                                "muster init %s DIR",
                                path_of(a, dir, i), kind);
    for (size_t i = 0; i < COUNT(written); i++) {
        const char *path = path_of(a, dir, i);
        if (write_file(path, text_of(a, kind, written[i].ending), &e) == 0)
            continue;
        while (i-- > 0)
            unlink(path_of(a, dir, i));
        return command_fail(EXIT_FAILED, "%s", e.msg);
    }
    return -1;
}

static void tell(struct arena *a, const char *kind, const char *dir)
{
    AUTO(buf) struct buf b = { 0 };

    for (size_t i = 0; i < COUNT(written); i++)
        buf_printf(&b, "wrote %s\n", path_of(a, dir, i));
    buf_add(&b, S("\nNext:\n"));
    if (dir)
        buf_printf(&b, "  cd %s\n", dir);
    buf_add(&b, S("  muster run train.yaml\n"));
    if (strcmp(kind, "pod") == 0)
        buf_add(&b, S("\nThe same without YAML:\n  muster run -- python3 train.py\n"));
    else
        buf_printf(&b,
                   "\nThe same without YAML:\n  muster run --kind %s --replicas 2 -- python3 "
                   "train.py\n",
                   kind);
    command_print(buf_str(&b));
}

static int run(const struct command *c, int argc, char **argv)
{
    AUTO(arena) struct arena *a = arena_new();
    char **words;
    int n;
    int code = options_read(c, argc, argv, NULL, &words, &n);

    if (code >= 0)
        return code;
    if (n < 1 || n > 2) {
        command_fail(EXIT_USAGE, "init needs a kind (" KINDS ") and at most one directory");
        return command_usage(c);
    }
    const char *kind = strcmp(words[0], "plain") == 0 ? "pod" : words[0];
    const char *dir = n > 1 ? words[1] : NULL;
    if (!text_of(a, kind, ".yaml").p)
        return command_fail(EXIT_USAGE, "init: the kind is one of " KINDS ", not '%s'", kind);
    if (dir && !*dir)
        return command_fail(EXIT_USAGE, "init: '' names no directory");
    code = write_files(a, kind, dir);
    if (code >= 0)
        return code;
    tell(a, kind, dir);
    return EXIT_DONE;
}

const struct command command_init = {
    .name = "init",
    .summary = "write a starter job and its training script",
    .help =
        "Usage: muster init KIND [DIR]\n"
        "\n"
        "Writes train.yaml and train.py to DIR, or to the current directory. They run unchanged,\n"
        "in seconds: 'muster run train.yaml'. Existing files are not overwritten.\n"
        "\n"
        "  pytorch, tf, jax, mpi, xgboost, paddle   a job with two replicas; needs the framework\n"
        "  pod                                      one pod in plain Python\n",
    .operands = OPERANDS_KINDS,
    .run = run,
};
