/* ready: from exec of a server to its first answers. The server is left running. */

#include "kbench.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EAGER_MS = 500, EAGER_US = 1000, PATIENT_US = 5000 };

static pid_t spawn(const struct opts *o, struct err *e)
{
    pid_t pid = fork();

    if (pid < 0)
        err_sys(e, "fork");
    if (pid != 0)
        return pid;
    int out = open(o->log ? o->log : "/dev/null", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(in, 0);
    dup2(out, 1);
    dup2(out, 2);
    execvp(o->command[0], o->command);
    _exit(127);
}

static int answers(struct net *n, struct wire *w, const char *path, struct err *e)
{
    struct call c = { .method = "GET", .path = str_of(path) };

    if (net_ask(n, w, &c, NULL, e) < 0)
        return -1;
    return c.status == 200 ? 0 : err_set(e, ERR_UNAVAILABLE, "%s: status %d", path, c.status);
}

/* One try, with all that a client does first. */
static int try(const struct opts *o, int64_t *ready_ns, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new();
    struct target t = { 0 };
    int rc = -1;

    if (target_open(a, o->kubeconfig, &t, e) < 0)
        return -1;
    struct net *n = net_new(&t);
    struct wire *w = net_connect(n, e);
    if (w && answers(n, w, "/readyz", e) == 0) {
        *ready_ns = now_ns();
        rc = answers(n, w, "/api/v1/namespaces/default/pods?limit=1", e);
    }
    net_free(n);
    target_done(&t);
    return rc;
}

int cmd_ready(const struct opts *o, struct err *e)
{
    struct line l = { 0 };
    int64_t began = now_ns();
    int64_t ready = 0;

    if (!o->command || !o->command[0])
        return err_set(e, ERR_INVALID, "ready needs a command after --");
    pid_t pid = spawn(o, e);
    if (pid < 0)
        return -1;
    while (try(o, &ready, e) < 0) {
        int64_t ms = (now_ns() - began) / 1000000;
        if (waitpid(pid, NULL, WNOHANG) == pid)
            return err_set(e, ERR_UNAVAILABLE, "%s ended before it was ready", o->command[0]);
        if (ms > o->timeout_s * 1000) {
            kill(pid, SIGKILL);
            return err_wrap(e, "not ready after %ld s", o->timeout_s);
        }
        usleep(ms < EAGER_MS ? EAGER_US : PATIENT_US);
    }
    line_start(&l, "ready");
    line_int(&l, "pid", pid);
    line_num(&l, "readyz_ms", (double)(ready - began) / 1e6);
    line_num(&l, "answer_ms", (double)(now_ns() - began) / 1e6);
    line_end(&l);
    return 0;
}
