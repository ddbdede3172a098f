/* See private_files.h. */

#include "cli/private_files.h"

#include "sys/sys.h"

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

/* Holes stay holes: a file may seem to be larger than any disk. */
static int copy_bytes(int from, int to, off_t size)
{
    for (off_t at = 0; at < size;) {
        off_t data = lseek(from, at, SEEK_DATA);
        off_t end = data < 0 ? -1 : lseek(from, data, SEEK_HOLE);
        if (end < 0)
            break; /* a hole up to the end */
        if (lseek(to, data, SEEK_SET) < 0)
            return -1;
        for (at = data; at < end;) {
            size_t n = end - at > 1 << 24 ? 1 << 24 : (size_t)(end - at);
            ssize_t done = sendfile(to, from, &at, n);
            if (done <= 0)
                return done < 0 ? -1 : 0; /* it has become shorter */
        }
    }
    return ftruncate(to, size);
}

/* The directory of path below the one given, made where it is missing; -1, errno. */
static int open_parent(int dir, const char *path)
{
    int at = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (const char *rest = path; at >= 0;) {
        char part[NAME_MAX + 1];
        while (*rest == '/')
            rest++;
        const char *slash = strchr(rest, '/');
        if (!slash)
            return at;
        snprintf(part, sizeof(part), "%.*s", (int)(slash - rest), rest);
        rest = slash;
        int next = mkdirat(at, part, 0755) < 0 && errno != EEXIST
                       ? -1
                       : openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(at);
        at = next;
    }
    return -1;
}

static int copy_link(const char *from, int dir, const char *name)
{
    char target[PATH_MAX];
    ssize_t n = readlink(from, target, sizeof(target) - 1);

    if (n < 0)
        return -1;
    target[n] = 0;
    return symlinkat(target, dir, name);
}

static int copy_file(const char *from, int dir, const char *name, const struct stat *st)
{
    int in = open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int out = in < 0 ? -1
                     : openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                              st->st_mode & 0777);
    int rc = out < 0 || copy_bytes(in, out, st->st_size) < 0 ? -1 : 0;

    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) < 0)
        rc = -1;
    return rc;
}

/* to: "POD/its/path". What is there in its place goes. */
static int copy(int dir, const char *from, const char *to, const struct stat *st)
{
    int parent = open_parent(dir, to);
    const char *name = strrchr(to, '/') + 1;

    if (parent < 0)
        return -1;
    unlinkat(parent, name, 0);
    int rc =
        S_ISLNK(st->st_mode) ? copy_link(from, parent, name) : copy_file(from, parent, name, st);
    int why = errno;
    close(parent);
    errno = why;
    return rc;
}

/* ---- walking */

static void fts_auto(FTS **t)
{
    if (*t)
        fts_close(*t);
}

/* upper: the changes of what the pod knows as the path. */
static void add_overlay(struct private_files *p, const char *upper, const char *path,
                        const char *pod)
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
        const char *to = arena_printf(a, "%s%s", pod, at.p).p;
        if (p->copy_to >= 0 && copy(p->copy_to, x->fts_path, to, x->fts_statp) < 0 &&
            p->failed++ == 0)
            err_sys(&p->why, "%s", at.p);
    }
}

static void add_container(struct private_files *p, const char *place, const char *pod)
{
    char path[PATH_MAX];

    for (int i = 0;; i++) {
        AUTO(arena) struct arena *a = arena_new();
        const char *upper = arena_printf(a, "%s/%d", place, i).p;
        ssize_t n = sys_read_file(AT_FDCWD, arena_printf(a, "%s.of", upper).p, path, sizeof(path));
        if (n < 0 && access(upper, F_OK) < 0)
            return;
        path[n > 0 ? n : 0] = 0;
        if (n > 0)
            add_overlay(p, upper, path, pod);
    }
}

void private_files_add(struct private_files *p, const char *place, const char *pod)
{
    DIR *d = opendir(place);

    for (struct dirent *x; d && (x = readdir(d));) {
        AUTO(arena) struct arena *a = arena_new();
        if (x->d_name[0] != '.')
            add_container(p, arena_printf(a, "%s/%s", place, x->d_name).p, pod);
    }
    if (d)
        closedir(d);
}
