/* Programs run beside a container's, in its view: probes, hooks, kubectl exec. */

#include "sandbox/ward.h"

#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void report_end(struct ward *w, const struct ward_exec *x, const char *why)
{
    int code = WIFEXITED(x->status) ? WEXITSTATUS(x->status) : 128 + WTERMSIG(x->status);

    ward_tell(w, -1, "exec_exited", { "id", .number = x->id }, { "code", .number = code },
              { "why", .text = why, .none = !why });
}

static void tell_tty(struct ward *w, int64_t id, int fd)
{
    ward_tell(w, fd, "exec_tty", { "id", .number = id });
}

static void refuse(struct ward *w, int64_t id, const char *why)
{
    struct ward_exec x = { .id = id, .status = 126 << 8 };

    report_end(w, &x, why);
}

static void on_packet(struct ward *w, struct ward_exec *x, const char *packet, size_t n, int fd)
{
    char why[512];

    switch ((enum warden_word)packet[0]) {
    case MINDER_EVENT_STARTED:
        break;
    case MINDER_EVENT_TTY:
        tell_tty(w, x->id, fd);
        break;
    case MINDER_EVENT_FAILED:
        str_clip_z(why, sizeof(why), (str){ packet + 1, (size_t)n - 1 });
        x->status = 126 << 8;
        x->told = true;
        report_end(w, x, why);
        break;
    case MINDER_EVENT_EXITED:
        if (n < 1 + sizeof(x->status))
            break;
        memcpy(&x->status, packet + 1, sizeof(x->status));
        x->told = true;
        report_end(w, x, NULL);
        break;
    }
}

/* One packet; false: there is none. */
static bool hear(struct ward *w, struct ward_source *s)
{
    char packet[512];
    int fds[SYS_FDS];
    size_t nfds;

    ssize_t n = sys_recv_fds(s->fd, packet, sizeof(packet), fds, &nfds);
    if (n < 0 && errno == EAGAIN)
        return false;
    if (n > 0)
        on_packet(w, s->of, packet, (size_t)n, nfds ? fds[0] : -1);
    for (size_t i = 0; n > 0 && i < nfds; i++)
        close(fds[i]);
    if (n <= 0)
        ward_unwatch(w, s);
    return n > 0;
}

static void on_exec(struct ward *w, void *of)
{
    hear(w, of);
}

static struct warden_list join_env(struct arena *a, const struct warden_list *x,
                                   const struct warden_list *y)
{
    struct warden_list l = { .at = ARENA_ARRAY(a, const char *, x->n + y->n + 1) };

    for (size_t i = 0; i < x->n; i++)
        l.at[l.n++] = x->at[i];
    for (size_t i = 0; i < y->n; i++)
        l.at[l.n++] = y->at[i];
    return l;
}

static int launch(struct ward *w, struct ward_exec *x, struct warden_minder *m, struct err *e)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return err_sys(e, "socketpair");
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    m->sock = pair[1];
    warden_cgroup_open(&x->box->cgroup, m->run.cgroups);
    x->minder = sys_clone(0, NULL);
    if (x->minder == 0)
        warden_minder_run(m);
    for (int i = 0; i < WARDEN_CGROUPS; i++)
        if (m->run.cgroups[i] >= 0)
            close(m->run.cgroups[i]);
    close(pair[1]);
    x->sock = (struct ward_source){ .fd = pair[0], .ready = on_exec, .of = x };
    if (x->minder < 0) {
        close(pair[0]);
        return err_sys(e, "start a process");
    }
    ward_watch(w, &x->sock, EPOLLIN);
    return 0;
}

static int start_exec(struct ward *w, struct arena *a, const struct warden_exec *req,
                      const int fds[3], struct err *e)
{
    struct ward_box *b = ward_find(w, req->container);

    if (!b || b->phase != WARD_RUNNING)
        return err_set(e, ERR_CONFLICT, "container is not running");
    if (!req->tty && fds[2] < 0)
        return err_set(e, ERR_BAD_REQUEST, "three descriptors must come with it");
    struct ward_exec *x = mem_new(sizeof(*x));
    *x = (struct ward_exec){ .id = req->id, .box = b, .tty = req->tty };
    struct warden_minder m = {
        .run = { .sandbox = &w->sandbox,
                 .start = &b->start,
                 .argv = req->argv,
                 .env = join_env(a, &b->start.env, &req->env),
                 .cwd = b->start.cwd,
                 .stdio = { fds[0], fds[1], fds[2] },
                 .cgroups = { -1, -1, -1, -1 } },
        .is_exec = true,
        .join = w->sandbox.shared ? -1 : b->minder_fd,
        .tty = req->tty,
        .rows = req->rows,
        .cols = req->cols,
    };
    if (launch(w, x, &m, e) < 0) {
        free(x);
        return -1;
    }
    vec_push(&w->execs, x);
    return 0;
}

void ward_exec(struct ward *w, str m)
{
    AUTO(arena) struct arena *a = arena_new();
    struct warden_exec req;
    struct err e = { 0 };
    int rc = warden_exec_read(a, m, &req, &e);
    int fds[3] = { -1, -1, -1 };

    for (int i = 0; i < 3 && !req.tty; i++) /* they came with it, even when it is refused */
        fds[i] = msgsock_take_fd(&w->wire);
    if (rc == 0)
        rc = start_exec(w, a, &req, fds, &e);
    for (int i = 0; i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    if (rc < 0)
        refuse(w, req.id, e.msg);
}

void ward_input(struct ward *w, str m)
{
    struct ward_exec x = { .id = record_get_int(m, "id", 0) };
    const struct ward_box *b = ward_find(w, str_of(record_get(m, "container")));

    if (!b || b->in < 0 || b->phase != WARD_RUNNING) {
        refuse(w, x.id, "the container's standard input is not open");
        return;
    }
    tell_tty(w, x.id, b->in);
    report_end(w, &x, NULL);
}

/* Of a terminal there is no end: who has one says so by ^D. */
void ward_input_end(struct ward *w, str m)
{
    struct ward_box *b = ward_find(w, str_of(record_get(m, "container")));

    if (!b || b->in < 0 || b->start.tty)
        return;
    close(b->in);
    b->in = -1;
}

static void kill_one(const struct ward_exec *x)
{
    if (x->sock.fd >= 0)
        sys_send_fd(x->sock.fd, "K", 1, -1);
    else
        kill(x->minder, SIGKILL);
}

void ward_exec_kill(struct ward *w, int64_t id)
{
    for (size_t i = 0; i < w->execs.n; i++)
        if (id < 0 || w->execs.at[i]->id == id)
            kill_one(w->execs.at[i]);
}

void ward_exec_kill_of(struct ward *w, const struct ward_box *b)
{
    for (size_t i = 0; i < w->execs.n; i++)
        if (w->execs.at[i]->box == b) {
            kill_one(w->execs.at[i]);
            w->execs.at[i]->box = NULL;
        }
}

bool ward_exec_reaped(struct ward *w, pid_t pid)
{
    for (size_t i = 0; i < w->execs.n; i++) {
        struct ward_exec *x = w->execs.at[i];
        if (x->minder != pid)
            continue;
        while (x->sock.fd >= 0 && hear(w, &x->sock))
            ;
        ward_unwatch(w, &x->sock);
        if (!x->told) {
            x->status = SIGKILL; /* with its minder, which was asked to, or died */
            report_end(w, x, NULL);
        }
        free(x);
        w->execs.at[i] = w->execs.at[--w->execs.n];
        return true;
    }
    return false;
}
