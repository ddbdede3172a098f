/* Tries, in a child, what a pod's namespaces need. */

#include "node/warden.h"
#include "node/warden_mount.h"
#include "node/warden_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int map_ids(uid_t uid, gid_t gid, struct err *e)
{
    char text[64];

    snprintf(text, sizeof(text), "%u %u 1\n", gid, gid);
    if (warden_put(AT_FDCWD, "/proc/self/setgroups", "deny") < 0 ||
        warden_put(AT_FDCWD, "/proc/self/gid_map", text) < 0)
        return err_sys(e, "map the group of a user namespace");
    snprintf(text, sizeof(text), "%u %u 1\n", uid, uid);
    return warden_put(AT_FDCWD, "/proc/self/uid_map", text) < 0
               ? err_sys(e, "map the user of a user namespace")
               : 0;
}

static int try_mounts(struct err *e)
{
    AUTO(warden_fd) int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
        return err_sys(e, "keep mounts apart");
    if (mount("proc", "/proc", "proc", 0, NULL) < 0)
        return err_sys(e, "mount /proc");
    AUTO(warden_fd) int tmp = warden_tmpfs_on(AT_FDCWD, "/tmp", 0, 0755, e);
    if (tmp < 0)
        return -1;
    if (mkdirat(tmp, "x", 0755) < 0 || warden_bind(root, "usr", tmp, "x") < 0)
        return err_sys(e, "bind a directory");
    return 0;
}

bool warden_can_isolate(struct err *e)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    uint64_t flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET |
                     (uid ? CLONE_NEWUSER : 0u);
    struct err why = { 0 };
    int ends[2];
    int status = 0;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(e, "pipe") == 0;
    pid_t pid = warden_clone(flags, NULL);
    if (pid == 0) {
        int rc = uid ? map_ids(uid, gid, &why) : 0;
        if (rc == 0)
            rc = try_mounts(&why);
        if (rc < 0 && write(ends[1], why.msg, strlen(why.msg)) < 0)
            _exit(2);
        _exit(rc < 0);
    }
    if (pid < 0)
        err_sys(e, "make namespaces");
    close(ends[1]);
    ssize_t n = pid < 0 ? 0 : read(ends[0], why.msg, sizeof(why.msg) - 1);
    close(ends[0]);
    if (pid < 0)
        return false;
    while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
        ;
    if (status != 0)
        err_set(e, ERR_FORBIDDEN, "%s", n > 0 ? why.msg : "namespaces: refused");
    return status == 0;
}
