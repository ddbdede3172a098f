/* The outermost process of a pod. It stays on the machine's side, starts the one that holds the pod
 * (in namespaces of its own where they are to be had), waits for its end however it comes, and
 * clears away: processes, cgroups, links, the socket. While it lives it has DIR/warden.log locked,
 * and with the holder the device files of the pod's GPUs. */

#include "sandbox/keeper.h"

#include "sandbox/links.h"
#include "sandbox/nursery.h"
#include "sandbox/root.h"
#include "sandbox/state.h"
#include "sandbox/sysctl.h"
#include "sandbox/ward.h"
#include "sys/device_lock.h"
#include "sys/helper_process.h"
#include "sys/msgsock.h"
#include "sys/record.h"
#include "sys/sys.h"
#include "sys/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct keeper {
    struct arena *a;
    char dir[PATH_MAX];
    int dirfd;
    int lock;
    int listen;
    int first;
    int joining; /* the other end of s.joined */
    uid_t uid;
    gid_t gid;
    struct warden_sandbox s;
    struct warden_cgroup cgroup;
};

/* Told to the node that waits, and to the one that comes later. */
static int give_up(struct keeper *k, const struct err *e)
{
    AUTO(buf) struct buf b = { 0 };
    struct msgsock node;

    record_put(&b, { "event", .text = "failed" }, { "why", .text = e->msg });
    msgsock_init(&node, k->first);
    msgsock_say(&node, buf_str(&b), NULL, 0);
    fprintf(stderr, "%s\n", e->msg);
    if (k->dirfd >= 0)
        warden_state_bury(k->a, k->dirfd, sys_now_ms(), str_of(e->msg));
    return 1;
}

static int read_sandbox(struct keeper *k, struct err *e)
{
    str record = record_read(k->a, k->dirfd, "sandbox", e);

    if (!record.p)
        return -1;
    return warden_sandbox_read(k->a, record, &k->s, e) < 0 ? err_wrap(e, "sandbox") : 0;
}

static int open_dir(struct keeper *k, const char *dir, struct err *e)
{
    if (!realpath(dir, k->dir))
        return err_sys(e, "%s", dir);
    k->dirfd = open(k->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (k->dirfd < 0)
        return err_sys(e, "%s", dir);
    k->lock = openat(k->dirfd, "warden.log", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (k->lock < 0)
        return err_sys(e, "%s/warden.log", dir);
    if (flock(k->lock, LOCK_EX | LOCK_NB) < 0)
        return err_sys(e, "%s is held by another warden", dir);
    return 0;
}

/* No other pod of this machine uses them meanwhile, whoever runs it. The descriptors stay open here
 * and in the pod's holder, so that no program of the pod outlives them. */
static int lock_devices(const struct keeper *k, struct err *e)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < k->s.devices.n; i++) {
        struct err why = { 0 };
        if (!device_lock_is_for(k->s.devices.at[i]))
            continue;
        snprintf(path, sizeof(path), "/dev/%s", k->s.devices.at[i]);
        int fd = device_lock_take(path, &why);
        if (fd == -1) {
            *e = why;
            return -1;
        }
        if (fd < 0)
            fprintf(stderr, "%s\n", why.msg);
    }
    return 0;
}

/* The node that asked for us is dead. The next one may have looked before we had the lock, found
 * nobody, and asked for another: nothing has begun yet, so that one shall have the place. */
static bool is_orphan(const struct keeper *k)
{
    struct pollfd node = { .fd = k->first, .events = POLLRDHUP };

    return k->first >= 0 && poll(&node, 1, 0) == 1 &&
           (node.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

/* ---- the other side of the wall */

static int lo_up(struct err *e)
{
    struct ifreq r = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
    AUTO(sys_fd) int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    return s < 0 || ioctl(s, SIOCSIFFLAGS, &r) < 0 ? err_sys(e, "bring lo up") : 0;
}

static int set_up(struct keeper *k, uint64_t flags, struct err *e)
{
    if ((flags & CLONE_NEWUSER) && helper_map_ids(k->uid, k->gid, e) < 0)
        return -1;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (k->s.shared)
        return prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ? err_sys(e, "become a subreaper") : 0;
    if (k->s.hostname && sethostname(k->s.hostname, strlen(k->s.hostname)) < 0)
        return err_sys(e, "set the host name");
    if ((flags & CLONE_NEWNET) && lo_up(e) < 0)
        return -1;
    if (warden_view_pod(&k->s, k->dir, e) < 0)
        return -1;
    return warden_sysctl_set(&k->s.sysctls, e);
}

__attribute__((noreturn)) static void inside(struct keeper *k, uint64_t flags)
{
    struct err e = { 0 };
    int host_proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

    close(k->lock);
    if (k->joining >= 0)
        close(k->joining);
    prctl(PR_SET_NAME, "muster-pod");
    if (set_up(k, flags, &e) < 0)
        _exit(give_up(k, &e));
    close(k->dirfd);
    ward_run(&k->s, k->a, k->dir, k->listen, k->first, host_proc);
}

/* ---- this side */

static int join(const char *path, int kind, struct err *e)
{
    AUTO(sys_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);

    return fd < 0 || setns(fd, kind) < 0 ? err_sys(e, "join namespace %s", path) : 0;
}

static int start(struct keeper *k, pid_t *pid, struct err *e)
{
    uint64_t flags = 0;
    sigset_t term;

    if (!k->s.shared) {
        flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC;
        if (k->s.user_ns && join(k->s.user_ns, CLONE_NEWUSER, e) < 0)
            return -1;
        prctl(PR_SET_DUMPABLE, 1); /* or /proc/self would not be ours in there */
        if (k->s.net_ns && join(k->s.net_ns, CLONE_NEWNET, e) < 0)
            return -1;
        if (!k->s.net_ns && !k->s.host_net)
            flags |= CLONE_NEWNET;
        if (!k->s.user_ns && k->uid != 0)
            flags |= CLONE_NEWUSER;
    }
    sigemptyset(&term);
    sigaddset(&term, SIGTERM); /* kept for it, should we die while it sets up */
    sigprocmask(SIG_BLOCK, &term, NULL);
    *pid = sys_clone(flags, NULL);
    if (*pid == 0)
        inside(k, flags);
    int why = errno;
    sigprocmask(SIG_UNBLOCK, &term, NULL);
    errno = why;
    return *pid < 0 ? err_sys(e, "make the pod's namespaces") : 0;
}

/* While the pod is set up, which takes as long; its first container waits for the word. */
static void join_group(struct keeper *k, pid_t pid)
{
    struct err e = { 0 };

    if (warden_cgroup_join(&k->cgroup, pid, &e) < 0)
        fprintf(stderr, "%s\n", e.msg);
    else if (write(k->joining, "y", 1) < 0)
        fprintf(stderr, "joining: %m\n");
    close(k->joining);
}

static void clear_away(struct keeper *k, int status)
{
    char why[128];

    warden_cgroup_kill(&k->cgroup);
    if (k->s.shared)
        sys_kill_all();
    warden_cgroup_remove(&k->cgroup);
    warden_cgroup_done(&k->cgroup);
    if (k->s.shared)
        warden_links_remove(k->dir);
    unlinkat(k->dirfd, "ctl", 0);
    if (WIFSIGNALED(status))
        snprintf(why, sizeof(why), "the pod's warden was killed by signal %d", WTERMSIG(status));
    else
        snprintf(why, sizeof(why), "the pod's warden ended with status %d", WEXITSTATUS(status));
    AUTO(arena) struct arena *a = arena_new();
    warden_state_bury(a, k->dirfd, sys_now_ms(), str_of(why));
    /* May be much, and is no work for the node. A `muster run` looks at it when all is over. */
    if (!k->s.with_node)
        tree_remove(k->dirfd, "over", NULL);
}

static int open_joining(struct keeper *k, struct err *e)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(e, "pipe");
    k->s.joined = ends[0];
    k->joining = ends[1];
    return 0;
}

static int keep(const char *dir, int first, const struct spare_group *spare)
{
    AUTO(arena) struct arena *a = arena_new();
    struct keeper k = {
        .a = a, .dirfd = -1, .joining = -1, .first = first, .uid = geteuid(), .gid = getegid()
    };
    struct err e = { 0 };
    struct warden_limits limits = { 0 };
    bool memory;
    pid_t pid;
    int status = 0;

    umask(0);
    setsid();
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_NAME, WARD_KEEPER);
    if (open_dir(&k, dir, &e) < 0) {
        k.dirfd = -1; /* what is there is not ours */
        return give_up(&k, &e);
    }
    if (is_orphan(&k))
        return 0;
    helper_set_stdio(k.dirfd, "warden.log"); /* without the lock, which must not outlive us */
    if (read_sandbox(&k, &e) < 0 || lock_devices(&k, &e) < 0)
        return give_up(&k, &e);
    k.listen = helper_listen(k.dirfd);
    if (k.listen < 0) {
        err_sys(&e, "listen on %s/ctl", k.dir);
        return give_up(&k, &e);
    }
    bool is_in = spare_use(spare, k.s.cgroup1_pids), joins = k.s.cgroup_flat && !is_in;
    if (joins && open_joining(&k, &e) < 0)
        return give_up(&k, &e);
    if (!is_in && !joins)
        spare_leave(spare); /* what we start is to be in no other pod's */
    k.cgroup = warden_cgroup_of(&k.s, STR_NONE);
    limits.pids = k.s.pids;
    if (k.s.shared)
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (warden_cgroup_make(&k.cgroup, true, &e) < 0 ||
        warden_cgroup_limit(&k.cgroup, &limits, &memory, &e) < 0 || start(&k, &pid, &e) < 0) {
        spare_leave(spare);
        warden_cgroup_remove(&k.cgroup);
        unlinkat(k.dirfd, "ctl", 0);
        return give_up(&k, &e);
    }
    close(k.listen);
    if (k.first >= 0)
        close(k.first);
    if (joins)
        join_group(&k, pid);
    if (joins || is_in)
        spare_leave(spare);
    while (waitpid(pid, &status, __WALL) != pid)
        ;
    clear_away(&k, status);
    return 0;
}

/* What ps shows. The nursery was given a word that is long enough. */
static void rename_to(int argc, char **argv, const char *dir)
{
    size_t room = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) - argv[0]);
    AUTO(buf) struct buf b = { 0 };

    buf_printf(&b, "warden%c%s", 0, dir);
    memset(argv[0], 0, room);
    memcpy(argv[0], b.p, b.n < room ? b.n : room);
}

int warden_main(int argc, char **argv)
{
    char dir[PATH_MAX];
    struct spare_group spare = { 0 };
    int fd = argc > 2 ? (int)strtol(argv[2], NULL, 10) : -1;

    if (argc < 2) {
        fputs("usage: muster warden DIR [FD]\n", stderr);
        return 2;
    }
    close_range(fd > 2 ? (unsigned)fd + 1 : 3, ~0U, 0);
    if (strcmp(argv[1], "--nursery") != 0)
        return keep(argv[1], fd, &spare);
    warden_nursery_run(fd, dir, &fd, &spare);
    rename_to(argc, argv, dir);
    return keep(dir, fd, &spare);
}
