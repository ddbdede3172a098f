/* How a keeper and the hub are started, and what both do first. */

#include "sys/helper_process.h"

#include "base/arena.h"
#include "sys/self.h"
#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int spawn(const char *exe, char *const *argv, int third, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t set;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files, third, 3);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attr, &set);
    sigfillset(&set);
    posix_spawnattr_setsigdefault(&attr, &set);
    int why = posix_spawn(pid, exe, &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return why;
}

int helper_run(const char *exe, char *const *argv, int type, pid_t *pid, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    int pair[2];
    pid_t child;

    if (!exe)
        argv = sys_self_argv(a, argv);
    exe = exe ? exe : SYS_SELF_EXE;

    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) < 0)
        return err_sys(e, "socketpair");
    /* Not 3: dup2 onto itself would leave close-on-exec on. */
    int theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, 4);
    close(pair[1]);
    int why = spawn(exe, argv, theirs, &child);
    close(theirs);
    if (why) {
        close(pair[0]);
        errno = why;
        return err_sys(e, "run %s", exe);
    }
    *pid = child;
    return pair[0];
}

void helper_set_stdio(int dir, const char *log)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int fd = openat(dir, log, O_WRONLY | O_APPEND | O_CLOEXEC);

    dup2(null, 0);
    dup2(null, 1);
    dup2(fd >= 0 ? fd : null, 2);
    if (null > 2)
        close(null);
    if (fd > 2)
        close(fd);
}

/* By a short name from within dir: whole paths may be too long for a socket's. */
int helper_listen(int dir)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "ctl" };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t mask = umask(0077);

    unlinkat(dir, "ctl", 0);
    bool is_bound = fd >= 0 && fchdir(dir) == 0 &&
                    bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0 && listen(fd, 8) == 0;
    umask(mask);
    if (is_bound && chdir("/") == 0)
        return fd;
    int why = errno;
    sys_fd_auto(&fd);
    errno = why;
    return -1;
}

int helper_map_ids(uid_t uid, gid_t gid, struct err *e)
{
    char text[64];

    if (sys_write_file(AT_FDCWD, "/proc/self/setgroups", "deny") < 0)
        return err_sys(e, "setgroups of the user namespace");
    snprintf(text, sizeof(text), "%u %u 1\n", gid, gid);
    if (sys_write_file(AT_FDCWD, "/proc/self/gid_map", text) < 0)
        return err_sys(e, "gid_map");
    snprintf(text, sizeof(text), "%u %u 1\n", uid, uid);
    return sys_write_file(AT_FDCWD, "/proc/self/uid_map", text) < 0 ? err_sys(e, "uid_map") : 0;
}
