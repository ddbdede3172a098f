/* Tries, in a child, what a pod's namespaces need. */

#include "sandbox/probe.h"
#include "sandbox/overlay.h"
#include "sys/sys.h"
#include "sys/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int map_ids(uid_t uid, gid_t gid, struct err *e)
{
    char text[64];

    snprintf(text, sizeof(text), "%u %u 1\n", gid, gid);
    if (sys_write_file(AT_FDCWD, "/proc/self/setgroups", "deny") < 0 ||
        sys_write_file(AT_FDCWD, "/proc/self/gid_map", text) < 0)
        return err_sys(e, "map the group of a user namespace");
    snprintf(text, sizeof(text), "%u %u 1\n", uid, uid);
    return sys_write_file(AT_FDCWD, "/proc/self/uid_map", text) < 0
               ? err_sys(e, "map the user of a user namespace")
               : 0;
}

static int try_mounts(struct err *e)
{
    AUTO(sys_fd) int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (mount("proc", "/proc", "proc", 0, NULL) < 0)
        return err_sys(e, "mount /proc");
    AUTO(sys_fd) int tmp = warden_tmpfs_on(AT_FDCWD, "/tmp", 0, 0755, e);
    if (tmp < 0)
        return -1;
    if (mkdirat(tmp, "x", 0755) < 0 || warden_bind(root, "usr", tmp, "x") < 0)
        return err_sys(e, "bind a directory");
    return 0;
}

/* What the child found out. */
struct found {
    struct err isolate;
    struct err disk;
    struct err over;
};

#define PROBE ".probe"

/* A new directory of the pods'. */
static int open_place(const char *pods)
{
    AUTO(sys_fd) int dir = open(pods, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dir >= 0)
        tree_remove(dir, PROBE, NULL);
    if (dir < 0 || mkdirat(dir, PROBE, 0700) < 0)
        return -1;
    return openat(dir, PROBE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int try_over(struct warden_overlay *o, const char *lower, struct err *e)
{
    AUTO(sys_fd) int from = open(lower, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (from < 0) /* not here, or nobody's to read: then nobody changes it */
        return 0;
    return warden_overlay_dir(o, from, o->place, NULL) < 0 ? err_sys(e, "overlay on %s", lower) : 0;
}

/* The system's files, as root, and homes. */
static int try_all(struct warden_overlay *o, const struct warden_ground *g, struct err *e)
{
    int rc = geteuid() == 0 ? try_over(o, "/", e) : 0;

    for (const char *const *h = g->homes; rc == 0 && *h; h++)
        rc = try_over(o, *h, e);
    return rc;
}

static void try_ground(const struct warden_ground *g, struct found *f)
{
    struct warden_overlay o;
    int place = open_place(g->pods);

    if (place < 0)
        err_sys(&f->disk, "make %s/" PROBE, g->pods);
    else {
        warden_overlay_init(&o, place, true);
        try_all(&o, g, &f->disk);
        warden_overlay_done(&o);
    }
    if (!f->disk.msg[0])
        return;
    int memory = warden_tmpfs_on(AT_FDCWD, "/tmp", 0, 0700, &f->over);
    if (memory < 0)
        return;
    warden_overlay_init(&o, memory, false);
    try_all(&o, g, &f->over);
    warden_overlay_done(&o);
}

__attribute__((noreturn)) static void child(const struct warden_ground *g, uid_t uid, gid_t gid,
                                            int to)
{
    struct found f = { 0 };
    int rc = uid ? map_ids(uid, gid, &f.isolate) : 0;

    if (rc == 0 && mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
        rc = err_sys(&f.isolate, "keep mounts apart");
    if (rc == 0 && g)
        try_ground(g, &f);
    if (rc == 0)
        try_mounts(&f.isolate);
    _exit(write(to, &f, sizeof(f)) != (ssize_t)sizeof(f));
}
static void clear_away(const struct warden_ground *g)
{
    AUTO(sys_fd) int dir = open(g->pods, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dir >= 0)
        tree_remove(dir, PROBE, NULL);
}

/* The directory of pods; where it cannot be made, the child says that it is not there. Pods in it
 * have nothing to do with each other: ext4 then puts each into a part of the disk of its own, and
 * does not search what was used by those that have just gone. Other file systems need no such hint.
 */
static void make_pods(const char *path)
{
    int flags = 0;

    sys_mkdirs(path, 0700);
    AUTO(sys_fd) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && !(flags & FS_TOPDIR_FL)) {
        flags |= FS_TOPDIR_FL;
        ioctl(fd, FS_IOC_SETFLAGS, &flags);
    }
}

bool warden_can_isolate(struct warden_ground *g, struct err *e)
{
    uid_t uid = geteuid(); /* in there it has no number at first */
    gid_t gid = getegid();
    uint64_t flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET |
                     (uid ? CLONE_NEWUSER : 0u);
    struct found f = { 0 };
    int ends[2];
    int status = 0;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(e, "pipe") == 0;
    if (g)
        make_pods(g->pods);
    pid_t pid = sys_clone(flags, NULL);
    if (pid == 0)
        child(g, uid, gid, ends[1]);
    if (pid < 0)
        /* ENOSPC: the administrator's limit, which is 0 on hardened machines */
        err_sys(e, errno == ENOSPC ? "make namespaces (see sysctl user.max_user_namespaces)"
                                   : "make namespaces");
    close(ends[1]);
    ssize_t n = pid < 0 ? 0 : read(ends[0], &f, sizeof(f));
    close(ends[0]);
    if (pid < 0)
        return false;
    while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
        ;
    if (n != (ssize_t)sizeof(f))
        err_set(&f.isolate, ERR_FORBIDDEN, "namespaces: refused");
    if (g) {
        clear_away(g);
        g->disk = f.disk;
        g->over = f.over;
    }
    if (f.isolate.msg[0])
        err_set(e, ERR_FORBIDDEN, "%s", f.isolate.msg);
    return !f.isolate.msg[0];
}
