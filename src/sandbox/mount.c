/* Mounts by descriptor (open_tree, move_mount), so that no symbolic link inside a root leads out of
 * it. Binds are recursive: a user namespace refuses others over mounts that it may not take off. */

#include "sandbox/mount.h"

#include "sys/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { IN_ROOT = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };

uint64_t warden_mount_id(int fd)
{
    struct statx s;

    return statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &s) < 0 ? 0 : s.stx_mnt_id;
}

void warden_root_own(struct warden_root *r, int fd)
{
    if (r->nours < COUNT(r->ours))
        r->ours[r->nours++] = warden_mount_id(fd);
}

static size_t place_of(const struct warden_root *r, int fd)
{
    uint64_t id = warden_mount_id(fd);
    size_t i = 0;

    while (i < r->nours && r->ours[i] != id)
        i++;
    return i;
}

bool warden_root_is_ours(const struct warden_root *r, int fd)
{
    return place_of(r, fd) < r->nours;
}

static bool is_lent(const struct warden_root *r, int fd)
{
    size_t i = place_of(r, fd);

    return i < r->nours && r->lent[i];
}

int warden_tmpfs_on(int dir, const char *path, int64_t size_bytes, unsigned mode, struct err *e)
{
    AUTO(sys_fd) int fs = fsopen("tmpfs", FSOPEN_CLOEXEC);
    char size[32];
    char octal[16];

    if (fs < 0)
        return err_sys(e, "tmpfs");
    snprintf(size, sizeof(size), "%lld", (long long)size_bytes);
    snprintf(octal, sizeof(octal), "%04o", mode);
    if ((size_bytes && fsconfig(fs, FSCONFIG_SET_STRING, "size", size, 0) < 0) ||
        fsconfig(fs, FSCONFIG_SET_STRING, "mode", octal, 0) < 0 ||
        fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return err_sys(e, "make a tmpfs");
    int fd = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    if (fd < 0)
        return err_sys(e, "mount a tmpfs");
    unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | (*path ? 0 : MOVE_MOUNT_T_EMPTY_PATH);
    if (move_mount(fd, "", dir, path, flags) < 0) {
        err_sys(e, "mount a tmpfs on %s", path);
        close(fd);
        return -1;
    }
    return fd;
}

int warden_bind(int from_dir, const char *from, int to_dir, const char *to)
{
    AUTO(sys_fd)
    int tree = open_tree(from_dir, from,
                         OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW);

    return tree < 0 ? -1 : move_mount(tree, "", to_dir, to, MOVE_MOUNT_F_EMPTY_PATH);
}

int warden_bind_fd(int from, int to)
{
    AUTO(sys_fd)
    int tree = open_tree(
        from, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | (unsigned)AT_EMPTY_PATH);

    return tree < 0
               ? -1
               : move_mount(tree, "", to, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

static bool is_in(const char *name, const char *const *list)
{
    for (; list && *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

static void mirror_entry(int from, int to, const char *name)
{
    char target[PATH_MAX];
    struct stat s;

    if (fstatat(from, name, &s, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (S_ISLNK(s.st_mode)) {
        ssize_t n = readlinkat(from, name, target, sizeof(target) - 1);
        if (n >= 0) {
            target[n] = 0;
            symlinkat(target, to, name);
        }
        return;
    }
    if (S_ISDIR(s.st_mode)) {
        mkdirat(to, name, 0755);
    } else {
        int fd = openat(to, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (fd >= 0)
            close(fd);
    }
    if (warden_bind(from, name, to, name) < 0)
        fprintf(stderr, "bind %s: %s\n", name, strerror(errno)); /* in DIR/warden.log */
}

int warden_mirror(int from, int to, const char *const *skip, struct err *e)
{
    int fd = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);

    if (!d)
        return err_sys(e, "read a directory to show it in the container");
    for (struct dirent *at; (at = readdir(d));)
        if (strcmp(at->d_name, ".") != 0 && strcmp(at->d_name, "..") != 0 &&
            !is_in(at->d_name, skip))
            mirror_entry(fd, to, at->d_name);
    closedir(d);
    return 0;
}

/* Covers the directory with a tmpfs that shows the same. */
static int cover(struct warden_root *r, int dir, struct err *e)
{
    struct stat s;
    AUTO(sys_fd) int old = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (old < 0 || fstat(old, &s) < 0)
        return err_sys(e, "open");
    AUTO(sys_fd) int top = warden_tmpfs_on(dir, "", r->bytes, s.st_mode & 07777, e);
    if (top < 0)
        return -1;
    if (fchownat(top, "", s.st_uid, s.st_gid, AT_EMPTY_PATH) < 0)
        (void)errno; /* an ordinary user's view: then it is his */
    warden_root_own(r, top);
    return warden_mirror(old, top, NULL, e);
}

static int make_last(int parent, const char *name, bool dir)
{
    if (dir)
        return mkdirat(parent, name, 0755) < 0 && errno != EEXIST ? -1 : 0;
    int fd = openat(parent, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? -1 : 0;
}

/* Whether a link leads into a pod's volume. Pods without namespaces have such links on this machine
 * (links.c), at mount paths that others may have as well; they go when those pods do. */
static bool is_of_pods(const char *target)
{
    return fnmatch("*/pods/*/volumes/*", target, 0) == 0 ||
           fnmatch("*/volumes/pvc-*", target, 0) == 0 || fnmatch("*/claims/*/*", target, 0) == 0;
}

/* The first part of path that is another pod's link is taken out of what this one sees: 1. 0: there
 * is none. */
static int hide_link(struct warden_root *r, const char *path, struct err *e)
{
    char have[PATH_MAX] = ".";
    char target[PATH_MAX];

    for (str rest = str_of(path); rest.p;) {
        char next[PATH_MAX + 2];
        char last[NAME_MAX + 1];
        str part = str_cut(&rest, '/');
        if (part.n == 0)
            continue;
        AUTO(sys_fd) int parent = sys_openat2(r->fd, have, O_PATH | O_DIRECTORY, IN_ROOT);
        if (parent < 0)
            return 0;
        snprintf(last, sizeof(last), "%" PRI_STR, STR_ARG(part));
        ssize_t n = readlinkat(parent, last, target, sizeof(target) - 1);
        target[n > 0 ? n : 0] = 0;
        if (n > 0 && is_of_pods(target) && !is_lent(r, parent)) {
            if (!warden_root_is_ours(r,
                                     parent)) /* this machine's own: the next turn finds a copy */
                return cover(r, parent, e) < 0 ? -1 : 1;
            return unlinkat(parent, last, 0) < 0 ? err_sys(e, "%s in the container", path) : 1;
        }
        snprintf(next, sizeof(next), "%s/%" PRI_STR, have, STR_ARG(part));
        snprintf(have, sizeof(have), "%.*s", PATH_MAX - 1, next);
    }
    return 0;
}

/* Makes the first part of path that is missing. */
static int make_next(struct warden_root *r, const char *path, bool dir, struct err *e)
{
    char have[PATH_MAX] = ".";
    str rest = str_of(path);

    while (rest.p) {
        char next[PATH_MAX + 2];
        str part = str_cut(&rest, '/');
        if (part.n == 0)
            continue;
        snprintf(next, sizeof(next), "%s/%" PRI_STR, have, STR_ARG(part));
        int fd = sys_openat2(r->fd, next, O_PATH, IN_ROOT);
        if (fd >= 0) {
            close(fd);
            snprintf(have, sizeof(have), "%.*s", PATH_MAX - 1, next);
            continue;
        }
        if (errno != ENOENT)
            return err_sys(e, "%s in the container", path);
        AUTO(sys_fd) int parent = sys_openat2(r->fd, have, O_PATH | O_DIRECTORY, IN_ROOT);
        if (parent < 0)
            return err_sys(e, "%s in the container", path);
        if (!warden_root_is_ours(r, parent))
            return cover(r, parent, e); /* the next turn makes it */
        char last[NAME_MAX + 1];
        snprintf(last, sizeof(last), "%" PRI_STR, STR_ARG(part));
        bool whole = str_trim(rest).n == 0 || strspn(rest.p, "/") == rest.n;
        /* A link that leads nowhere gives way; elsewhere it may be in somebody's volume. */
        if (strncmp(path, "/etc/", 5) == 0)
            unlinkat(parent, last, 0);
        if (make_last(parent, last, dir || !whole) < 0) {
            if (errno == EOVERFLOW) /* an overlay cannot copy a directory of unknown owners */
                return cover(r, parent, e);
            return err_sys(e, "make %s in the container", path);
        }
        return 0; /* what is below it is made there, in the next turn */
    }
    return 0;
}

int warden_root_find(const struct warden_root *r, const char *path)
{
    return sys_openat2(r->fd, path, O_PATH, IN_ROOT);
}

int warden_root_at(struct warden_root *r, const char *path, bool dir, struct err *e)
{
    for (int turn = 0; turn < 256; turn++) {
        int hidden = hide_link(r, path, e);
        if (hidden < 0)
            return -1;
        if (hidden)
            continue;
        int fd = sys_openat2(r->fd, path, O_PATH, IN_ROOT);
        if (fd >= 0)
            return fd;
        if (errno != ENOENT)
            return err_sys(e, "%s in the container", path);
        if (make_next(r, path, dir, e) < 0)
            return -1;
    }
    return err_set(e, ERR_IO, "make %s in the container: too many symbolic links", path);
}

int warden_root_bind(struct warden_root *r, int from, const char *to, bool ro, struct err *e)
{
    struct stat s;
    struct mount_attr attr = { .attr_set = (r->devices ? 0u : MOUNT_ATTR_NODEV) |
                                           (ro ? MOUNT_ATTR_RDONLY : 0u) };

    if (fstat(from, &s) < 0)
        return err_sys(e, "mount on %s", to);
    AUTO(sys_fd) int at = warden_root_at(r, to, S_ISDIR(s.st_mode), e);
    if (at < 0)
        return -1;
    AUTO(sys_fd)
    int tree = open_tree(
        from, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | (unsigned)AT_EMPTY_PATH);
    if (tree < 0)
        return err_sys(e, "mount on %s", to);
    if (attr.attr_set &&
        mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0)
        return err_sys(e, "mount on %s%s", to, ro ? " read-only" : "");
    if (move_mount(tree, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
        return err_sys(e, "mount on %s", to);
    if (!ro) {
        size_t place = r->nours;
        warden_root_own(r, tree);
        if (r->nours > place)
            r->lent[place] = true;
    }
    return 0;
}

static int path_of(int fd, char out[PATH_MAX])
{
    char at[64];

    snprintf(at, sizeof(at), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(at, out, PATH_MAX - 1);
    out[n > 0 ? n : 0] = '\0';
    return n > 0 ? 0 : -1;
}

/* Links are followed, and where that led is looked at: one with an absolute path may stay inside,
 * and containers that have level shared alone may lack openat2. EXDEV: outside. */
static int open_beneath(int dir, const char *path, int flags)
{
    char whole[PATH_MAX];
    char part[PATH_MAX];
    int fd = openat(dir, path, O_PATH | O_CLOEXEC | flags);

    if (fd < 0)
        return -1;
    if (path_of(dir, whole) == 0 && path_of(fd, part) == 0) {
        size_t n = strcmp(whole, "/") == 0 ? 0 : strlen(whole);
        if (strncmp(part, whole, n) == 0 && (part[n] == '/' || part[n] == '\0'))
            return fd;
    }
    close(fd);
    errno = EXDEV;
    return -1;
}

static int no_subpath(struct err *e, const char *subpath)
{
    if (errno == EXDEV)
        return err_set(e, ERR_INVALID, "subPath %s leads out of the volume", subpath);
    return err_sys(e, "subPath %s", subpath);
}

int warden_beneath(int dir, const char *subpath, struct err *e)
{
    char have[PATH_MAX] = ".";
    char next[PATH_MAX + NAME_MAX];

    for (str rest = str_of(subpath); rest.p;) {
        str part = str_cut(&rest, '/');
        if (part.n == 0)
            continue;
        AUTO(sys_fd) int parent = open_beneath(dir, have, O_DIRECTORY);
        snprintf(next, sizeof(next), "%" PRI_STR, STR_ARG(part));
        if (parent < 0 || (faccessat(parent, next, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
                           mkdirat(parent, next, 0755) < 0 && errno != EEXIST))
            return no_subpath(e, subpath);
        snprintf(next, sizeof(next), "%s/%" PRI_STR, have, STR_ARG(part));
        snprintf(have, sizeof(have), "%.*s", PATH_MAX - 1, next);
    }
    int fd = open_beneath(dir, have, 0);
    return fd < 0 ? no_subpath(e, subpath) : fd;
}
