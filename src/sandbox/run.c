/* Becomes the user's program: limits, identity, descriptors, capabilities, exec. */

#include "sandbox/run.h"

#include "sandbox/caps.h"
#include "sandbox/filter.h"
#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Takes on the identity, the capabilities and the filter. An ordinary user's processes have the
 * capabilities of their user namespace alone, and at level shared none. */
static int become(const struct warden_run *r, struct err *e)
{
    const struct warden_start *s = r->start;
    gid_t gid = s->gid >= 0 ? (gid_t)s->gid : getegid();
    uid_t uid = s->uid >= 0 ? (uid_t)s->uid : geteuid();
    uint64_t keep = s->privileged ? WARDEN_CAPS_ALL : (uint64_t)s->caps;
    bool root = geteuid() == 0;

    if (root && setgroups(s->ngroups, s->groups) < 0 && errno != EPERM) /* of a user namespace */
        return err_sys(e, "set supplementary groups");
    warden_caps_bound(keep);
    /* Needs CAP_SYS_ADMIN or no_new_privs, and lets pass all that follows. */
    if (!s->privileged && !s->unconfined && warden_filter_set(keep, e) < 0)
        return -1;
    if (root && setresgid(gid, gid, gid) < 0)
        return err_sys(e, "run as group %u", (unsigned)gid);
    if (root && setresuid(uid, uid, uid) < 0)
        return err_sys(e, "run as user %u", (unsigned)uid);
    return warden_caps_set(keep, (uint64_t)s->ambient, e);
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

/* The program that a script's first line names; "": it is no script. */
static void read_interpreter(const char *file, char *out, size_t size)
{
    char line[PATH_MAX] = "";
    AUTO(sys_fd) int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
    const char *at = line + 2;

    *out = 0;
    if (n < 2 || line[0] != '#' || line[1] != '!')
        return;
    at += strspn(at, " \t");
    snprintf(out, size, "%.*s", (int)strcspn(at, " \t\r\n"), at);
}

/* A file that is there, and still does not run: the system's words mislead. */
static void explain_exec(const char *file, int why, struct err *e)
{
    char interpreter[128];
    struct stat st;

    errno = why;
    err_sys(e, "exec %s", file);
    if (stat(file, &st) < 0)
        return;
    if (why == EACCES && S_ISDIR(st.st_mode))
        err_set(e, ERR_INVALID, "exec %s: it is a directory", file);
    else if (why == EACCES && !(st.st_mode & 0111))
        err_set(e, ERR_INVALID,
                "exec %s: Permission denied: the file is not executable; use chmod +x, or start it "
                "with its interpreter",
                file);
    else if (why == ENOEXEC)
        err_set(e, ERR_INVALID,
                "exec %s: it is neither a program nor a script that begins with #! and its "
                "interpreter",
                file);
    if (why != ENOENT)
        return;
    read_interpreter(file, interpreter, sizeof(interpreter));
    if (*interpreter)
        err_set(e, ERR_INVALID, "exec %s: its interpreter %s does not exist", file, interpreter);
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
    explain_exec(file, why, e);
}

void warden_run_exec(const struct warden_run *r, struct err *e)
{
    const struct warden_start *s = r->start;

    for (size_t i = 0; i < COUNT(r->cgroups); i++)
        if (r->cgroups[i] >= 0 && write(r->cgroups[i], "0", 1) < 0) {
            err_sys(e, "join the cgroup");
            return;
        }
    if (set_stdio(r, e) < 0)
        return;
    set_signals();
    umask(022);
    /* Without namespaces a setuid program would have the machine's files: it gives nothing there.
     */
    if ((s->no_new_privs || r->sandbox->shared) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
        err_sys(e, "no_new_privs");
        return;
    }
    if (become(r, e) < 0)
        return;
    if (chdir(r->cwd ? r->cwd : "/") < 0) {
        err_sys(e, "working directory %s", r->cwd);
        return;
    }
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    exec_program(r, e);
}
