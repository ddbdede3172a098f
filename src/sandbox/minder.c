/* Starts one program and sees it to its end. No memory is freed here: the process ends. */

#include "sandbox/minder.h"

#include "sandbox/caps.h"
#include "sys/helper_process.h"
#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const struct warden_minder *m, char word, const void *more, size_t n, int fd)
{
    char packet[512] = { word };

    n = n < sizeof(packet) - 1 ? n : sizeof(packet) - 1;
    if (n)
        memcpy(packet + 1, more, n);
    sys_send_fd(m->sock, packet, n + 1, fd);
}

__attribute__((noreturn)) static void fail(const struct warden_minder *m, const struct err *e)
{
    say(m, MINDER_EVENT_FAILED, e->msg, strlen(e->msg), -1);
    _exit(128);
}

/* All that is left of the container goes. An init's end takes its namespace along. */
__attribute__((noreturn)) static void end(const struct warden_minder *m)
{
    if (m->join >= 0)
        kill(-m->main_pid, SIGKILL); /* its group: who left it is known by the container alone */
    else if (!m->view)
        sys_kill_all();
    _exit(0);
}

/* The terminal belongs to the container's /dev/pts, so that its programs can name it. */
static int open_tty(struct warden_minder *m, struct err *e)
{
    struct winsize size = { .ws_row = (unsigned short)m->rows, .ws_col = (unsigned short)m->cols };
    int unlock = 0;
    int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);

    if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0)
        return err_sys(e, "open a terminal");
    int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0)
        return err_sys(e, "open a terminal");
    const struct warden_start *s = m->run.start;
    if (geteuid() == 0 && s->uid > 0 && fchown(slave, (uid_t)s->uid, (gid_t)-1) < 0)
        return err_sys(e, "hand over the terminal");
    if (m->rows && m->cols)
        ioctl(master, TIOCSWINSZ, &size);
    say(m, MINDER_EVENT_TTY, NULL, 0, master);
    close(master);
    m->run.stdio[0] = m->run.stdio[1] = m->run.stdio[2] = slave;
    m->run.tty = true;
    return 0;
}

/* A container's minder is in reach of its programs: whoever can trace it (CAP_SYS_PTRACE) shall not
 * find more capabilities there than it has itself. One that does no harm stays: processes with a
 * capability that the tracer lacks cannot be traced without that right, and their descriptors not
 * be looked at. */
enum { MINDER_CAP = CAP_WAKE_ALARM };

static void drop_caps(const struct warden_minder *m)
{
    const struct warden_start *s = m->run.start;
    struct err e = { 0 };

    if (!m->view || s->privileged)
        return;
    warden_caps_bound((uint64_t)s->caps);
    if (warden_caps_set((uint64_t)s->caps | 1ULL << MINDER_CAP, 0, &e) < 0)
        fail(m, &e);
}

static void start_main(struct warden_minder *m)
{
    struct err e = { 0 };
    int trouble[2];
    int go[2];
    int pidfd = -1;

    if (pipe2(trouble, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0) {
        err_sys(&e, "pipe");
        fail(m, &e);
    }
    pid_t pid = sys_clone(0, &pidfd);
    if (pid == 0) {
        close(m->sock);
        close(go[1]);
        if (read(go[0], &(char){ 0 }, 1) < 0) /* its end: the minder is ready */
            _exit(129);
        warden_run_exec(&m->run, &e);
        if (write(trouble[1], e.msg, strlen(e.msg)) < 0)
            _exit(129);
        _exit(128);
    }
    if (pid < 0) {
        err_sys(&e, "start a process");
        fail(m, &e);
    }
    drop_caps(m);
    close(go[0]);
    close(go[1]);
    close(trouble[1]);
    ssize_t n;
    do /* until it is the program, or has said why not */
        n = read(trouble[0], e.msg, sizeof(e.msg) - 1);
    while (n < 0 && errno == EINTR);
    close(trouble[0]);
    if (n > 0) {
        e.msg[n] = 0;
        waitpid(pid, NULL, 0);
        fail(m, &e);
    }
    say(m, MINDER_EVENT_STARTED, &pid, sizeof(pid), pidfd);
    close(pidfd);
    m->main_pid = pid;
}

/* An ordinary user's container with CAP_SYS_ADMIN could take off what hides credentials. In a user
 * namespace of its own the mounts of its root are locked. */
static int lock_mounts(const struct warden_start *s, struct err *e)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();

    if (uid == 0 || !((uint64_t)s->ambient >> CAP_SYS_ADMIN & 1))
        return 0;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return err_sys(e, "make a user namespace for the container");
    return helper_map_ids(uid, gid, e);
}

static void enter(struct warden_minder *m)
{
    struct err e = { 0 };

    if (m->view && (warden_view_enter(m->view, &e) < 0 || lock_mounts(m->run.start, &e) < 0))
        fail(m, &e);
    if (m->join >= 0 && setns(m->join, CLONE_NEWNS | CLONE_NEWPID) < 0) {
        err_sys(&e, "join the container");
        fail(m, &e);
    }
    if (m->tty && open_tty(m, &e) < 0)
        fail(m, &e);
}

/* Only what it needs stays open: it must not keep pipes or locks of others alive. */
static void close_rest(const struct warden_minder *m)
{
    int keep[16];
    int n = 0;
    int low = 3;

    keep[n++] = m->sock;
    keep[n++] = m->join;
    for (int i = 0; i < 3; i++)
        keep[n++] = m->run.stdio[i];
    for (size_t i = 0; i < COUNT(m->run.cgroups); i++)
        keep[n++] = m->run.cgroups[i];
    for (int i = 0; i < n; i++) /* few: sorted by insertion */
        for (int j = i; j > 0 && keep[j - 1] > keep[j]; j--) {
            int swap = keep[j];
            keep[j] = keep[j - 1];
            keep[j - 1] = swap;
        }
    for (int i = 0; i < n; i++) {
        if (keep[i] > low)
            close_range((unsigned)low, (unsigned)keep[i] - 1, 0);
        if (keep[i] >= low)
            low = keep[i] + 1;
    }
    close_range((unsigned)low, ~0U, 0);
}

void warden_minder_run(struct warden_minder *m)
{
    sigset_t chld;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "muster-minder");
    if (!m->view)
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    close_rest(m);
    enter(m);
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_SETMASK, &chld, NULL);
    int sigs = signalfd(-1, &chld, SFD_NONBLOCK | SFD_CLOEXEC);
    start_main(m);
    for (int i = 0; i < 3; i++) { /* the program's now: its end must be seen as the end */
        if (m->run.stdio[i] > 2)
            close(m->run.stdio[i]);
    }
    struct pollfd on[2] = { { .fd = m->sock, .events = POLLIN }, { .fd = sigs, .events = POLLIN } };
    for (;;) {
        struct signalfd_siginfo info;
        int status;
        pid_t pid;
        if (poll(on, 2, -1) < 0)
            continue;
        if (on[0].revents)
            end(m);
        while (read(sigs, &info, sizeof(info)) > 0)
            ;
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
            if (pid != m->main_pid)
                continue;
            say(m, MINDER_EVENT_EXITED, &status, sizeof(status), -1);
            if (!m->is_exec)
                end(m);
        }
        if (pid < 0 && errno == ECHILD) /* an exec may leave processes running: now none is left */
            _exit(0);
    }
}
