/* Files of objects in a volume, exchanged all at once: DIR/name → ..data/name, and ..data → a
 * directory of its own for each state, as kubelet's. */

#include "node/volumes.h"

#include "sys/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool file_is(struct arena *a, const char *dir, const struct projection_file *f)
{
    const char *path = arena_printf(a, "%s/..data/%" PRI_STR, dir, STR_ARG(f->path)).p;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    bool same = false;

    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && (size_t)st.st_size == f->bytes.n && (st.st_mode & 0777) == f->mode) {
        char *now = arena_alloc(a, f->bytes.n + 1);
        same = read(fd, now, f->bytes.n + 1) == (ssize_t)f->bytes.n &&
               (f->bytes.n == 0 || memcmp(now, f->bytes.p, f->bytes.n) == 0);
    }
    close(fd);
    return same;
}

static bool is_current(struct arena *a, const char *dir, const struct projection *files)
{
    char target[256];
    ssize_t n = readlink(arena_printf(a, "%s/..data", dir).p, target, sizeof(target) - 1);
    const char *count;

    if (n <= 0)
        return false;
    target[n] = '\0';
    count = strrchr(target, '.'); /* its name ends in how many files it has */
    if (!count || strtoull(count + 1, NULL, 10) != files->n)
        return false;
    for (size_t i = 0; i < files->n; i++)
        if (!file_is(a, dir, &files->at[i]))
            return false;
    return true;
}

static int write_one(struct arena *a, const char *dir, const struct projection_file *f,
                     struct err *e)
{
    char *path = (char *)(uintptr_t)arena_printf(a, "%s/%" PRI_STR, dir, STR_ARG(f->path)).p;

    for (char *p = path + strlen(dir) + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = '\0';
        if (mkdir(path, 0755) < 0 && errno != EEXIST)
            return err_sys(e, "mkdir %s", path);
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_sys(e, "create %s", path);
    bool fine = sys_write_all(fd, f->bytes, -1) == 0 && fchmod(fd, f->mode) == 0;
    int rc = fine ? 0 : err_sys(e, "write %s", path);
    close(fd);
    return rc;
}

int volumes_write_one(const char *dir, const struct projection_file *file, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    const char *path = arena_printf(a, "%s/%" PRI_STR, dir, STR_ARG(file->path)).p;
    str tmp = arena_printf(a, "..%" PRI_STR, STR_ARG(file->path));
    struct projection_file as = { tmp, file->bytes, file->mode };

    if (access(path, F_OK) < 0) /* nobody looks yet */
        return write_one(a, dir, file, e);
    unlink(arena_printf(a, "%s/%s", dir, tmp.p).p);
    if (write_one(a, dir, &as, e) < 0)
        return -1;
    return rename(arena_printf(a, "%s/%s", dir, tmp.p).p, path) < 0 ? err_sys(e, "write %s", path)
                                                                    : 0;
}

/* Links for what people see. */
static int link_all(struct arena *a, const char *dir, const struct projection *files, struct err *e)
{
    for (size_t i = 0; i < files->n; i++) {
        str rest = files->at[i].path, top = str_cut(&rest, '/');
        const char *path = arena_printf(a, "%s/%" PRI_STR, dir, STR_ARG(top)).p;
        const char *to = arena_printf(a, "..data/%" PRI_STR, STR_ARG(top)).p;
        if (symlink(to, path) < 0 && errno != EEXIST)
            return err_sys(e, "link %s", path);
    }
    return 0;
}

/* Of files that are gone. */
static void unlink_dangling(struct arena *a, const char *dir)
{
    DIR *d = opendir(dir);
    struct stat st;

    for (struct dirent *x; d && (x = readdir(d));) {
        const char *path = arena_printf(a, "%s/%s", dir, x->d_name).p;
        if (str_starts(str_of(x->d_name), S("..")) || stat(path, &st) == 0)
            continue;
        if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
            unlink(path);
    }
    if (d)
        closedir(d);
}

int volumes_write(const char *dir, const struct projection *files, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    struct timespec now;
    char old[256] = "";

    if (is_current(a, dir, files))
        return 1;
    const char *data = arena_printf(a, "%s/..data", dir).p;
    ssize_t n = readlink(data, old, sizeof(old) - 1);
    old[n > 0 ? n : 0] = '\0';
    clock_gettime(CLOCK_REALTIME, &now);
    str name = arena_printf(a, "..%lld.%09ld.%zu", (long long)now.tv_sec, now.tv_nsec, files->n);
    const char *fresh = arena_printf(a, "%s/%s", dir, name.p).p;
    if (mkdir(fresh, 0755) < 0)
        return err_sys(e, "mkdir %s", fresh);
    for (size_t i = 0; i < files->n; i++)
        if (write_one(a, fresh, &files->at[i], e) < 0) {
            volumes_remove(fresh, NULL);
            return -1;
        }
    const char *tmp = arena_printf(a, "%s/..data_tmp", dir).p;
    unlink(tmp);
    if (symlink(name.p, tmp) < 0 || rename(tmp, data) < 0)
        return err_sys(e, "link %s", data);
    if (link_all(a, dir, files, e) < 0)
        return -1;
    unlink_dangling(a, dir);
    if (old[0] && !strchr(old, '/'))
        volumes_remove(arena_printf(a, "%s/%s", dir, old).p, NULL);
    return 0;
}
