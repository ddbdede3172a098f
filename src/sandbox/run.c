/* Becomes the user's program: limits, identity, descriptors, capabilities, exec. */

#include "sandbox/run.h"

#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* What container engines leave to root by default. */
static const int kept_caps[] = {
    CAP_CHOWN,       CAP_DAC_OVERRIDE, CAP_FOWNER,     CAP_FSETID,           CAP_KILL,
    CAP_SETGID,      CAP_SETUID,       CAP_SETPCAP,    CAP_SETFCAP,          CAP_MKNOD,
    CAP_AUDIT_WRITE, CAP_NET_RAW,      CAP_SYS_CHROOT, CAP_NET_BIND_SERVICE,
};

static void drop_caps(void)
{
    uint64_t keep = 0;
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[2] = { 0 };

    for (size_t i = 0; i < COUNT(kept_caps); i++)
        keep |= UINT64_C(1) << kept_caps[i];
    for (int cap = 0; cap <= 63; cap++)
        if (!(keep >> cap & 1) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno == EINVAL)
            break;
    if (syscall(SYS_capget, &head, data) < 0)
        return;
    for (int i = 0; i < 2; i++) {
        data[i].effective &= (uint32_t)(keep >> 32 * i);
        data[i].permitted &= (uint32_t)(keep >> 32 * i);
        data[i].inheritable = 0;
    }
    syscall(SYS_capset, &head, data);
}

/* As another user only where we may: a user namespace of an ordinary user has one. */
static int become(const struct warden_run *r, struct err *e)
{
    const struct warden_start *s = r->start;
    gid_t gid = s->gid >= 0 ? (gid_t)s->gid : getegid();
    uid_t uid = s->uid >= 0 ? (uid_t)s->uid : geteuid();

    if (geteuid() != 0) {
        if (!s->privileged && !r->sandbox->shared)
            drop_caps();
        return 0;
    }
    if (setgroups(s->ngroups, s->groups) < 0 && errno != EPERM) /* root of a user namespace */
        return err_sys(e, "set supplementary groups");
    if (!s->privileged)
        drop_caps();
    if (setresgid(gid, gid, gid) < 0)
        return err_sys(e, "run as group %u", (unsigned)gid);
    if (setresuid(uid, uid, uid) < 0)
        return err_sys(e, "run as user %u", (unsigned)uid);
    return 0;
}

static int set_stdio(const struct warden_run *r, struct err *e)
{
    int fds[3];

    setsid();                     /* a session, and so a process group, of its own */
    for (int i = 0; i < 3; i++) { /* away from 0 to 2 first, so that none covers another */
        fds[i] = fcntl(r->stdio[i], F_DUPFD_CLOEXEC, 3);
        if (fds[i] < 0)
            return err_sys(e, "set up standard input and output");
    }
    for (int i = 0; i < 3; i++)
        if (dup2(fds[i], i) < 0)
            return err_sys(e, "set up standard input and output");
    if (r->tty && ioctl(0, TIOCSCTTY, 0) < 0)
        return err_sys(e, "take the terminal");
    return 0;
}

static void set_signals(void)
{
    sigset_t none;

    signal(SIGPIPE, SIG_DFL); /* the others were never changed */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static const char *path_of(const struct warden_list *env)
{
    for (size_t i = 0; i < env->n; i++)
        if (strncmp(env->at[i], "PATH=", 5) == 0)
            return env->at[i] + 5;
    return DEFAULT_PATH;
}

/* As execvpe, with the container's $PATH. Leaves errno. */
static void exec_by_path(const char *file, const struct warden_run *r)
{
    int why = ENOENT;

    for (str rest = str_of(path_of(&r->env)); rest.p;) {
        char at[PATH_MAX];
        str dir = str_cut(&rest, ':');
        if (dir.n == 0)
            dir = S(".");
        if ((size_t)snprintf(at, sizeof(at), "%" PRI_STR "/%s", STR_ARG(dir), file) >= sizeof(at))
            continue;
        execve(at, (char *const *)(uintptr_t)r->argv.at, (char *const *)(uintptr_t)r->env.at);
        if (errno == EACCES)
            why = EACCES;
        else if (errno != ENOENT && errno != ENOTDIR) {
            why = errno;
            break;
        }
    }
    errno = why;
}

static void exec_program(const struct warden_run *r, struct err *e)
{
    const char *file = r->argv.at[0];
    const char *last = strrchr(file, '/');

    if (!last) {
        exec_by_path(file, r);
        if (errno == ENOENT)
            err_set(e, ERR_NOT_FOUND, "exec: \"%s\": executable file not found in $PATH", file);
        else
            err_sys(e, "exec %s", file);
        return;
    }
    execve(file, (char *const *)(uintptr_t)r->argv.at, (char *const *)(uintptr_t)r->env.at);
    int why = errno;
    /* An image's path that is not on this machine: perhaps its program is. A script whose
     * interpreter is missing says ENOENT, too. */
    if (why == ENOENT && *file == '/' && r->start->any_path && access(file, F_OK) < 0)
        exec_by_path(last + 1, r);
    errno = why;
    err_sys(e, "exec %s", file);
}

void warden_run_exec(const struct warden_run *r, struct err *e)
{
    const struct warden_start *s = r->start;
    char adj[16];

    for (size_t i = 0; i < COUNT(r->cgroups); i++)
        if (r->cgroups[i] >= 0 && write(r->cgroups[i], "0", 1) < 0) {
            err_sys(e, "join the cgroup");
            return;
        }
    snprintf(adj, sizeof(adj), "%d", (int)s->oom_score_adj);
    if (s->oom_score_adj)
        sys_write_file(r->proc, "self/oom_score_adj", adj); /* as far as we may */
    if (set_stdio(r, e) < 0)
        return;
    set_signals();
    umask((mode_t)s->umask);
    if (become(r, e) < 0)
        return;
    if (chdir(r->cwd ? r->cwd : "/") < 0) {
        err_sys(e, "working directory %s", r->cwd);
        return;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
        err_sys(e, "no_new_privs");
        return;
    }
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    exec_program(r, e);
}
