/* What container engines hide of /proc and /sys, and what they make read-only. A container without
 * CAP_SYS_ADMIN cannot take these mounts off; in a user namespace that it makes they are locked. */

#include "sandbox/mask.h"

#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const hidden[] = {
    "/proc/acpi",        "/proc/asound",        "/proc/interrupts",
    "/proc/kcore",       "/proc/keys",          "/proc/latency_stats",
    "/proc/sched_debug", "/proc/scsi",          "/proc/timer_list",
    "/proc/timer_stats", "/sys/firmware",       "/sys/devices/virtual/powercap",
    "/sys/kernel/debug", "/sys/kernel/tracing", "/sys/kernel/security",
};

static const char *const read_only[] = {
    "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger",
};

static int set_flags(int fd, uint64_t flags)
{
    struct mount_attr attr = { .attr_set = flags };

    return mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr));
}

int warden_mask_root(const struct warden_root *r, const struct warden_start *s, struct err *e)
{
    uint64_t flags = s->privileged ? 0 : MOUNT_ATTR_NODEV;

    if (s->read_only)
        flags |= MOUNT_ATTR_RDONLY;
    return flags && set_flags(r->fd, flags) < 0 ? err_sys(e, "set the flags of the root") : 0;
}

/* A detached copy of what is at fd, read-only; -1, errno. */
static int read_only_tree(int dir, const char *path)
{
    unsigned empty = *path ? 0u : (unsigned)AT_EMPTY_PATH;
    int tree = open_tree(dir, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | empty);

    if (tree >= 0 && set_flags(tree, MOUNT_ATTR_RDONLY) < 0) {
        int why = errno;
        close(tree);
        errno = why;
        return -1;
    }
    return tree;
}

static int put_on(int tree, int at)
{
    return move_mount(tree, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

static int mask_each(const struct warden_root *r, const char *dir, struct err *e)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/mnt/none", dir);
    AUTO(sys_fd) int none = open(path, O_PATH | O_CLOEXEC);
    AUTO(sys_fd) int null = open("/dev/null", O_PATH | O_CLOEXEC);
    for (size_t i = 0; i < COUNT(hidden); i++) {
        struct stat s;
        AUTO(sys_fd) int at = warden_root_find(r, hidden[i]);
        if (at < 0 || fstat(at, &s) < 0)
            continue; /* not of this kernel */
        AUTO(sys_fd) int tree = read_only_tree(S_ISDIR(s.st_mode) ? none : null, "");
        if (tree < 0 || put_on(tree, at) < 0)
            return err_sys(e, "hide %s", hidden[i]);
    }
    for (size_t i = 0; i < COUNT(read_only); i++) {
        AUTO(sys_fd) int at = warden_root_find(r, read_only[i]);
        if (at < 0)
            continue;
        AUTO(sys_fd) int tree = read_only_tree(at, "");
        if (tree < 0 || put_on(tree, at) < 0)
            return err_sys(e, "make %s read-only", read_only[i]);
    }
    return 0;
}

/* A sysfs of the network namespace that we are in; -1: an ordinary user may not always have one. */
static int own_sysfs(void)
{
    AUTO(sys_fd) int fs = fsopen("sysfs", FSOPEN_CLOEXEC);

    if (fs < 0 || fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return -1;
    return fsmount(fs, FSMOUNT_CLOEXEC,
                   MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
}

/* Read-only, and with the control groups of this machine, where programs read their limits. */
static int mount_sys(const struct warden_root *r, struct err *e)
{
    AUTO(sys_fd) int own = own_sysfs();
    AUTO(sys_fd) int whole = own < 0 ? read_only_tree(AT_FDCWD, "/sys") : -1;

    if (own < 0 && whole < 0)
        return err_sys(e, "make /sys read-only");
    if (move_mount(own < 0 ? whole : own, "", r->fd, "sys", MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return err_sys(e, "mount /sys");
    AUTO(sys_fd) int groups = own < 0 ? -1 : read_only_tree(AT_FDCWD, "/sys/fs/cgroup");
    AUTO(sys_fd) int at = groups < 0 ? -1 : warden_root_find(r, "/sys/fs/cgroup");
    return at >= 0 && put_on(groups, at) < 0 ? err_sys(e, "mount /sys/fs/cgroup") : 0;
}

int warden_mask_kernel(const struct warden_root *r, const struct warden_view *v, struct err *e)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "/proc/self/fd/%d/proc", r->fd);
    if (mount("proc", path, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
        return err_sys(e, "mount /proc");
    if (v->start->privileged)
        return warden_bind(AT_FDCWD, "/sys", r->fd, "sys") < 0 ? err_sys(e, "mount /sys") : 0;
    if (mount_sys(r, e) < 0)
        return -1;
    return v->start->unmasked ? 0 : mask_each(r, v->dir, e);
}
