/* The kernel, as the warden asks it. */

#include "sys/sys.h"

#include "base/buf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void sys_fd_auto(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the kernel fills it */
pid_t sys_clone(uint64_t flags, int *pidfd)
{
    struct clone_args args = { .flags = flags, .exit_signal = SIGCHLD };

    if (pidfd) {
        args.flags |= CLONE_PIDFD;
        args.pidfd = (uint64_t)(uintptr_t)pidfd;
    }
    return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

int sys_openat2(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
    struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = resolve };

    return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

int sys_pidfd_signal(int pidfd, int signo)
{
    return (int)syscall(SYS_pidfd_send_signal, pidfd, signo, NULL, 0);
}

int sys_write_file(int dir, const char *path, const char *text)
{
    int fd = openat(dir, path, O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return -1;
    ssize_t n = write(fd, text, strlen(text));
    int why = errno;
    close(fd);
    errno = why;
    return n < 0 ? -1 : 0;
}

ssize_t sys_read_file(int dir, const char *path, char *to, size_t n)
{
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    size_t got = 0;

    if (fd < 0)
        return -1;
    while (got < n - 1) {
        ssize_t more = read(fd, to + got, n - 1 - got);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            break;
        got += (size_t)more;
    }
    close(fd);
    to[got] = 0;
    return (ssize_t)got;
}

int sys_write_all(int fd, str bytes, int64_t at)
{
    for (size_t done = 0; done < bytes.n;) {
        const char *p = bytes.p + done;
        size_t left = bytes.n - done;
        ssize_t n = at < 0 ? write(fd, p, left) : pwrite(fd, p, left, at + (int64_t)done);
        if (n < 0 && errno != EINTR)
            return -1;
        done += n < 0 ? 0 : (size_t)n;
    }
    return 0;
}

int sys_mkdirs(const char *path, mode_t mode)
{
    AUTO(buf) struct buf b = { 0 };

    buf_add(&b, str_of(path));
    buf_addc(&b, 0);
    for (char *p = b.p + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        if (mkdir(b.p, mode) < 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
            return -1;
        *p = '/';
    }
    return mkdir(b.p, mode) < 0 && errno != EEXIST ? -1 : 0;
}

int sys_replace_file(int dir, const char *name, str text, struct err *e)
{
    char tmp[64];

    snprintf(tmp, sizeof(tmp), ".%s.new", name);
    int fd = openat(dir, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_sys(e, "open %s", tmp);
    if (sys_write_all(fd, text, -1) < 0) {
        err_sys(e, "write %s", tmp);
        close(fd);
        unlinkat(dir, tmp, 0);
        return -1;
    }
    close(fd);
    return renameat(dir, tmp, dir, name) < 0 ? err_sys(e, "rename %s", tmp) : 0;
}

ssize_t sys_send_fd(int sock, const void *p, size_t n, int fd)
{
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } ctl = { 0 };
    struct iovec iov = { .iov_base = (void *)(uintptr_t)p, .iov_len = n };
    struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

    if (fd >= 0) {
        m.msg_control = ctl.room;
        m.msg_controllen = sizeof(ctl.room);
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &fd, sizeof(int));
    }
    for (;;) {
        ssize_t sent = sendmsg(sock, &m, MSG_NOSIGNAL);
        if (sent >= 0 || errno != EINTR)
            return sent;
    }
}

ssize_t sys_recv_fds(int sock, void *p, size_t n, int *fds, size_t *nfds)
{
    union {
        char room[CMSG_SPACE(sizeof(int) * SYS_FDS)];
        struct cmsghdr align;
    } ctl;
    struct iovec iov = { .iov_base = p, .iov_len = n };
    struct msghdr m = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = ctl.room,
                        .msg_controllen = sizeof(ctl.room) };
    ssize_t got;

    *nfds = 0;
    do
        got = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return got;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t many = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < many && *nfds < SYS_FDS; i++)
            memcpy(&fds[(*nfds)++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
    }
    return got;
}

/* Fields of /proc/PID/stat, as proc(5) counts them. */
enum { STAT_NAME = 2, STAT_PARENT = 4, STAT_BORN = 22 };

/* 0: there is none. The name may hold spaces and brackets, so we count from its end. */
static int64_t stat_number(int proc, const char *pid, int field)
{
    char file[300];
    char text[1024];

    snprintf(file, sizeof(file), "%s/stat", pid);
    const char *at = sys_read_file(proc, file, text, sizeof(text)) < 0 ? NULL : strrchr(text, ')');
    for (int i = STAT_NAME; at && i < field; i++)
        at = strchr(at + 1, ' ');
    return at ? strtoll(at, NULL, 10) : 0;
}

int64_t sys_birth_ticks(int proc, const char *pid)
{
    return stat_number(proc, pid, STAT_BORN);
}

pid_t sys_parent(int proc, pid_t pid)
{
    char name[16];

    snprintf(name, sizeof(name), "%d", (int)pid);
    return (pid_t)stat_number(proc, name, STAT_PARENT);
}

/* Without task/children (a kernel option) all of /proc is looked through for its parent. */
static void children_by_parent(int proc, pid_t pid, void (*see)(void *ctx, pid_t child), void *ctx)
{
    int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);

    for (struct dirent *at; d && (at = readdir(d));) {
        if (at->d_name[0] < '0' || at->d_name[0] > '9')
            continue;
        if (stat_number(proc, at->d_name, STAT_PARENT) == pid)
            see(ctx, (pid_t)strtol(at->d_name, NULL, 10));
    }
    if (d)
        closedir(d);
}

static void children_of_task(int proc, pid_t pid, const char *task,
                             void (*see)(void *ctx, pid_t child), void *ctx)
{
    char file[300];
    static char text[1 << 16];

    snprintf(file, sizeof(file), "%d/task/%s/children", (int)pid, task);
    if (sys_read_file(proc, file, text, sizeof(text)) <= 0)
        return;
    AUTO(buf) struct buf copy = { 0 }; /* see() may come here again */
    buf_add(&copy, str_of(text));
    buf_addc(&copy, 0);
    char *end;
    for (char *p = copy.p;; p = end) {
        long child = strtol(p, &end, 10);
        if (end == p)
            return;
        see(ctx, (pid_t)child);
    }
}

void sys_children(int proc, pid_t pid, void (*see)(void *ctx, pid_t child), void *ctx)
{
    char dir[64];
    static int by_parent = -1;

    if (by_parent < 0)
        by_parent = faccessat(proc, "self/task", F_OK, 0) == 0 &&
                    faccessat(proc, "thread-self/children", R_OK, 0) < 0;
    if (by_parent) {
        children_by_parent(proc, pid, see, ctx);
        return;
    }
    snprintf(dir, sizeof(dir), "%d/task", (int)pid);
    int fd = openat(proc, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d)
        return;
    for (struct dirent *at; (at = readdir(d));)
        if (at->d_name[0] != '.')
            children_of_task(proc, pid, at->d_name, see, ctx);
    closedir(d);
}

struct killing {
    int proc;
    size_t n;
};

static void kill_tree(void *ctx, pid_t pid)
{
    struct killing *k = ctx;

    kill(pid, SIGSTOP); /* or it makes more while we look at what it has made */
    sys_children(k->proc, pid, kill_tree, k);
    kill(pid, SIGKILL);
    k->n++;
}

/* Kills all below pid (not itself), once. How many there were. */
static size_t sys_kill_below(int proc, pid_t pid)
{
    struct killing k = { .proc = proc };

    sys_children(proc, pid, kill_tree, &k);
    return k.n;
}

void sys_kill_all(void)
{
    enum { RETRY_NS = 1000 * 1000 };
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (;;) {
        sys_kill_below(proc, getpid());
        pid_t pid;
        do
            pid = waitpid(-1, NULL, WNOHANG | __WALL);
        while (pid > 0);
        if (pid < 0 && errno == ECHILD)
            break;
        nanosleep(&(struct timespec){ .tv_nsec = RETRY_NS }, NULL);
    }
    if (proc >= 0)
        close(proc);
}

/* One in its environment, not anywhere in a longer word. */
static bool is_marked(const char *env, size_t n, str mark)
{
    for (size_t at = 0; at < n; at += strlen(env + at) + 1)
        if (str_eq(str_of(env + at), mark))
            return true;
    return false;
}

/* The pidfd comes first: the kill reaches that process alone, and while it lives its number, by
 * which its environment is read, is nobody else's. */
static bool kill_if_marked(int proc, const char *pid, str mark, struct buf *env)
{
    char file[300];
    AUTO(sys_fd) int fd = (int)syscall(SYS_pidfd_open, (pid_t)strtol(pid, NULL, 10), 0);

    if (fd < 0)
        return false;
    snprintf(file, sizeof(file), "%s/environ", pid);
    buf_clear(env);
    ssize_t got = sys_read_file(proc, file, buf_room(env, 1 << 18), 1 << 18);
    return got > 0 && is_marked(env->p, (size_t)got, mark) && sys_pidfd_signal(fd, SIGKILL) == 0;
}

size_t sys_kill_pod_strays(str uid)
{
    AUTO(buf) struct buf env = { 0 };
    char mark[128];
    DIR *d = opendir("/proc");
    size_t n = 0;

    snprintf(mark, sizeof(mark), "MUSTER_POD=%" PRI_STR, STR_ARG(uid));
    for (struct dirent *at; d && (at = readdir(d));) {
        long pid = strtol(at->d_name, NULL, 10);
        if (pid > 1 && pid != getpid())
            n += kill_if_marked(dirfd(d), at->d_name, str_of(mark), &env);
    }
    if (d)
        closedir(d);
    return n;
}

static int64_t clock_ms(clockid_t which)
{
    struct timespec t;

    clock_gettime(which, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t sys_now_ms(void)
{
    return clock_ms(CLOCK_REALTIME);
}

int64_t sys_tick_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}
