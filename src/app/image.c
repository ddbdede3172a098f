/* muster image: edits images.yaml in the data directory, which a running node reads again when it
 * has changed. Comments at its beginning stay; those further down do not. */

#include "app/image.h"

#include "app/image_internal.h"
#include "base/yaml.h"
#include "cli/data.h"
#include "cli/exec.h"
#include "cli/options.h"
#include "cli/table.h"
#include "image/image.h"
#include "node/images.h"
#include "sys/self.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct flags {
    const char *data;
    const char *rootfs;
    const char *venv;
    const char *command;
    const char *workdir;
    const char *output;
    const char *name;
    bool host;
};

static const struct opt options[] = {
    { "data", 0, OPT_TEXT, offsetof(struct flags, data), "DIR",
      "the data directory (default: $XDG_DATA_HOME/muster)", NULL },
    { "host", 0, OPT_FLAG, offsetof(struct flags, host), NULL,
      "map: use this machine's own files and programs", NULL },
    { "rootfs", 0, OPT_TEXT, offsetof(struct flags, rootfs), "DIR",
      "map: use the unpacked image in DIR; needs isolation level namespaces", NULL },
    { "venv", 0, OPT_TEXT, offsetof(struct flags, venv), "DIR",
      "map: put the programs of this Python environment first in PATH", NULL },
    { "command", 0, OPT_TEXT, offsetof(struct flags, command), "WORDS",
      "map: command line for containers without a command, quoted as in a shell", NULL },
    { "workdir", 0, OPT_TEXT, offsetof(struct flags, workdir), "DIR",
      "map: working directory for containers without a workingDir", NULL },
    { "name", 0, OPT_TEXT, offsetof(struct flags, name), "NAME",
      "import, pull: name to store the image under; selects one of several in an archive", NULL },
    { "output", 'o', OPT_TEXT, offsetof(struct flags, output), "FORMAT",
      "list: print json or yaml instead of a table", "json|yaml" },
    { 0 },
};

/* ---- the file */

static str heading(str text)
{
    size_t n = 0;

    while (n < text.n && text.p[n] == '#') {
        ptrdiff_t end = str_find(str_sub(text, n, text.n), '\n');
        n = end < 0 ? text.n : n + (size_t)end + 1;
    }
    return str_sub(text, 0, n);
}

static int table_read(struct mapping *t, struct err *e)
{
    AUTO(images) struct images *checked = NULL;
    struct yaml_docs docs = { 0 };
    struct err none = { 0 };
    str text = S("");

    if (images_load(&checked, t->path, e) < 0)
        return -1;
    if (data_read(t->a, t->path, &text, &none) < 0 && none.code != ERR_NOT_FOUND)
        return err_set(e, none.code, "%s", none.msg);
    if (yaml_parse(t->a, str_of(t->path), text, NULL, &docs, e) < 0)
        return -1;
    t->heading = heading(text);
    t->root = docs.n ? docs.at[0].root : JV_EMPTY_OBJ;
    if (!jv_is(jv_at(t->root, "images"), JV_ARR))
        t->root = jv_with(t->a, t->root, JV_EMPTY_ARR, "images");
    return 0;
}

int image_table_write(struct mapping *t, jv list, struct err *e)
{
    AUTO(buf) struct buf b = { 0 };

    buf_add(&b, t->heading);
    yaml_print(&b, jv_with(t->a, t->root, list, "images"));
    return data_write(t->path, buf_str(&b), e);
}

/* ---- map, unmap */

static int whole_path(struct arena *a, const char *name, const char *given, jv *out, struct err *e)
{
    if (!given)
        return 0;
    char *full = realpath(given, NULL);
    if (!full || access(full, X_OK) < 0)
        err_sys(e, "--%s %s", name, given);
    else
        *out = jstr(a, arena_str(a, str_of(full)));
    free(full);
    return jv_exists(*out) ? 0 : -1;
}

/* Only its bin directory is looked at later, and nothing would be found in a wrong one. */
static int check_venv(struct arena *a, const char *given, struct err *e)
{
    static const char *const names[] = { "python", "python3" };

    for (size_t i = 0; given && i < COUNT(names); i++)
        if (access(arena_printf(a, "%s/bin/%s", given, names[i]).p, X_OK) == 0)
            return 0;
    if (!given)
        return 0;
    return err_set(e, ERR_INVALID, "--venv %s is not a Python environment: it has no bin/python",
                   given);
}

/* Words as a shell has them, with both kinds of quotes and nothing else. */
static int words(struct arena *a, const char *text, jv *out, struct err *e)
{
    struct jbuild b = jb_arr(a);

    for (const char *p = text + strspn(text, " \t\n"); *p; p += strspn(p, " \t\n")) {
        AUTO(buf) struct buf word = { 0 };
        char quote = '\0';
        for (; *p && (quote || !strchr(" \t\n", *p)); p++) {
            if (quote ? *p == quote : *p == '\'' || *p == '"')
                quote = quote ? '\0' : *p;
            else
                buf_addc(&word, *p);
        }
        if (quote)
            return err_set(e, ERR_INVALID, "--command %s: a quote is not closed", text);
        jb_push(&b, jstr(a, arena_str(a, buf_str(&word))));
    }
    *out = b.n ? jb_done(&b) : JV_ABSENT;
    return 0;
}

static int make_entry(struct arena *a, const char *image, const struct flags *f, jv *out,
                      struct err *e)
{
    jv rootfs = JV_ABSENT, venv = JV_ABSENT, command = JV_ABSENT;

    if (whole_path(a, "rootfs", f->rootfs, &rootfs, e) < 0 ||
        whole_path(a, "venv", f->venv, &venv, e) < 0 || check_venv(a, f->venv, e) < 0 ||
        words(a, f->command ? f->command : "", &command, e) < 0)
        return -1;
    *out = jobj(a, { "match", jstr(a, str_of(image)) }, { "rootfs", rootfs }, { "venv", venv },
                { "command", command },
                { "workingDir", f->workdir ? jstr(a, str_of(f->workdir)) : JV_ABSENT });
    return 0;
}

jv image_table_changed(struct mapping *t, const char *image, jv entry, bool *was_there)
{
    struct jbuild b = jb_arr(t->a);
    jv list = jv_at(t->root, "images");

    *was_there = false;
    JV_EACH (it, list)
        *was_there |= str_eqz(jv_str(jv_at(it.value, "match"), S("")), image);
    if (jv_exists(entry) && !*was_there)
        jb_push(&b, entry);
    JV_EACH (it, list) {
        bool same = str_eqz(jv_str(jv_at(it.value, "match"), S("")), image);
        jv now = same ? entry : it.value;
        if (jv_exists(now))
            jb_push(&b, now);
    }
    return jb_done(&b);
}

int image_agent_install(const char *dir, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    char table[PATH_MAX]; /* of runs: that of the directory they belong to */
    struct stat self, there;

    if (!realpath(arena_printf(a, "%s/images.yaml", dir).p, table))
        return err_sys(e, "images.yaml");
    const char *agent = arena_printf(a, "%.*s/agent", (int)(strrchr(table, '/') - table), table).p;

    if (stat(sys_self()->program, &self) < 0)
        return err_sys(e, "stat %s", sys_self()->program);
    if (stat(arena_printf(a, "%s/muster", agent).p, &there) == 0 &&
        there.st_mtim.tv_sec >= self.st_mtim.tv_sec)
        return 0;
    return exec_install(agent, e);
}

static int map(struct mapping *t, const char *image, const struct flags *f)
{
    struct err e = { 0 };
    jv entry;
    bool replaced;

    if (!*image)
        return command_fail(EXIT_USAGE, "image map needs the name of an image, not ''");
    if (!f->host == !f->rootfs && !f->venv)
        return command_fail(EXIT_USAGE, "image map needs --host, --venv DIR or --rootfs DIR");
    if (f->rootfs && (f->host || f->venv))
        return command_fail(EXIT_USAGE, "image map: --rootfs goes without --host and --venv");
    if (make_entry(t->a, image, f, &entry, &e) < 0)
        return command_fail(EXIT_USAGE, "%s", e.msg);
    if (image_table_write(t, image_table_changed(t, image, entry, &replaced), &e) < 0)
        return command_fail(EXIT_FAILED, "%s", e.msg);
    if (f->rootfs && image_agent_install(t->dir, &e) < 0)
        command_note("muster: MPIJobs cannot use it: %s", e.msg);
    command_print(arena_printf(t->a, "image %s %s\n", image, replaced ? "remapped" : "mapped"));
    return EXIT_DONE;
}

static int unmap(struct mapping *t, const char *image)
{
    struct err e = { 0 };
    bool was_there;
    jv list = image_table_changed(t, image, JV_ABSENT, &was_there);

    if (!was_there)
        return command_fail(EXIT_FAILED, "image %s is not mapped in %s", image, t->path);
    if (image_table_write(t, list, &e) < 0)
        return command_fail(EXIT_FAILED, "%s", e.msg);
    command_print(arena_printf(t->a, "image %s unmapped\n", image));
    return EXIT_DONE;
}

/* ---- list */

static str place(struct mapping *m, jv entry)
{
    struct arena *a = m->a;
    jv rootfs = jv_at(entry, "rootfs"), venv = jv_at(entry, "venv");

    if (image_is_ours(m->dir, jv_str(rootfs, S("")))) {
        str id =
            str_sub(jv_str(rootfs, S("")), strlen(m->dir) + strlen("/images/sha256-"), SIZE_MAX);
        return arena_printf(a, "imported, %.12s", arena_z(a, id));
    }
    if (jv_exists(rootfs))
        return jv_str(rootfs, S(""));
    if (jv_exists(venv))
        return arena_cat(a, S("this machine, "), jv_str(venv, S("")));
    return S("this machine");
}

static str command_text(struct arena *a, jv words)
{
    AUTO(buf) struct buf b = { 0 };

    JV_EACH (it, words)
        buf_printf(&b, "%s%" PRI_STR, b.n ? " " : "", STR_ARG(jv_str(it.value, S(""))));
    return b.n ? arena_str(a, buf_str(&b)) : S("<the container's>");
}

static int print_list(struct mapping *m, const char *format)
{
    AUTO(buf) struct buf b = { 0 };
    struct table t;
    jv list = jv_at(m->root, "images"), whole = jobj(m->a, { "images", list });

    table_init(&t, m->a, "IMAGE|RUNS ON|COMMAND");
    JV_EACH (it, list) {
        str cells[] = { jv_str(jv_at(it.value, "match"), S("")), place(m, it.value),
                        command_text(m->a, jv_at(it.value, "command")) };
        table_add(&t, cells);
    }
    if (format && strcmp(format, "yaml") == 0)
        yaml_print(&b, whole);
    else if (format)
        buf_printf(&b, "%" PRI_STR "\n", STR_ARG(json_text(m->a, whole)));
    else if (jv_len(list))
        table_print(&t, &b);
    else
        command_note("no images are mapped in %s", m->path);
    return command_print(buf_str(&b)) < 0 ? EXIT_FAILED : EXIT_DONE;
}

/* ---- */

/* One writer at a time; the directory is made where it is missing. */
static int lock_dir(const char *dir, int *out, struct err *e)
{
    int fd = -1;
    struct err why = { 0 };

    if (data_lock(dir, &fd, &why) == 0)
        close(fd);
    else if (why.code != ERR_CONFLICT) /* that is a muster up: fine */
        return err_set(e, why.code, "%s", why.msg);
    *out = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*out < 0 || flock(*out, LOCK_EX) < 0)
        return err_sys(e, "lock %s", dir);
    return 0;
}

struct verb {
    const char *name;
    int args;
    int (*run)(struct mapping *t, const char *arg, const struct flags *f);
};

static int list_verb(struct mapping *t, const char *arg, const struct flags *f)
{
    (void)arg;
    return print_list(t, f->output);
}

static int unmap_verb(struct mapping *t, const char *arg, const struct flags *f)
{
    (void)f;
    return unmap(t, arg);
}

static int import_verb(struct mapping *t, const char *arg, const struct flags *f)
{
    return image_import_command(t, arg, f->name);
}

static int pull_verb(struct mapping *t, const char *arg, const struct flags *f)
{
    return image_pull_command(t, arg, f->name);
}

static int rm_verb(struct mapping *t, const char *arg, const struct flags *f)
{
    (void)f;
    return image_rm_command(t, arg);
}

static const struct verb verbs[] = {
    { "list", 0, list_verb },     { "map", 1, map },        { "unmap", 1, unmap_verb },
    { "import", 1, import_verb }, { "pull", 1, pull_verb }, { "rm", 1, rm_verb },
};

static const struct verb *verb_of(int n, char **words_given)
{
    for (size_t i = 0; n > 0 && i < COUNT(verbs); i++)
        if (strcmp(words_given[0], verbs[i].name) == 0 && n == 1 + verbs[i].args)
            return &verbs[i];
    return NULL;
}

/* Paths in the table are whole ones. */
static int whole_dir(struct arena *a, const char **dir, struct err *e)
{
    char *full = realpath(*dir, NULL);

    if (!full && errno != ENOENT)
        return err_sys(e, "%s", *dir);
    if (full)
        *dir = arena_z(a, str_of(full));
    free(full);
    return 0;
}

static int run(const struct command *c, int argc, char **argv)
{
    AUTO(arena) struct arena *a = arena_new();
    struct flags f = { 0 };
    struct mapping t = { .a = a };
    struct err e = { 0 };
    const char *dir;
    char **rest;
    int n, lock = -1;
    int code = options_read(c, argc, argv, &f, &rest, &n);

    if (code >= 0)
        return code;
    const struct verb *verb = verb_of(n, rest);
    if (!verb) {
        command_fail(
            EXIT_USAGE,
            "image needs import FILE, pull IMAGE, rm NAME, map IMAGE, unmap IMAGE or list");
        return command_usage(c);
    }
    if (data_dir(a, f.data, &dir, &e) < 0 || (verb->args && lock_dir(dir, &lock, &e) < 0) ||
        whole_dir(a, &dir, &e) < 0)
        return command_fail(EXIT_FAILED, "%s", e.msg);
    t.dir = dir;
    t.path = arena_printf(a, "%s/images.yaml", dir).p;
    if (table_read(&t, &e) < 0)
        code = command_fail(EXIT_USAGE, "%s", e.msg);
    else
        code = verb->run(&t, verb->args ? rest[1] : NULL, &f);
    if (lock >= 0)
        close(lock);
    return code;
}

const struct command command_image = {
    .name = "image",
    .summary = "import container images, and map images to files of this machine",
    .help =
        "Usage: muster image import FILE|DIR|- [--name NAME]\n"
        "       muster image pull IMAGE [--name NAME]\n"
        "       muster image rm NAME\n"
        "       muster image map IMAGE (--host | --venv DIR | --rootfs DIR) [--command WORDS]\n"
        "       muster image unmap IMAGE\n"
        "       muster image list [-o json|yaml]\n"
        "\n"
        "import unpacks an image below the data directory. FILE is what docker save, podman save\n"
        "or skopeo wrote (a docker archive or an OCI archive), DIR an OCI layout, - standard\n"
        "input. Containers with that image then run in its files. pull downloads an image from\n"
        "its registry, with the credentials that docker login wrote, and imports it. rm removes\n"
        "an image and its files.\n"
        "\n"
        "map runs an image with this machine's own programs, or with those in a directory. An\n"
        "image that is neither imported nor mapped runs on this machine if the container names\n"
        "a command. IMAGE may be a pattern (example.org/team/*), with or without a tag. If\n"
        "several match, the first in the list is used; a new entry is put first. A running\n"
        "muster picks up changes.\n"
        "\n"
        "  docker save pytorch/pytorch:2.4.0 | muster image import -\n"
        "  muster image map pytorch/pytorch --venv ~/torch --command 'python3 -u train.py'\n",
    .options = options,
    .run = run,
};
