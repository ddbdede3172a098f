/* Builds the root of a container and moves into it. The caller has a mount namespace of its own, so
 * all of this is gone with its last process. */

#include "sandbox/root.h"

#include "sandbox/devices.h"
#include "sandbox/hide.h"
#include "sandbox/mask.h"
#include "sandbox/mount.h"
#include "sandbox/overlay.h"
#include "sys/sys.h"
#include "sys/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not shown as they are on this machine. */
static const char *const replaced[] = { "dev", "proc", "sys", "tmp", "lost+found", NULL };

static const char *in_dir(char out[PATH_MAX], const char *dir, const char *name)
{
    snprintf(out, PATH_MAX, "%s/%s", dir, name);
    return out;
}

int warden_view_pod(const struct warden_sandbox *s, const char *dir, struct err *e)
{
    char path[PATH_MAX];

    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
        return err_sys(e, "keep mounts to ourselves");
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
        return err_sys(e, "mount /proc");
    /* Holds /dev/shm and the place where roots are built. */
    if (mkdir(in_dir(path, dir, "mnt"), 0700) < 0 && errno != EEXIST)
        return err_sys(e, "make %s", path);
    AUTO(sys_fd) int mnt = warden_tmpfs_on(AT_FDCWD, path, 0, 0711, e);
    if (mnt < 0 || mkdirat(mnt, "shm", 01777) < 0 || mkdirat(mnt, "root", 0755) < 0 ||
        mkdirat(mnt, "over", 0700) < 0 || mkdirat(mnt, "none", 0555) < 0)
        return mnt < 0 ? err_wrap(e, "/dev/shm") : err_sys(e, "make /dev/shm");
    for (size_t i = 0; i < s->ntmpfs; i++) {
        if (sys_mkdirs(s->tmpfs[i].path, 0755) < 0)
            return err_sys(e, "make %s", s->tmpfs[i].path);
        AUTO(sys_fd)
        int fd = warden_tmpfs_on(AT_FDCWD, s->tmpfs[i].path, s->tmpfs[i].size_bytes, 0777, e);
        if (fd < 0)
            return err_wrap(e, "%s", s->tmpfs[i].path);
    }
    return 0;
}

/* A directory of the container's own for what it changes. On a disk that of the run before it goes
 * first. */
static int open_changes(struct warden_overlay *o, const struct warden_view *v, struct err *e)
{
    char path[PATH_MAX];
    int fd = -1;

    if (v->sandbox->over_disk) {
        snprintf(path, sizeof(path), "%.3800s/over", v->dir);
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            return err_sys(e, "make %s", path);
        AUTO(sys_fd) int all = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        snprintf(path, sizeof(path), "%" PRI_STR, STR_ARG(v->start->name));
        tree_remove(all, path, NULL);
        if (mkdirat(all, path, 0700) < 0)
            return err_sys(e, "make %.3800s/over/%.200s", v->dir, path);
        fd = openat(all, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    } else if ((fd = warden_tmpfs_on(AT_FDCWD, in_dir(path, v->dir, "mnt/over"),
                                     v->sandbox->over_bytes, 0700, e)) < 0) {
        return -1;
    }
    warden_overlay_init(o, fd, v->sandbox->over_disk);
    return fd < 0 ? err_sys(e, "open %.3800s/over", v->dir) : 0;
}

/* An imported image has a file beside its root. A shared lock on it, until the minder ends, keeps
 * `muster image rm` from removing the image. Not the directory: a program that gets hold of a
 * descriptor of the minder must not reach what is above the root. */
static int hold_image(int rootfs, const char *name, struct err *e)
{
    int fd = openat(rootfs, "../image.json", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return 0;
    close(fd);
    return err_set(e, ERR_CONFLICT, "rootfs %s is being removed", name);
}

/* An image's files. Where there are no overlays, its top directories. */
static int view_rootfs(struct warden_overlay *o, struct warden_root *r, const char *rootfs,
                       const char *at, struct err *e)
{
    AUTO(sys_fd) int from = open(rootfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (from < 0)
        return err_sys(e, "rootfs %s", rootfs);
    if (hold_image(from, rootfs, e) < 0)
        return -1;
    if (warden_overlay_root(o, r, rootfs, at) == 0)
        return 0;
    return warden_mirror(from, r->fd, replaced, e);
}

/* This machine's files. What could be changed of the system, and of homes, is not changed really.
 */
static int view_machine(struct warden_overlay *o, struct warden_root *r,
                        const struct warden_view *v, const char *at, struct err *e)
{
    AUTO(sys_fd) int from = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (from < 0)
        return err_sys(e, "open /");
    if (v->sandbox->homes.n)
        warden_overlay_envs(o, &v->start->env);
    if (geteuid() == 0 && warden_overlay_root(o, r, "/", at) == 0) {
        if (warden_overlay_rest(o, r, v, replaced, e) < 0)
            return -1;
    } else {
        if (warden_mirror(from, r->fd, replaced, e) < 0)
            return -1;
        warden_overlay_tmp(o, r, v);
    }
    return warden_overlay_homes(o, r, v, e);
}

/* A directory of the container's own, which stays when it is started again. */
static int view_tmp(struct warden_root *r, const struct warden_view *v, bool var, struct err *e)
{
    char path[PATH_MAX];
    char tmp[PATH_MAX];

    snprintf(path, sizeof(path), "%.3000s/%" PRI_STR, in_dir(tmp, v->dir, "tmp"),
             STR_ARG(v->start->name));
    if (sys_mkdirs(path, 0711) < 0)
        return err_sys(e, "make %s", path);
    chmod(path, 01777);
    if (warden_bind(AT_FDCWD, path, r->fd, "tmp") < 0)
        return err_sys(e, "mount /tmp");
    AUTO(sys_fd) int on = openat(r->fd, "tmp", O_PATH | O_CLOEXEC);
    warden_root_own(r, on);
    AUTO(sys_fd) int to = var ? warden_root_find(r, WARDEN_VAR_TMP) : -1;
    return to >= 0 && warden_bind_fd(on, to) < 0 ? err_sys(e, "mount " WARDEN_VAR_TMP) : 0;
}

static int cover_hidden(struct warden_hide *h, struct warden_root *r, struct err *e)
{
    char top[PATH_MAX];

    if (mount_path_of_fd(r->fd, top, sizeof(top)) < 0)
        return err_sys(e, "the path of the root");
    return warden_hide_cover(h, r, top, e);
}

static int view_base(struct warden_root *r, struct warden_hide *h, const char *at, struct err *e)
{
    const struct warden_view *v = h->view;
    const char *rootfs = v->start->rootfs;
    struct warden_overlay o;

    if (open_changes(&o, v, e) < 0)
        return -1;
    int rc = rootfs ? view_rootfs(&o, r, rootfs, at, e) : view_machine(&o, r, v, at, e);
    warden_overlay_done(&o);
    if (rc < 0)
        return -1;
    mkdirat(r->fd, "dev", 0755);
    mkdirat(r->fd, "proc", 0555);
    mkdirat(r->fd, "sys", 0555);
    mkdirat(r->fd, "tmp", 01777);
    return view_tmp(r, v, o.real_tmp, e);
}

/* What is to be mounted, as O_PATH. */
static int open_from(const struct warden_mount *m, struct err *e)
{
    int from = sys_openat2(AT_FDCWD, m->from, O_PATH, m->exact ? RESOLVE_NO_SYMLINKS : 0);

    if (from < 0 && m->exact && errno == ELOOP)
        return err_set(e, ERR_FORBIDDEN,
                       "mount %s on %s: a symbolic link has taken the place of a directory",
                       m->from, m->to);
    if (from < 0)
        return err_sys(e, "mount %s on %s", m->from, m->to);
    if (!m->subpath)
        return from;
    int below = warden_beneath(from, m->subpath, e);
    close(from);
    return below < 0 ? err_wrap(e, "mount %s on %s", m->from, m->to) : below;
}

static int view_mount(struct warden_root *r, const struct warden_hide *h,
                      const struct warden_mount *m, struct err *e)
{
    AUTO(sys_fd) int from = open_from(m, e);

    if (from < 0 || (m->host && warden_hide_check(h, from, m->from, e) < 0))
        return -1;
    return warden_root_bind(r, from, m->to, m->ro, e);
}

static int make_place(struct warden_root *r, const char *path, bool dir, struct err *e)
{
    int fd = warden_root_at(r, path, dir, e);

    if (fd >= 0)
        close(fd);
    return fd < 0 ? -1 : 0;
}

static int view_place(struct warden_root *r, const struct warden_mount *m, struct err *e)
{
    AUTO(sys_fd) int from = open_from(m, e);
    struct stat s;

    if (from < 0 || fstat(from, &s) < 0)
        return from < 0 ? -1 : err_sys(e, "mount %s on %s", m->from, m->to);
    return make_place(r, m->to, S_ISDIR(s.st_mode), e);
}

static size_t depth(const char *path)
{
    size_t n = 0;

    for (; *path; path++)
        n += path[0] == '/' && path[1] != '/' && path[1];
    return n;
}

/* Outer ones first, whatever order they are named in; of the same depth as named. */
static size_t in_order(const struct warden_view *v, const struct warden_mount **out)
{
    const struct warden_start *st = v->start;
    size_t n = 0;

    for (size_t k = 0; k < v->sandbox->nmounts + st->nmounts; k++) {
        const struct warden_mount *m =
            k < v->sandbox->nmounts ? &v->sandbox->mounts[k] : &st->mounts[k - v->sandbox->nmounts];
        size_t i = n++;
        for (; i > 0 && depth(out[i - 1]->to) > depth(m->to); i--)
            out[i] = out[i - 1];
        out[i] = m;
    }
    return n;
}

/* Each place in the root, made where it is missing; then, unless that is all, what is mounted
 * there. */
static int view_all(struct warden_root *r, const struct warden_hide *h, bool places, struct err *e)
{
    const struct warden_view *v = h->view;
    size_t most = v->sandbox->nmounts + v->start->nmounts;
    const struct warden_mount **all = calloc(most + 1, sizeof(const struct warden_mount *));
    int rc = all ? 0 : err_sys(e, "mounts");

    for (size_t i = 0, n = all ? in_order(v, all) : 0; rc == 0 && i < n; i++)
        rc = places ? view_place(r, all[i], e) : view_mount(r, h, all[i], e);
    free(all);
    return rc;
}

/* Places in a read-only root are made while it can still be written to. */
static int view_places(struct warden_root *r, const struct warden_hide *h, struct err *e)
{
    const struct warden_start *st = h->view->start;

    if (!st->read_only)
        return 0;
    if (view_all(r, h, true, e) < 0 || (st->cwd && make_place(r, st->cwd, true, e) < 0))
        return -1;
    return st->term_from && st->term_to ? make_place(r, st->term_to, false, e) : 0;
}

static int view_mounts(struct warden_root *r, const struct warden_hide *h, struct err *e)
{
    const struct warden_start *st = h->view->start;
    struct warden_mount m = { .from = st->term_from, .to = st->term_to };

    if (view_all(r, h, false, e) < 0 || (m.from && m.to && view_mount(r, h, &m, e) < 0))
        return -1;
    return st->cwd ? make_place(r, st->cwd, true, e) : 0;
}

static int view_kernel(struct warden_root *r, struct warden_hide *h, struct err *e)
{
    if (warden_mask_kernel(r, h->view, e) < 0)
        return -1;
    warden_hide_proc(h, r);
    return warden_devices(r, h->view, e);
}

/* What is hidden is covered before the container's own files come on top, and again for what
 * hostPaths have brought. */
static int build(struct warden_root *r, const struct warden_view *v, const char *at, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    struct warden_hide h;

    if (warden_hide_init(&h, a, v, e) < 0)
        return -1;
    int rc = view_base(r, &h, at, e) < 0 || view_places(r, &h, e) < 0 ||
                     warden_mask_root(r, v->start, e) < 0 || view_kernel(r, &h, e) < 0 ||
                     cover_hidden(&h, r, e) < 0 || view_mounts(r, &h, e) < 0 ||
                     cover_hidden(&h, r, e) < 0
                 ? -1
                 : 0;
    warden_hide_done(&h);
    return rc;
}

int warden_view_enter(const struct warden_view *v, struct err *e)
{
    struct warden_root r = { .fd = -1,
                             .bytes = v->sandbox->over_bytes,
                             .devices = v->start->privileged };
    char at[PATH_MAX];

    AUTO(sys_fd)
    int top = warden_tmpfs_on(AT_FDCWD, in_dir(at, v->dir, "mnt/root"), r.bytes, 0755, e);
    if (top < 0)
        return -1;
    r.fd = open(at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r.fd < 0)
        return err_sys(e, "open %s", at);
    warden_root_own(&r, r.fd);
    if (build(&r, v, at, e) < 0) {
        close(r.fd);
        return -1;
    }
    if (fchdir(r.fd) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 ||
        chdir("/") < 0) {
        err_sys(e, "enter the root");
        close(r.fd);
        return -1;
    }
    close(r.fd);
    return 0;
}
