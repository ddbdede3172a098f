/* What the command line adds to every replica: checked against this machine, then put into the
 * objects. */

#include "app/run_internal.h"

#include "base/time.h"
#include "cli/data.h"
#include "cli/files.h"
#include "node/images.h"
#include "node/node.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which directory */

/* Those of the system, with all that is below them. */
static const char *const system_trees[] = { "/bin",      "/boot",        "/dev",     "/etc",
                                            "/lib",      "/lib32",       "/lib64",   "/libx32",
                                            "/proc",     "/run",         "/sbin",    "/sys",
                                            "/usr/bin",  "/usr/include", "/usr/lib", "/usr/sbin",
                                            "/usr/share" };
/* And those that are shared by programs and users, but may hold directories of users. */
static const char *const system_dirs[] = { "/home",    "/opt", "/tmp",     "/usr",    "/usr/local",
                                           "/usr/src", "/var", "/var/lib", "/var/tmp" };

/* Absolute paths without links: whether path is dir, or below it. */
static bool is_within(const char *path, const char *dir)
{
    size_t n = strlen(dir);

    while (n > 1 && dir[n - 1] == '/')
        n--;
    return strncmp(path, dir, n) == 0 && (path[n] == 0 || path[n] == '/' || n == 1);
}

struct user {
    struct passwd row;
    char text[4096];
};

/* NULL: nobody has it. */
static const struct passwd *find_user(struct user *u, uid_t uid)
{
    struct passwd *found = NULL;

    getpwuid_r(uid, &u->row, u->text, sizeof(u->text), &found);
    return found;
}

static bool is_path_of(const char *path, const char *dir)
{
    char real[PATH_MAX];

    return path && realpath(path, real) && strcmp(real, dir) == 0;
}

static bool is_home_of(uid_t uid, const char *dir)
{
    struct user u;
    const struct passwd *pw = find_user(&u, uid);

    return pw && is_path_of(pw->pw_dir, dir);
}

static bool is_home(const char *dir, const struct stat *st)
{
    return is_path_of(getenv("HOME"), dir) || is_home_of(geteuid(), dir) ||
           is_home_of(st->st_uid, dir);
}

/* As realpath, of a directory that may not be there yet. */
static bool real_dir(const char *path, char out[PATH_MAX])
{
    char part[PATH_MAX];
    size_t n = (size_t)snprintf(part, sizeof(part), "%s", path);

    while (n > 0 && n < sizeof(part) && !realpath(part, out)) {
        while (n > 0 && part[--n] != '/')
            ;
        part[n] = 0;
    }
    if (n >= sizeof(part))
        return false;
    if (n == 0)
        out[0] = 0;
    size_t have = strlen(out);
    return (size_t)snprintf(out + have, PATH_MAX - have, "%s", path + n) < PATH_MAX - have;
}

/* NULL: it can be the working directory. named: by --workdir. */
static const char *why_not(struct run *r, const char *dir, const struct stat *st, bool named)
{
    char data[PATH_MAX];
    const char *at = NULL;

    if (strcmp(dir, "/") == 0)
        return "is the root directory";
    if (strchr(dir, ':'))
        return "has a ':' in its path, which mount paths cannot have";
    if (!str_is_utf8(str_of(dir)))
        return "has a name that is not valid UTF-8";
    if (is_home(dir, st))
        return "is a home directory";
    for (size_t i = 0; i < COUNT(system_trees); i++)
        if (is_within(dir, system_trees[i]))
            return "is a system directory";
    for (size_t i = 0; i < COUNT(system_dirs); i++)
        if (strcmp(dir, system_dirs[i]) == 0)
            return "is a system directory";
    if (data_dir(r->a, r->f->data, &at, NULL) < 0 || !real_dir(at, data))
        return NULL;
    if (is_within(dir, data))
        return "is inside muster's data directory";
    if (!named && !r->f->data && is_within(data, dir))
        return arena_printf(r->a, "contains muster's data directory (%s)", at).p;
    return NULL;
}

/* Pods of root write files of root's, whoever's directory it is. */
static void tell_owner(const char *dir, const struct stat *st)
{
    struct user u;
    const struct passwd *pw = find_user(&u, st->st_uid);

    if (geteuid() == 0 && st->st_uid != 0)
        command_note("muster: %s belongs to %s, but this runs as root: new files there will belong "
                     "to root",
                     dir, pw ? pw->pw_name : "another user");
}

static bool is_workdir_wanted(const struct run *r)
{
    for (size_t i = 0; i < r->submit.n; i++)
        if (extras_want_workdir(r->submit.at[i].obj))
            return true;
    return false;
}

static int find_workdir(struct run *r)
{
    const char *given = r->f->workdir;
    char real[PATH_MAX];
    struct stat st;

    if (given && r->f->no_workdir)
        return command_fail(EXIT_USAGE, "run: --workdir and --no-workdir exclude each other");
    if (r->f->no_workdir || !is_workdir_wanted(r))
        return -1;
    if (given)
        given = extras_read_workdir(r->a, given, &r->extras.workdir_ro);
    if (!realpath(given ? given : ".", real) || stat(real, &st) < 0)
        return command_fail(EXIT_USAGE, given ? "--workdir %s: %s" : "current directory%s: %s",
                            given ? given : "", strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return command_fail(EXIT_USAGE, "--workdir %s: not a directory", given);
    const char *why = why_not(r, real, &st, given);
    if (why)
        return command_fail(EXIT_USAGE,
                            "%s cannot be the working directory of pods: it %s; name another with "
                            "--workdir DIR, or start pods in / with --no-workdir",
                            real, why);
    r->extras.workdir = arena_str(r->a, str_of(real)).p;
    if (!r->extras.workdir_ro)
        tell_owner(real, &st);
    return -1;
}

/* ---- volumes and environment */

static int read_mounts(struct run *r)
{
    const struct opt_words *w = &r->f->volumes;
    struct extra_mount *all = ARENA_ARRAY(r->a, struct extra_mount, w->n + 1);
    char real[PATH_MAX];
    struct err e = { 0 };

    for (size_t i = 0; i < w->n; i++) {
        if (extras_read_mount(r->a, w->at[i], &all[i], &e) < 0)
            return command_fail(EXIT_USAGE, "%s", e.msg);
        if (!realpath(all[i].host, real))
            return command_fail(EXIT_USAGE, "-v '%s': %s: %s", w->at[i], all[i].host,
                                strerror(errno));
        all[i].host = arena_str(r->a, str_of(real)).p;
    }
    r->extras.mounts = all;
    r->extras.n_mounts = w->n;
    return -1;
}

static int read_env(struct run *r)
{
    struct jbuild b = jb_obj(r->a);
    struct err e = { 0 };

    for (size_t i = 0; i < r->f->env_files.n; i++) {
        const char *file = r->f->env_files.at[i];
        struct files one = { .a = r->a };
        str text;
        if (files_add(&one, file, &e) < 0 || files_read(&one, 0, &text, &e) < 0 ||
            extras_read_env_file(r->a, file, text, &b, &e) < 0)
            return command_fail(EXIT_USAGE, "--env-file: %s", e.msg);
    }
    for (size_t i = 0; i < r->f->env.n; i++)
        if (extras_read_env(r->f->env.at[i], &b, &e) < 0)
            return command_fail(EXIT_USAGE, "-e %s", e.msg);
    r->extras.env = jb_done(&b);
    return -1;
}

/* Not at the end, when there is something to lose. */
static int check_keep_files(const struct run *r)
{
    const char *dir = r->f->keep_files;
    struct stat st;

    if (dir && stat(dir, &st) == 0 && (!S_ISDIR(st.st_mode) || access(dir, W_OK | X_OK) < 0))
        return command_fail(EXIT_USAGE, "--keep-files %s: %s", dir,
                            S_ISDIR(st.st_mode) ? strerror(errno) : "not a directory");
    return -1;
}

/* ---- */

static str image_dir(void *ctx, jv container)
{
    struct run *r = ctx;
    struct image_run run;

    if (!r->images)
        return STR_NONE;
    images_resolve(r->a, r->images, container, S(""), &run);
    return run.cwd;
}

/* One that does not read is refused by who starts pods. */
static void read_images(struct run *r)
{
    const char *dir;

    if (r->extras.workdir && data_dir(r->a, r->f->data, &dir, NULL) == 0 &&
        images_load(&r->images, arena_printf(r->a, "%s/images.yaml", dir).p, NULL) < 0)
        r->images = NULL;
}

static void read_stall(struct run *r)
{
    enum { NS_OF_MS = 1000 * 1000, DEFAULT_MS = 5 * 60 * 1000 };
    int64_t ms = r->f->stall_after_ms, most = INT64_MAX / NS_OF_MS;

    /* YAML that is to be kept has what was asked for, and nodes of others do not look. */
    if (ms < 0)
        ms = r->f->print || run_is_elsewhere(r->f) ? 0 : DEFAULT_MS;
    if (ms)
        r->extras.stall_after =
            arena_z(r->a, duration_text(r->a, (ms < most ? ms : most) * NS_OF_MS));
}

int run_read_extras(struct run *r)
{
    int code = find_workdir(r);

    if (code < 0)
        code = read_mounts(r);
    if (code < 0)
        code = read_env(r);
    if (code < 0)
        code = check_keep_files(r);
    if (code >= 0)
        return code;
    read_images(r);
    read_stall(r);
    r->extras.image_dir = image_dir;
    r->extras.ctx = r;
    for (size_t i = 0; i < r->submit.n; i++) {
        struct submit_object *o = &r->submit.at[i];
        o->read = o->obj;
        o->obj = extras_add(r->a, &r->extras, o->obj);
    }
    return -1;
}

/* ---- in a server that is there already */

static bool is_below_one(const char *path, const char *roots)
{
    AUTO(arena) struct arena *a = arena_new();

    for (str rest = str_of(roots); rest.n;)
        if (is_within(path, arena_z(a, str_cut(&rest, ','))))
            return true;
    return false;
}

static int refuse(const char *path, bool is_workdir, const char *why)
{
    return command_fail(EXIT_USAGE, "%s cannot be mounted into pods: %s; %s", path, why,
                        is_workdir ? "--workdir names another directory, --no-workdir none"
                                   : "-v has to name another directory");
}

/* A path that the pods of a server may not have: which, and why. -1: there is none. */
static int check_paths(struct run *r, const char *why, const char *roots)
{
    const struct extras *x = &r->extras;

    if (x->workdir && (!roots || !is_below_one(x->workdir, roots)))
        return refuse(x->workdir, true, why);
    for (size_t i = 0; i < x->n_mounts; i++)
        if (!roots || !is_below_one(x->mounts[i].host, roots))
            return refuse(x->mounts[i].host, false, why);
    return -1;
}

int run_check_roots(struct run *r, const char *roots)
{
    return check_paths(
        r,
        arena_printf(r->a, "--host-path-roots of the server that runs them allows only %s", roots)
            .p,
        roots);
}

/* Whose pods may write to it is for that server's user to say: one of root mounts nothing that
 * others name. */
int run_check_there(struct run *r)
{
    static const struct kube_resource nodes = { "", "v1", "nodes", "Node", true };
    struct ask q = { .req = { .verb = KUBE_LIST, .res = &nodes } };
    struct stat st;

    if (!r->extras.workdir && !r->extras.n_mounts)
        return -1;
    if (stat(r->dir, &st) == 0 && st.st_uid != geteuid())
        return check_paths(r, "the 'muster up' that runs them belongs to another user", NULL);
    int code = session_ask(&r->s, &q, 1);
    if (code >= 0)
        return code;
    JV_EACH (it, jv_at(q.obj, "items")) {
        str roots =
            jv_str(jv_at(it.value, "metadata", "annotations", NODE_ROOTS_ANNOTATION), S(""));
        if (roots.n && (code = run_check_roots(r, arena_z(r->a, roots))) >= 0)
            return code;
    }
    return -1;
}
