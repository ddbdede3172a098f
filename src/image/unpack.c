/* No name of an archive is ever given to the kernel as a path from the outside: the directory that
 * an entry is in is opened by openat2(RESOLVE_IN_ROOT) below the root, for which links cannot lead
 * out, and the entry is made in it by its last name, where no link is followed. */

#include "image/unpack.h"

#include "sys/sys.h"
#include "sys/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    INSIDE = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
    SET_ID = S_ISUID | S_ISGID,
};

void image_unpack_init(struct image_unpack *u, int root, const struct image_limits *limits)
{
    *u = (struct image_unpack){
        .root = root, .limits = limits, .as_root = geteuid() == 0, .parent_fd = -1
    };
}

static void forget_parent(struct image_unpack *u)
{
    if (u->parent_fd >= 0)
        close(u->parent_fd);
    u->parent_fd = -1;
}

void image_unpack_done(struct image_unpack *u)
{
    forget_parent(u);
}

/* ---- paths */

int image_path_clean(const char *path, char *out, struct err *e)
{
    size_t n = 0, parts = 0;
    str rest = str_of(path);

    while (rest.p) {
        str part = str_cut(&rest, '/');
        if (!part.n || str_eqz(part, "."))
            continue;
        if (str_eqz(part, ".."))
            return err_set(e, ERR_INVALID, "its path has \"..\"");
        if (part.n > IMAGE_NAME_BYTES || n + part.n + 1 > IMAGE_PATH_BYTES)
            return err_set(e, ERR_TOO_LARGE, "its path is longer than the limit (%d, a name %d)",
                           IMAGE_PATH_BYTES, IMAGE_NAME_BYTES);
        if (++parts > IMAGE_DEPTH)
            return err_set(e, ERR_TOO_LARGE, "its path has more than %d parts", IMAGE_DEPTH);
        if (n)
            out[n++] = '/';
        memcpy(out + n, part.p, part.n);
        n += part.n;
    }
    out[n] = '\0';
    return 0;
}

static bool is_whiteout(const char *name)
{
    return str_starts(str_of(name), S(IMAGE_WHITEOUT));
}

/* The directory part goes to dir, "" for the root. Whiteouts have nothing below them. */
static int split(const char *path, char *dir, const char **name, struct err *e)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;

    memcpy(dir, path, n);
    dir[n] = '\0';
    *name = slash ? slash + 1 : path;
    if (is_whiteout(dir) || strstr(dir, "/" IMAGE_WHITEOUT))
        return err_set(e, ERR_INVALID, "a whiteout cannot be a directory");
    return 0;
}

/* ---- directories */

static int make_empty(int dir, const char *name)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return -1;
    close(fd);
    return 0;
}

static int open_inside(const struct image_unpack *u, const char *dir)
{
    return sys_openat2(u->root, *dir ? dir : ".", O_PATH | O_DIRECTORY, INSIDE);
}

/* Makes each part that is missing, in the one before it. */
static int make_parents(struct image_unpack *u, const char *dir)
{
    char part[IMAGE_PATH_BYTES + 1] = "";
    int at = open_inside(u, "");
    str rest = str_of(dir);

    for (size_t n = 0; at >= 0 && rest.p;) {
        str name = str_cut(&rest, '/');
        n += name.n;
        memcpy(part, dir, n);
        part[n] = '\0';
        int next = open_inside(u, part);
        if (next < 0 && errno == ENOENT) {
            const char *last = part + n - name.n;
            u->files++;
            if (mkdirat(at, last, 0755) == 0 && fchmodat(at, last, 0755, 0) == 0) /* any umask */
                next = openat(at, last, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (next >= 0 && make_empty(next, IMAGE_IMPLICIT) < 0) {
                close(next);
                next = -1;
            }
        }
        int why = errno;
        close(at);
        errno = why;
        at = next;
        n++; /* the slash */
    }
    return at;
}

/* Of the entry's directory; borrowed. */
static int parent_of(struct image_unpack *u, const char *dir, struct err *e)
{
    if (u->parent_fd >= 0 && strcmp(u->parent, dir) == 0)
        return u->parent_fd;
    forget_parent(u);
    u->parent_fd = open_inside(u, dir);
    if (u->parent_fd < 0 && errno == ENOENT)
        u->parent_fd = make_parents(u, dir);
    if (u->parent_fd < 0)
        return err_sys(e, "its directory");
    memcpy(u->parent, dir, strlen(dir) + 1);
    return u->parent_fd;
}

/* ---- entries */

struct place {
    struct archive_entry *at;
    int dir;
    const char *name;
    mode_t mode;
    char path[IMAGE_PATH_BYTES + 1];
    char dir_path[IMAGE_PATH_BYTES + 1];
};

static struct timespec mtime_of(struct archive_entry *at)
{
    long ns = archive_entry_mtime_nsec(at);

    return (struct timespec){ archive_entry_mtime(at), ns >= 0 && ns < 1000000000 ? ns : 0 };
}

static int own(const struct image_unpack *u, int fd, struct archive_entry *at)
{
    int64_t uid = archive_entry_uid(at), gid = archive_entry_gid(at);

    if (!u->as_root)
        return 0;
    if (uid < 0 || uid >= UINT32_MAX || gid < 0 || gid >= UINT32_MAX) {
        errno = EOVERFLOW;
        return -1;
    }
    return fchownat(fd, "", (uid_t)uid, (gid_t)gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW);
}

/* Whether what is there can stay: a directory where the entry is one. Else it is removed. */
static int clear(struct image_unpack *u, const struct place *p, bool is_dir, struct err *e)
{
    struct stat st;

    if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : err_sys(e, "stat");
    if (is_dir && S_ISDIR(st.st_mode))
        return 1;
    int rc = tree_remove(p->dir, p->name, e);
    u->parent[0] = '/'; /* no path begins so: what was removed may have been on the way */
    return rc;
}

static int make_dir(struct image_unpack *u, const struct place *p, struct err *e)
{
    bool is_root = !*p->name;
    int there = is_root ? 1 : clear(u, p, true, e);

    if (there < 0)
        return -1;
    if (!there && mkdirat(p->dir, p->name, 0700) < 0)
        return err_sys(e, "make it");
    AUTO(sys_fd)
    int fd =
        openat(p->dir, is_root ? "." : p->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || own(u, fd, p->at) < 0 || fchmod(fd, p->mode | (u->as_root ? 0 : 0700)) < 0)
        return err_sys(e, "make it");
    unlinkat(fd, IMAGE_IMPLICIT, 0);
    return 0;
}

static int fill(struct image_unpack *u, struct image_stream *s, int fd, int64_t size, struct err *e)
{
    const void *from;
    size_t n;
    int64_t at;
    int rc;

    while ((rc = image_stream_data(s, &from, &n, &at, e)) > 0)
        if (at < 0 || at > size || (int64_t)n > size - at)
            return err_set(e, ERR_INVALID, "it has more data than its size");
        else if (sys_write_all(fd, (str){ from, n }, at) < 0)
            return err_sys(e, "write");
    if (rc < 0)
        return -1;
    u->bytes += size;
    return ftruncate(fd, size) < 0 ? err_sys(e, "write") : 0;
}

static int make_file(struct image_unpack *u, struct image_stream *s, const struct place *p,
                     struct err *e)
{
    struct timespec times[2] = { mtime_of(p->at), mtime_of(p->at) };
    int64_t size = archive_entry_size(p->at);

    if (size < 0 || size > u->limits->bytes - u->bytes)
        return err_set(e, ERR_TOO_LARGE,
                       "the image is larger than the limit of %lld bytes when it is unpacked",
                       (long long)u->limits->bytes);
    if (clear(u, p, false, e) < 0)
        return -1;
    AUTO(sys_fd)
    int fd = openat(p->dir, p->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_sys(e, "make it");
    if (fill(u, s, fd, size, e) < 0)
        return -1;
    u->dropped.setuid += (archive_entry_perm(p->at) & SET_ID) != 0;
    if (own(u, fd, p->at) < 0 || fchmod(fd, p->mode | (u->as_root ? 0 : 0400)) < 0 ||
        futimens(fd, times) < 0)
        return err_sys(e, "make it");
    return 0;
}

static int make_symlink(struct image_unpack *u, const struct place *p, struct err *e)
{
    struct timespec times[2] = { mtime_of(p->at), mtime_of(p->at) };
    const char *to = archive_entry_symlink(p->at);

    if (!to || !*to || strlen(to) > IMAGE_PATH_BYTES)
        return err_set(e, ERR_INVALID, "the target of the link is empty or too long");
    if (clear(u, p, false, e) < 0)
        return -1;
    if (symlinkat(to, p->dir, p->name) < 0)
        return err_sys(e, "make it");
    AUTO(sys_fd) int fd = openat(p->dir, p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || own(u, fd, p->at) < 0)
        return err_sys(e, "make it");
    utimensat(p->dir, p->name, times, AT_SYMLINK_NOFOLLOW); /* nothing depends on it */
    return 0;
}

/* To a file of the same layer, found as the entry's own directory is. */
static int make_hardlink(struct image_unpack *u, const struct place *p, const char *to,
                         struct err *e)
{
    char path[IMAGE_PATH_BYTES + 1] = "", dir[IMAGE_PATH_BYTES + 1];
    const char *name;
    struct stat st;

    if (image_path_clean(to, path, e) < 0 || split(path, dir, &name, e) < 0)
        return err_wrap(e, "hard link to %.60s", to);
    if (strcmp(path, p->path) == 0)
        return 0;
    AUTO(sys_fd) int from = open_inside(u, dir);
    if (from < 0 || !*name || is_whiteout(name) ||
        fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_set(e, ERR_INVALID, "hard link to %.80s, which the layer does not have", to);
    if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
        return err_set(e, ERR_INVALID, "hard link to %.80s, which is not a file", to);
    if (clear(u, p, false, e) < 0)
        return -1;
    return linkat(from, name, p->dir, p->name, 0) < 0 ? err_sys(e, "hard link to %.80s", to) : 0;
}

/* Kept as an empty file until the layer is put on others. */
static int make_whiteout(const struct place *p, struct err *e)
{
    const char *hidden = p->name + strlen(IMAGE_WHITEOUT);

    if (strcmp(p->name, IMAGE_OPAQUE) != 0) {
        if (is_whiteout(hidden))
            return 0; /* notes of a file system, for no one else */
        if (!*hidden || strcmp(hidden, ".") == 0 || strcmp(hidden, "..") == 0)
            return err_set(e, ERR_INVALID, "a whiteout of no file");
    }
    return make_empty(p->dir, p->name) < 0 ? err_sys(e, "make it") : 0;
}

static int make_by_type(struct image_unpack *u, struct image_stream *s, const struct place *p,
                        struct err *e)
{
    const char *hardlink = archive_entry_hardlink(p->at);

    if (hardlink)
        return *p->name ? make_hardlink(u, p, hardlink, e)
                        : err_set(e, ERR_INVALID, "the root cannot be a link");
    mode_t type = archive_entry_filetype(p->at);
    if (type == S_IFDIR)
        return make_dir(u, p, e);
    if (!*p->name)
        return err_set(e, ERR_INVALID, "the root must be a directory");
    if (type == S_IFREG)
        return make_file(u, s, p, e);
    if (type == S_IFLNK)
        return make_symlink(u, p, e);
    u->dropped.devices++;
    return 0;
}

static int make_entry(struct image_unpack *u, struct image_stream *s, struct archive_entry *at,
                      const char *path, struct err *e)
{
    struct place p = { .at = at, .mode = archive_entry_perm(at) & 01777 };

    if (++u->files > u->limits->files)
        return err_set(e, ERR_TOO_LARGE, "the image has more than the limit of %lld files",
                       (long long)u->limits->files);
    if (image_path_clean(path, p.path, e) < 0 || split(p.path, p.dir_path, &p.name, e) < 0)
        return -1;
    p.dir = parent_of(u, p.dir_path, e);
    if (p.dir < 0)
        return -1;
    return is_whiteout(p.name) ? make_whiteout(&p, e) : make_by_type(u, s, &p, e);
}

int image_unpack(struct image_unpack *u, struct image_stream *s, struct err *e)
{
    struct archive_entry *at;
    int rc;

    if (fchmod(u->root, 0755) < 0 || make_empty(u->root, IMAGE_IMPLICIT) < 0)
        return err_sys(e, "make a file");
    while ((rc = image_stream_next(s, &at, e)) > 0) {
        const char *path = archive_entry_pathname(at);
        if (!path)
            return err_set(e, ERR_INVALID, "an entry has no path");
        if (make_entry(u, s, at, path, e) < 0)
            return err_wrap(e, "entry %.80s", path);
    }
    return rc;
}
