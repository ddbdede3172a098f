/* Whiteouts hide what lower layers have, never what their own layer has, so they go first. All is
 * done by descriptors of directories, in which no link is followed. */

#include "image/merge.h"

#include "base/arena.h"
#include "base/vec.h"
#include "image/unpack.h"
#include "sys/sys.h"
#include "sys/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DIR_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
    INSIDE = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
};

struct merge {
    int root;
    char path[IMAGE_PATH_BYTES + IMAGE_NAME_BYTES + 2]; /* of the directory; "" or "a/b/" */
    size_t n;
};

struct names {
    struct arena *a;
    struct {
        VEC(const char *);
    } list;
};

static int names_read(struct names *out, int dir, struct err *e)
{
    int fd = openat(dir, ".", DIR_FLAGS);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);

    if (!d) {
        err_sys(e, "read a directory");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    for (struct dirent *at; (at = readdir(d));)
        if (strcmp(at->d_name, ".") != 0 && strcmp(at->d_name, "..") != 0)
            vec_push(&out->list, arena_z(out->a, str_of(at->d_name)));
    closedir(d);
    return 0;
}

static void names_done(struct names *n)
{
    vec_done(&n->list);
    arena_free(n->a);
}

static bool is_whiteout(const char *name)
{
    return strncmp(name, IMAGE_WHITEOUT, strlen(IMAGE_WHITEOUT)) == 0;
}

/* ---- what the layer hides */

static int remove_all(int dir, struct err *e)
{
    struct names all = { .a = arena_new() };
    int rc = names_read(&all, dir, e);

    for (size_t i = 0; rc == 0 && i < all.list.n; i++)
        rc = tree_remove(dir, all.list.at[i], e);
    names_done(&all);
    return rc;
}

static int apply_whiteouts(const struct names *in, int to, struct err *e)
{
    for (size_t i = 0; i < in->list.n; i++) {
        const char *name = in->list.at[i];
        if (strcmp(name, IMAGE_OPAQUE) == 0) {
            if (remove_all(to, e) < 0)
                return -1;
        } else if (is_whiteout(name) && strcmp(name, IMAGE_IMPLICIT) != 0 &&
                   tree_remove(to, name + strlen(IMAGE_WHITEOUT), e) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- files */

static int copy_bytes(int from, int to)
{
    ssize_t n;

    do
        n = sendfile(to, from, NULL, 1 << 30);
    while (n > 0 || (n < 0 && errno == EINTR));
    return (int)n;
}

static int copy_link(int from, int to, const char *name, const struct stat *st)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(from, name, target, sizeof(target) - 1);

    if (n < 0)
        return -1;
    target[n] = '\0';
    if (symlinkat(target, to, name) < 0)
        return -1;
    return geteuid() == 0 ? fchownat(to, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW) : 0;
}

static int copy_file(int from, int to, const char *name, const struct stat *st)
{
    struct timespec times[2] = { st->st_mtim, st->st_mtim };

    if (S_ISLNK(st->st_mode))
        return copy_link(from, to, name, st);
    AUTO(sys_fd) int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    AUTO(sys_fd)
    int out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (in < 0 || out < 0 || copy_bytes(in, out) < 0 ||
        (geteuid() == 0 && fchown(out, st->st_uid, st->st_gid) < 0))
        return -1;
    return fchmod(out, st->st_mode & 07777) < 0 ? -1 : futimens(out, times);
}

static int put_file(int from, int to, const char *name, const struct stat *st, struct err *e)
{
    if (tree_remove(to, name, e) < 0)
        return -1;
    if (linkat(from, name, to, name, 0) == 0)
        return 0;
    if (errno != EMLINK && errno != EPERM && errno != EOPNOTSUPP && errno != EXDEV)
        return err_sys(e, "link");
    return copy_file(from, to, name, st) < 0 ? err_sys(e, "copy") : 0;
}

/* ---- directories */

static int merge_dir(struct merge *m, int from, int to, struct err *e);

static bool is_implicit(int from)
{
    return faccessat(from, IMAGE_IMPLICIT, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The directory in the image that one of the layer stands for. A layer that has no entry for it
 * means the one that is there, also behind a link: bin/x belongs in usr/bin where bin is a link. */
static int open_target(const struct merge *m, int from, int to, const char *name,
                       const struct stat *st, struct err *e)
{
    bool implicit = is_implicit(from);
    struct stat there;

    if (fstatat(to, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
        there.st_mode = 0;
    if (implicit && S_ISLNK(there.st_mode)) {
        int fd = sys_openat2(m->root, m->path, O_RDONLY | O_DIRECTORY, INSIDE);
        if (fd >= 0)
            return fd;
    }
    bool made = !S_ISDIR(there.st_mode);
    if (made && (tree_remove(to, name, e) < 0 ||
                 (mkdirat(to, name, 0700) < 0 && err_sys(e, "make a directory") < 0)))
        return -1;
    int fd = openat(to, name, DIR_FLAGS);
    if (fd < 0)
        return err_sys(e, "open a directory");
    if ((made || !implicit) && ((geteuid() == 0 && fchown(fd, st->st_uid, st->st_gid) < 0) ||
                                fchmod(fd, st->st_mode & 07777) < 0)) {
        err_sys(e, "make a directory");
        close(fd);
        return -1;
    }
    return fd;
}

static int put_dir(struct merge *m, int from, int to, const char *name, const struct stat *st,
                   struct err *e)
{
    AUTO(sys_fd) int in = openat(from, name, DIR_FLAGS);
    size_t n = m->n, len = strlen(name);

    if (in < 0)
        return err_sys(e, "open a directory");
    if (n + len + 2 > sizeof(m->path))
        return err_set(e, ERR_TOO_LARGE, "a path is too long");
    memcpy(m->path + n, name, len + 1);
    AUTO(sys_fd) int out = open_target(m, in, to, name, st, e);
    if (out < 0)
        return -1;
    m->path[n + len] = '/';
    m->n = n + len + 1;
    m->path[m->n] = '\0';
    int rc = merge_dir(m, in, out, e);
    m->n = n;
    m->path[n] = '\0';
    return rc;
}

static int put(struct merge *m, int from, int to, const char *name, struct err *e)
{
    struct stat st;

    if (is_whiteout(name))
        return 0;
    if (image_stopped)
        return err_set(e, ERR_UNAVAILABLE, "interrupted");
    if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(e, "%.60s", name);
    int rc =
        S_ISDIR(st.st_mode) ? put_dir(m, from, to, name, &st, e) : put_file(from, to, name, &st, e);
    return rc < 0 ? err_wrap(e, "%.60s", name) : 0;
}

static int merge_dir(struct merge *m, int from, int to, struct err *e)
{
    struct names in = { .a = arena_new() };
    int rc = names_read(&in, from, e) < 0 ? -1 : apply_whiteouts(&in, to, e);

    for (size_t i = 0; rc == 0 && i < in.list.n; i++)
        rc = put(m, from, to, in.list.at[i], e);
    names_done(&in);
    return rc;
}

int image_merge(int layer, int root, struct err *e)
{
    struct merge *m = mem_new(sizeof(*m));
    struct stat st;

    m->root = root;
    int rc = merge_dir(m, layer, root, e);
    if (rc == 0 && fstat(layer, &st) == 0 && !is_implicit(layer) &&
        ((geteuid() == 0 && fchown(root, st.st_uid, st.st_gid) < 0) ||
         fchmod(root, st.st_mode & 07777) < 0))
        rc = err_sys(e, "the root directory");
    free(m);
    return rc;
}
