/* Covers what containers may not see. */

#include "sandbox/hide.h"

#include "sandbox/mount.h"
#include "sandbox/registry.h"
#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
    COVER_BYTES = 1 << 20, /* what containers write there is in memory */
    STRICT = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
};

/* ---- what is hidden */

static void add(struct warden_hide *h, struct mount_place *list, size_t *n, const char *path)
{
    AUTO(sys_fd) int fd = path ? open(path, O_PATH | O_CLOEXEC) : -1;
    struct mount_place p = { 0 };

    if (fd >= 0)
        p = mount_place_of(&h->host, h->a, fd);
    if (p.dev)
        list[(*n)++] = p;
}

static void add_own(struct warden_hide *h)
{
    const struct warden_sandbox *s = h->view->sandbox;
    const struct warden_start *st = h->view->start;

    h->own = ARENA_ARRAY(h->a, struct mount_place, s->nmounts + st->nmounts + 3);
    for (size_t i = 0; i < s->nmounts; i++)
        if (!s->mounts[i].host)
            add(h, h->own, &h->nown, s->mounts[i].from);
    for (size_t i = 0; i < st->nmounts; i++)
        if (!st->mounts[i].host)
            add(h, h->own, &h->nown, st->mounts[i].from);
    add(h, h->own, &h->nown, h->view->dir);
    add(h, h->own, &h->nown, st->rootfs);
    add(h, h->own, &h->nown, st->term_from);
}

static int add_hidden(struct warden_hide *h, const struct warden_sandbox *s, struct err *e)
{
    struct registry_list known = { 0 };

    if (s->registry && registry_read(h->a, s->registry, &known, e) < 0)
        return -1;
    h->hidden = ARENA_ARRAY(h->a, struct mount_place, s->hide.n + known.n + 2);
    for (size_t i = 0; i < s->hide.n; i++)
        add(h, h->hidden, &h->nhidden, s->hide.at[i]);
    for (size_t i = 0; i < known.n; i++)
        add(h, h->hidden, &h->nhidden, known.at[i]);
    add(h, h->hidden, &h->nhidden, s->registry);
    return 0;
}

static int open_proc(void)
{
    return open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int warden_hide_init(struct warden_hide *h, struct arena *a, const struct warden_view *v,
                     struct err *e)
{
    *h = (struct warden_hide){ .a = a, .view = v, .procfs = open_proc() };
    if (mount_table_read(&h->host, a, h->procfs, e) < 0 || add_hidden(h, v->sandbox, e) < 0) {
        warden_hide_done(h);
        return -1;
    }
    add(h, h->hidden, &h->nhidden, arena_printf(a, "%s/..", v->dir).p); /* other pods' */
    add_own(h);
    return 0;
}

void warden_hide_done(struct warden_hide *h)
{
    if (h->procfs >= 0)
        close(h->procfs);
    mount_table_done(&h->host);
}

void warden_hide_proc(struct warden_hide *h, const struct warden_root *r)
{
    struct stat s;

    if (fstatat(r->fd, "proc", &s, 0) == 0)
        h->proc = arena_printf(h->a, "%u:%u", major(s.st_dev), minor(s.st_dev)).p;
}

static bool is_own(const struct warden_hide *h, struct mount_place p)
{
    for (size_t i = 0; i < h->nown; i++)
        if (mount_place_is_below(p, h->own[i]))
            return true;
    return false;
}

static bool is_hidden(const struct warden_hide *h, struct mount_place p)
{
    for (size_t i = 0; i < h->nhidden; i++)
        if (mount_place_is_below(p, h->hidden[i]))
            return true;
    return false;
}

/* ---- covers */

/* One that was removed since it was opened cannot be mounted on (ENOENT), and shows nothing: other
 * servers and runs end at any time. */
static int cover(struct warden_root *r, int there, const char *path, struct err *e)
{
    struct stat s;

    if (fstat(there, &s) < 0)
        return err_sys(e, "hide %s", path);
    if (!S_ISDIR(s.st_mode)) {
        AUTO(sys_fd) int null = open("/dev/null", O_PATH | O_CLOEXEC);
        if (null >= 0 && (warden_bind_fd(null, there) == 0 || errno == ENOENT))
            return 0;
        return err_sys(e, "hide %s", path);
    }
    struct err why = { 0 };
    AUTO(sys_fd) int top = warden_tmpfs_on(there, "", COVER_BYTES, s.st_mode & 07777, &why);
    if (top < 0 && why.sys == ENOENT)
        return 0;
    if (top < 0)
        return err_set(e, why.code, "hide %s: %s", path, why.msg);
    if (fchownat(top, "", s.st_uid, s.st_gid, AT_EMPTY_PATH) < 0)
        (void)errno; /* an ordinary user's view: then it is his */
    warden_root_own(r, top);
    return 0;
}

/* What path, in the root, shows of the mount: 1. Where something else is on top, nothing is shown:
 * 0. */
static int cover_at(struct warden_root *r, uint64_t mount, const char *path, struct err *e)
{
    AUTO(sys_fd) int there = sys_openat2(r->fd, *path ? path : "/", O_PATH | O_NOFOLLOW, STRICT);

    if (there < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == EACCES
                   ? 0
                   : err_sys(e, "hide %s", path);
    if (warden_mount_id(there) != mount)
        return 0;
    return cover(r, there, path, e) < 0 ? -1 : 1;
}

static bool is_mount_point(int dir)
{
    struct statx s;

    return statx(dir, "", AT_EMPTY_PATH, STATX_TYPE, &s) == 0 &&
           (s.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

/* A container that could rename a directory above what is hidden would find it at its new path when
 * it is started again: each of them, below the mount at `at`, becomes a mount point, which cannot
 * be renamed. The inner ones first, as binds take along what is mounted below. */
static void pin(struct warden_hide *h, struct warden_root *r, const char *at, const char *rest)
{
    for (size_t n = strlen(rest); n > 0;) {
        while (n > 0 && rest[--n] != '/')
            ;
        if (n == 0)
            return;
        const char *path = arena_printf(h->a, "%s%.*s", at, (int)n, rest).p;
        AUTO(sys_fd) int dir = sys_openat2(r->fd, path, O_PATH | O_DIRECTORY, STRICT);
        if (dir >= 0 && !is_mount_point(dir) && warden_bind_fd(dir, dir) < 0)
            fprintf(stderr, "pin %s: %s\n", path, strerror(errno)); /* in DIR/warden.log */
    }
}

static bool is_of_host(const struct warden_hide *h, const char *dev)
{
    for (size_t i = 0; i < h->host.n; i++)
        if (strcmp(h->host.at[i].dev, dev) == 0)
            return true;
    return false;
}

/* Not an overlay of ours: what containers change there is changed on the machine. */
static bool is_real(const struct warden_hide *h, const struct mount_row *row)
{
    return strcmp(row->type, "overlay") != 0 || is_of_host(h, row->dev);
}

/* What a mount of the root shows. An overlay of ours shows what is at its path on the machine, or,
 * as the root of an image, the image's directory. */
static struct mount_place shown_by(const struct warden_hide *h, const struct mount_row *row,
                                   const char *at)
{
    const char *rootfs = h->view->start->rootfs;

    if (is_real(h, row))
        return (struct mount_place){ .dev = row->dev, .path = row->root };
    if (*at || !rootfs)
        return mount_place_at(&h->host, h->a, *at ? at : "/");
    AUTO(sys_fd) int fd = open(rootfs, O_PATH | O_CLOEXEC);
    return fd < 0 ? (struct mount_place){ 0 } : mount_place_of(&h->host, h->a, fd);
}

static int cover_mount(struct warden_hide *h, struct warden_root *r, const struct mount_row *row,
                       const char *at, struct err *e)
{
    struct mount_place shown = shown_by(h, row, at);

    if (h->proc && strcmp(row->type, "proc") == 0 && strcmp(row->dev, h->proc) != 0)
        return cover_at(r, row->id, at, e) < 0 ? -1 : 0;
    const char **pins = ARENA_ARRAY(h->a, const char *, h->nhidden + 1);
    size_t npins = 0;
    for (size_t i = 0; i < h->nhidden; i++) {
        struct mount_place what = h->hidden[i];
        if (mount_place_is_below(what, shown)) {
            const char *rest = what.path + (strcmp(shown.path, "/") == 0 ? 0 : strlen(shown.path));
            int covered = cover_at(r, row->id, arena_printf(h->a, "%s%s", at, rest).p, e);
            if (covered < 0)
                return -1;
            if (covered && is_real(h, row))
                pins[npins++] = rest;
        } else if (mount_place_is_below(shown, what) && !is_own(h, shown)) {
            if (cover_at(r, row->id, at, e) < 0)
                return -1;
        }
    }
    for (size_t i = 0; i < npins; i++) /* once all is covered: pins are mounts of their own */
        pin(h, r, at, pins[i]);
    return 0;
}

int warden_hide_cover(struct warden_hide *h, struct warden_root *r, const char *top, struct err *e)
{
    struct mount_table now = { 0 };
    int rc = mount_table_read(&now, h->a, h->procfs, e);

    for (size_t i = 0; rc == 0 && i < now.n; i++)
        if (mount_path_is_below(now.at[i].at, top)) {
            const char *at = now.at[i].at + (strcmp(top, "/") == 0 ? 0 : strlen(top));
            rc = cover_mount(h, r, &now.at[i], strcmp(at, "/") == 0 ? "" : at, e);
        }
    mount_table_done(&now);
    return rc;
}

/* ---- hostPaths */

static bool is_in_roots(const struct warden_sandbox *s, const char *path)
{
    for (size_t i = 0; i < s->host_roots.n; i++)
        if (mount_path_is_below(path, s->host_roots.at[i]))
            return true;
    return s->host_roots.n == 0;
}

/* fd: of the path itself, or of the last directory above it that is there; rest: what is missing.
 */
static int check(const struct warden_hide *h, const struct warden_sandbox *s, int fd,
                 const char *rest, const char *path, struct err *e)
{
    char real[PATH_MAX];
    struct statfs fs;
    struct mount_place p = mount_place_of(&h->host, h->a, fd);

    if (mount_path_of_fd(fd, real, sizeof(real)) < 0 || !p.dev || fstatfs(fd, &fs) < 0)
        return err_set(e, ERR_FORBIDDEN, "hostPath %s: its path on this machine is not known",
                       path);
    if (fs.f_type == PROC_SUPER_MAGIC)
        return err_set(
            e, ERR_FORBIDDEN,
            "hostPath %s is in /proc, through which a pod would reach any process's files", path);
    if (*rest)
        p.path = arena_printf(h->a, "%s/%s", strcmp(p.path, "/") == 0 ? "" : p.path, rest).p;
    if (is_hidden(h, p))
        return err_set(
            e, ERR_FORBIDDEN,
            "hostPath %s leads into a directory with credentials, which is hidden from pods "
            "(a muster server's, or one that --show-home-secrets would show)",
            path);
    const char *whole = arena_printf(h->a, "%s/%s", strcmp(real, "/") == 0 ? "" : real, rest).p;
    if (!is_in_roots(s, whole))
        return err_set(e, ERR_FORBIDDEN,
                       "hostPath %s is not below a directory that --host-path-roots allows", path);
    return 0;
}

int warden_hide_check(const struct warden_hide *h, int fd, const char *path, struct err *e)
{
    return check(h, h->view->sandbox, fd, "", path, e);
}

/* The longest part of the path that is there; rest: what follows. */
static int open_part(const char *path, const char **rest)
{
    char part[PATH_MAX];

    for (size_t n = strlen(path);;) {
        snprintf(part, sizeof(part), "%.*s", n ? (int)n : 1, path);
        *rest = path + n;
        int fd = sys_openat2(AT_FDCWD, part, O_PATH, RESOLVE_NO_MAGICLINKS);
        if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* in a container that forbids it */
            fd = open(part, O_PATH | O_CLOEXEC);
        if (fd >= 0 || errno != ENOENT || n == 0)
            return fd;
        do
            n--;
        while (n > 0 && path[n] != '/');
    }
}

int warden_host_path_check(const struct warden_sandbox *s, const char *path, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    struct warden_hide h = { .a = a, .procfs = open_proc() };
    const char *rest;
    AUTO(sys_fd) int fd = open_part(path, &rest);

    if (fd < 0)
        return err_sys(e, "hostPath %s", path);
    int rc = mount_table_read(&h.host, a, h.procfs, e) < 0 || add_hidden(&h, s, e) < 0 ||
                     check(&h, s, fd, rest + strspn(rest, "/"), path, e) < 0
                 ? -1
                 : 0;
    warden_hide_done(&h);
    return rc;
}
