/* See private_files.h. */

#include "cli/private_files.h"

#include "sys/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what counts */

/* Directories of the system whose content nobody misses. */
static const char *const trees[] = { "/dev/",     "/proc/",      "/run/",     "/sys/",
                                     "/tmp/",     "/var/cache/", "/var/lib/", "/var/log/",
                                     "/var/run/", "/var/tmp/" };
/* Wherever they are. */
static const char *const parts[] = { "/__pycache__/", "/.cache/",  "/.nv/",         "/.triton/",
                                     "/.ipython/",    "/.config/", "/.local/state/" };
static const char *const ends[] = { ".pyc", "_history", "/.lesshst", "/.wget-hsts" };

bool private_is_cache(str path, str home)
{
    bool at_home = home.n > 1 && str_starts(path, home) && path.n > home.n && path.p[home.n] == '/';

    for (size_t i = 0; i < COUNT(trees); i++)
        if (!at_home && str_starts(path, str_of(trees[i])))
            return true;
    for (size_t i = 0; i < COUNT(parts); i++)
        if (str_contains(path, str_of(parts[i])))
            return true;
    for (size_t i = 0; i < COUNT(ends); i++)
        if (str_ends(path, str_of(ends[i])))
            return true;
    return false;
}

/* A file that was removed is a device 0,0 in an overlay, or an empty file with an attribute. */
static bool is_file(const struct stat *st)
{
    return (S_ISREG(st->st_mode) && st->st_size > 0) || S_ISLNK(st->st_mode);
}

static void add_dir(struct private_files *p, str path)
{
    str dir = str_sub(path, 0, (size_t)str_rfind(path, '/'));

    if (!dir.n)
        dir = S("/");
    for (size_t i = 0; i < p->n_dirs; i++)
        if (str_eqz(dir, p->dirs[i]))
            return;
    if (p->n_dirs < PRIVATE_DIRS)
        p->dirs[p->n_dirs++] = arena_z(p->a, dir);
    else
        p->more_dirs = true;
}

/* ---- copying */

static int copy_bytes(int from, int to, off_t left)
{
    while (left > 0) {
        ssize_t n = sendfile(to, from, NULL, left > 1 << 30 ? 1 << 30 : (size_t)left);
        if (n < 0)
            return -1;
        if (n == 0)
            break; /* it has become shorter */
        left -= n;
    }
    return 0;
}

static int copy_link(const char *from, const char *to, struct err *e)
{
    char target[PATH_MAX];
    ssize_t n = readlink(from, target, sizeof(target) - 1);

    if (n < 0)
        return err_sys(e, "read %s", from);
    target[n] = 0;
    unlink(to);
    return symlink(target, to) < 0 ? err_sys(e, "make %s", to) : 0;
}

static int copy(struct arena *a, const char *from, const char *to, const struct stat *st,
                struct err *e)
{
    if (tree_make(a, arena_z(a, str_sub(str_of(to), 0, (size_t)str_rfind(str_of(to), '/'))), 0755,
                  e) < 0)
        return -1;
    if (S_ISLNK(st->st_mode))
        return copy_link(from, to, e);
    int in = open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int out = in < 0 ? -1
                     : open(to, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                            st->st_mode & 0777);
    int rc = out < 0 || copy_bytes(in, out, st->st_size) < 0 ? -1 : 0;
    if (rc < 0)
        err_sys(e, "copy %s to %s", from, to);
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) < 0 && rc == 0)
        rc = err_sys(e, "write %s", to);
    return rc;
}

/* ---- walking */

static void fts_auto(FTS **t)
{
    if (*t)
        fts_close(*t);
}

/* upper: the changes of what the pod knows as the path. */
static int add_overlay(struct private_files *p, const char *upper, const char *path,
                       const char *pod, struct err *e)
{
    char *roots[] = { (char *)(uintptr_t)upper, NULL }; /* fts does not write to them */
    AUTO(fts) FTS *t = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    size_t skip = strlen(upper);

    for (FTSENT *x; t && (x = fts_read(t));) {
        if ((x->fts_info != FTS_F && x->fts_info != FTS_SL) || !is_file(x->fts_statp))
            continue;
        AUTO(arena) struct arena *a = arena_new();
        str at = arena_printf(a, "%s%s", strcmp(path, "/") == 0 ? "" : path, x->fts_path + skip);
        if (private_is_cache(at, str_of(p->home ? p->home : "")))
            continue;
        p->n++;
        add_dir(p, at);
        const char *to = arena_printf(a, "%s/%s%s", p->copy_to ? p->copy_to : "", pod, at.p).p;
        if (p->copy_to && copy(a, x->fts_path, to, x->fts_statp, e) < 0)
            return -1;
    }
    return 0;
}

static int add_container(struct private_files *p, const char *place, const char *pod, struct err *e)
{
    char path[PATH_MAX];

    for (int i = 0;; i++) {
        AUTO(arena) struct arena *a = arena_new();
        const char *upper = arena_printf(a, "%s/%d", place, i).p;
        ssize_t n = readlink(arena_printf(a, "%s.of", upper).p, path, sizeof(path) - 1);
        if (n < 0 && access(upper, F_OK) < 0)
            return 0;
        path[n > 0 ? n : 0] = 0;
        if (n > 0 && add_overlay(p, upper, path, pod, e) < 0)
            return -1;
    }
}

int private_files_add(struct private_files *p, const char *place, const char *pod, struct err *e)
{
    DIR *d = opendir(place);
    int rc = 0;

    for (struct dirent *x; d && rc == 0 && (x = readdir(d));) {
        AUTO(arena) struct arena *a = arena_new();
        if (x->d_name[0] != '.')
            rc = add_container(p, arena_printf(a, "%s/%s", place, x->d_name).p, pod, e);
    }
    if (d)
        closedir(d);
    return rc;
}
