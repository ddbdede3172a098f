/* Containers: started through a minder, their output pumped, their end recorded. */

#include "sandbox/ward.h"

#include "sandbox/env.h"
#include "sandbox/links.h"
#include "sandbox/memory.h"
#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_READS = 32 }; /* of 64 KiB: a pipe has at most 1 MiB */

struct ward_box *ward_find(const struct ward *w, str name)
{
    for (size_t i = 0; i < w->boxes.n; i++)
        if (str_eq(w->boxes.at[i]->start.name, name))
            return w->boxes.at[i];
    return NULL;
}

bool ward_is_live(const struct ward_box *b)
{
    return b->phase == WARD_STARTING || b->phase == WARD_RUNNING;
}

static void tell_failed(struct ward *w, const struct ward_box *b)
{
    ward_tell(w, -1, "failed", { "name", .text = b->start.name.p },
              { "attempt", .number = b->start.attempt }, { "why", .text = b->why });
}

static void tell_started(struct ward *w, const struct ward_box *b)
{
    ward_tell(w, -1, "started", { "name", .text = b->start.name.p },
              { "attempt", .number = b->start.attempt }, { "pid", .number = b->pid },
              { "at_ms", .number = b->started_ms });
}

static void tell_exited(struct ward *w, const struct ward_box *b)
{
    ward_tell(w, -1, "exited", { "name", .text = b->start.name.p },
              { "attempt", .number = b->start.attempt }, { "code", .number = b->code },
              { "signal", .number = b->signo }, { "at_ms", .number = b->finished_ms },
              { "oom", .number = b->oom });
}

/* What is left in the pipe, and no more: another program may have its other end, and go on. */
static void drain(struct ward_box *b, int i)
{
    static char text[64 * 1024];

    for (int turn = 0; turn < MOST_READS; turn++) {
        ssize_t n = read(b->out[i].fd, text, sizeof(text));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        warden_log_add(&b->log, &b->stream[i], (str){ text, (size_t)n });
    }
}

static void on_output(struct ward *w, void *of)
{
    static char text[64 * 1024];
    struct ward_source *s = of;
    struct ward_box *b = s->of;
    int i = s == &b->out[1];

    ssize_t n = read(s->fd, text, sizeof(text)); /* once: others wait, too */
    if (n > 0)
        warden_log_add(&b->log, &b->stream[i], (str){ text, (size_t)n });
    else if (n == 0 || errno == EIO) /* of a terminal that nobody has open any more */
        ward_unwatch(w, s);
}

/* Its terminal: what is printed comes from there, and input goes there. */
static void on_tty(struct ward *w, struct ward_box *b, int master)
{
    fcntl(master, F_SETFL, fcntl(master, F_GETFL) | O_NONBLOCK);
    b->in = fcntl(master, F_DUPFD_CLOEXEC, 3);
    b->out[0].fd = master;
    ward_watch(w, &b->out[0], EPOLLIN);
}

/* The number that a pidfd's process has on the machine; 0: it is gone already. */
static int64_t host_pid(const struct ward *w, int pidfd)
{
    char file[64];
    char text[512];

    snprintf(file, sizeof(file), "self/fdinfo/%d", pidfd);
    if (sys_read_file(w->host_proc, file, text, sizeof(text)) < 0)
        return 0;
    const char *at = strstr(text, "\nPid:");
    int64_t pid = at ? strtol(at + 5, NULL, 10) : 0;
    return pid > 0 ? pid : 0;
}

static void on_started(struct ward *w, struct ward_box *b, pid_t pid, int pidfd)
{
    b->main_fd = pidfd;
    b->pid = w->sandbox.shared ? pid : host_pid(w, pidfd);
    b->phase = WARD_RUNNING;
    b->started_ms = sys_now_ms();
    b->watch_at = sys_tick_ms() + 100;
    ward_save(w);
    tell_started(w, b);
    if (w->ending)
        sys_pidfd_signal(b->main_fd, SIGTERM);
    ward_hide_resume(w);
}

static void set_status(struct ward_box *b, int status)
{
    b->told = true;
    b->finished_ms = sys_now_ms();
    b->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    b->signo = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* One packet; false: there is none. */
static bool hear_minder(struct ward *w, struct ward_box *b)
{
    struct ward_source *s = &b->sock;
    char packet[512];
    int fds[SYS_FDS];
    size_t nfds;
    int status;
    pid_t pid;

    ssize_t n = sys_recv_fds(s->fd, packet, sizeof(packet), fds, &nfds);
    if (n < 0 && errno == EAGAIN)
        return false;
    if (n <= 0) { /* it ends: SIGCHLD says when */
        ward_unwatch(w, s);
        return false;
    }
    for (size_t i = 1; i < nfds; i++)
        close(fds[i]);
    switch ((enum warden_word)packet[0]) {
    case MINDER_EVENT_STARTED:
        if (nfds == 0 || n < 1 + (ssize_t)sizeof(pid))
            break;
        memcpy(&pid, packet + 1, sizeof(pid));
        on_started(w, b, pid, fds[0]);
        break;
    case MINDER_EVENT_FAILED:
        str_clip_z(b->why, sizeof(b->why), (str){ packet + 1, (size_t)n - 1 });
        break;
    case MINDER_EVENT_EXITED:
        if (n < 1 + (ssize_t)sizeof(status))
            break;
        memcpy(&status, packet + 1, sizeof(status));
        set_status(b, status);
        break;
    case MINDER_EVENT_TTY:
        if (nfds)
            on_tty(w, b, fds[0]);
        break;
    }
    return true;
}

static void on_minder(struct ward *w, void *of)
{
    const struct ward_source *s = of;

    hear_minder(w, s->of);
}

static void release_box(struct ward *w, struct ward_box *b)
{
    ward_unwatch(w, &b->sock);
    for (int i = 0; i < 2; i++) {
        if (b->out[i].fd >= 0)
            drain(b, i);
        ward_unwatch(w, &b->out[i]);
        warden_log_end(&b->log, &b->stream[i]);
    }
    warden_log_done(&b->log);
    if (b->in >= 0)
        close(b->in);
    b->in = -1;
    if (b->minder_fd >= 0)
        close(b->minder_fd);
    if (b->main_fd >= 0)
        close(b->main_fd);
    b->minder_fd = b->main_fd = -1;
    b->minder = 0;
}

void ward_box_reaped(struct ward *w, struct ward_box *b, int status)
{
    while (b->sock.fd >= 0 && hear_minder(w, b)) /* its last words */
        ;
    ward_exec_kill_of(w, b);
    release_box(w, b);
    if (b->phase == WARD_STARTING) {
        if (!b->why[0])
            snprintf(b->why, sizeof(b->why), "ended before its program began (status %d)", status);
        b->phase = WARD_FAILED;
        b->finished_ms = sys_now_ms();
    } else {
        if (!b->told)
            set_status(b, SIGKILL);
        b->phase = WARD_EXITED;
        b->oom = b->oom || (b->signo == SIGKILL && warden_cgroup_oom(&b->cgroup));
    }
    warden_cgroup_kill(&b->cgroup);
    warden_cgroup_remove(&b->cgroup);
    ward_hide_resume(w);
    ward_save(w);
    if (b->phase == WARD_FAILED)
        tell_failed(w, b);
    else
        tell_exited(w, b);
}

/* The minder's end takes the container's namespace along; without one it is asked to kill. */
void ward_box_kill(struct ward_box *b)
{
    if (b->minder <= 0)
        return;
    warden_cgroup_kill(&b->cgroup);
    if (b->view.sandbox->shared)
        sys_send_fd(b->sock.fd, "K", 1, -1);
    else
        sys_pidfd_signal(b->minder_fd, SIGKILL);
}

static void ward_box_free(struct ward *w, struct ward_box *b)
{
    release_box(w, b);
    warden_cgroup_done(&b->cgroup);
    arena_free(b->a);
    free(b);
}

/* Mounts of level shared, and where the termination message really goes. */
static int link_mounts(struct ward_box *b, struct warden_minder *m, struct err *e)
{
    AUTO(buf) struct buf moves = { 0 };
    const struct warden_start *s = &b->start;

    if (warden_links_make(&b->view, &moves, e) < 0)
        return -1;
    if (s->term_from && s->term_to)
        buf_printf(&moves, "%s\n%s\n", s->term_to, s->term_from);
    if (moves.n && b->view.sandbox->preload) {
        b->start.env.at[b->start.env.n++] =
            arena_printf(b->a, "MUSTER_PATHS=%" PRI_STR, STR_ARG(buf_str(&moves))).p;
        m->run.env = b->start.env;
    }
    return 0;
}

enum { LOG_BYTES = 10 << 20, LOG_FILES = 5 };

static int prepare(struct ward *w, struct ward_box *b, struct warden_minder *m, struct err *e)
{
    const struct warden_start *s = &b->start;
    bool kept = false;

    if (warden_log_open(&b->log, s->log, LOG_BYTES, LOG_FILES, e) < 0)
        return -1;
    b->log.live = s->input || s->tty;
    if (s->term_from) {
        int fd = open(s->term_from, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (fd < 0)
            return err_sys(e, "termination log %s", s->term_from);
        if (s->uid > 0 && fchown(fd, (uid_t)s->uid, (gid_t)-1) < 0)
            (void)errno; /* open to all as it is */
        close(fd);
    }
    if (w->sandbox.shared) {
        char tmp[PATH_MAX];
        snprintf(tmp, sizeof(tmp), "%s/tmp/%" PRI_STR, w->dir, STR_ARG(s->name));
        if (sys_mkdirs(tmp, 0755) < 0 || chmod(tmp, 01777) < 0)
            return err_sys(e, "make %s", tmp);
        if (link_mounts(b, m, e) < 0)
            return -1;
    }
    if (warden_cgroup_make(&b->cgroup, false, e) < 0 ||
        warden_cgroup_limit(&b->cgroup, &s->limits, &kept, e) < 0)
        return -1;
    b->watch = s->limits.memory_bytes && !kept;
    warden_cgroup_open(&b->cgroup, m->run.cgroups);
    return 0;
}

/* Standard input, output and error, unless the minder opens a terminal for all. */
static int open_stdio(struct ward_box *b, struct warden_minder *m, struct err *e)
{
    int ends[2];

    for (int i = 0; i < 2; i++) {
        if (pipe2(ends, O_CLOEXEC) < 0)
            return err_sys(e, "pipe");
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        b->out[i].fd = ends[0];
        m->run.stdio[i + 1] = ends[1];
    }
    if (b->start.input) {
        if (pipe2(ends, O_CLOEXEC) < 0)
            return err_sys(e, "pipe");
        m->run.stdio[0] = ends[0];
        b->in = ends[1];
        fcntl(b->in, F_SETFL, O_NONBLOCK);
        return 0;
    }
    m->run.stdio[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return m->run.stdio[0] < 0 ? err_sys(e, "open /dev/null") : 0;
}

/* Ends of pipes and of the socket to the minder. theirs: to be closed here, whatever happens. */
static int connect_up(struct ward_box *b, struct warden_minder *m, struct err *e)
{
    int pair[2];

    if (!b->start.tty && open_stdio(b, m, e) < 0)
        return -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return err_sys(e, "socketpair");
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    b->sock.fd = pair[0];
    m->sock = pair[1];
    return 0;
}

static void close_theirs(const struct warden_minder *m)
{
    for (int i = 0; i < 3; i++)
        if (m->run.stdio[i] >= 0)
            close(m->run.stdio[i]);
    for (int i = 0; i < WARDEN_CGROUPS; i++)
        if (m->run.cgroups[i] >= 0)
            close(m->run.cgroups[i]);
    if (m->sock >= 0)
        close(m->sock);
}

/* The first container of a pod waits until what it is started from is in the pod's group. */
static int await_group(struct ward *w, struct err *e)
{
    char word = 0;

    if (w->sandbox.joined < 0)
        return 0;
    while (read(w->sandbox.joined, &word, 1) < 0 && errno == EINTR)
        ;
    if (word != 'y')
        return err_set(e, ERR_IO, "the pod cannot join its control group");
    close(w->sandbox.joined);
    w->sandbox.joined = -1;
    return 0;
}

static int launch(struct ward *w, struct ward_box *b, struct err *e)
{
    struct warden_minder m = {
        .sock = -1,
        .join = -1,
        .run = { .sandbox = &w->sandbox,
                 .start = &b->start,
                 .argv = b->start.argv,
                 .env = b->start.env,
                 .cwd = b->start.cwd,
                 .stdio = { -1, -1, -1 },
                 .cgroups = { -1, -1, -1, -1 } },
        .view = w->sandbox.shared ? NULL : &b->view,
        .tty = b->start.tty,
    };
    int rc = prepare(w, b, &m, e);

    if (rc == 0)
        rc = connect_up(b, &m, e);
    if (rc == 0)
        rc = await_group(w, e);
    if (rc == 0) {
        b->minder = sys_clone(w->sandbox.shared ? 0 : CLONE_NEWPID | CLONE_NEWNS, &b->minder_fd);
        if (b->minder == 0)
            warden_minder_run(&m);
        if (b->minder < 0)
            rc = err_sys(e, "start the container's process");
    }
    close_theirs(&m);
    if (rc < 0)
        return -1;
    ward_watch(w, &b->sock, EPOLLIN);
    for (int i = 0; i < 2; i++)
        if (b->out[i].fd >= 0)
            ward_watch(w, &b->out[i], EPOLLIN);
    return 0;
}

static struct ward_box *box_new(struct ward *w, struct arena *a)
{
    struct ward_box *b = mem_new(sizeof(*b));

    b->a = a;
    b->minder_fd = b->main_fd = b->log.fd = b->in = -1;
    b->sock = (struct ward_source){ .fd = -1, .ready = on_minder, .of = b };
    for (int i = 0; i < 2; i++) {
        b->out[i] = (struct ward_source){ .fd = -1, .ready = on_output, .of = b };
        b->stream[i].name = i ? "stderr" : "stdout";
    }
    b->view = (struct warden_view){ .sandbox = &w->sandbox, .start = &b->start, .dir = w->dir };
    return b;
}

static void put_box(struct ward *w, struct ward_box *b)
{
    for (size_t i = 0; i < w->boxes.n; i++)
        if (str_eq(w->boxes.at[i]->start.name, b->start.name)) {
            ward_box_free(w, w->boxes.at[i]);
            w->boxes.at[i] = b;
            return;
        }
    vec_push(&w->boxes, b);
}

void ward_start(struct ward *w, str m)
{
    struct ward_box *b = box_new(w, arena_new());
    struct err e = { 0 };
    int rc = warden_start_read(b->a, m, &b->start, &e);
    struct ward_box *old = rc < 0 ? NULL : ward_find(w, b->start.name);

    if (rc == 0 && w->ending)
        rc = err_set(&e, ERR_CONFLICT, "the pod is ending");
    /* Told twice (the node died in between): it runs already, and is not started again. */
    if (old && (ward_is_live(old) || old->start.attempt == b->start.attempt)) {
        ward_box_free(w, b);
        return;
    }
    if (rc == 0) {
        b->cgroup = warden_cgroup_of(&w->sandbox, b->start.name);
        b->start.env = warden_env(b->a, &w->sandbox, &b->start, w->dir);
        put_box(w, b);
        rc = launch(w, b, &e);
        if (rc == 0)
            return;
    }
    if (ward_find(w, b->start.name) != b && b->start.argv.at)
        put_box(w, b);
    release_box(w, b);
    b->phase = WARD_FAILED;
    b->finished_ms = sys_now_ms();
    snprintf(b->why, sizeof(b->why), "%s", e.msg);
    warden_cgroup_remove(&b->cgroup);
    ward_save(w);
    tell_failed(w, b);
    if (ward_find(w, b->start.name) != b)
        ward_box_free(w, b);
}

enum { YOUNG_MS = 10 * 1000 };

/* The fuller, the more often; and often while it is young, when most of it is taken. */
static int64_t next_look(const struct ward_box *b, int64_t now, int64_t have)
{
    int64_t limit = b->start.limits.memory_bytes;
    bool young = sys_now_ms() - b->started_ms < YOUNG_MS;

    return now + (have > limit / 2 ? 100 : have > limit / 4 || young ? 200 : 1000);
}

int64_t ward_look(struct ward *w, int64_t now)
{
    int64_t next = INT64_MAX;

    for (size_t i = 0; i < w->boxes.n; i++) {
        struct ward_box *b = w->boxes.at[i];
        int64_t limit = b->start.limits.memory_bytes;
        if (!b->watch || b->phase != WARD_RUNNING || b->oom)
            continue;
        if (b->watch_at <= now) {
            int64_t have = warden_memory_below(w->proc, b->minder, limit);
            b->oom = have > limit;
            if (b->oom && b->main_fd >= 0)
                sys_pidfd_signal(b->main_fd, SIGKILL);
            b->watch_at = next_look(b, now, have);
        }
        next = b->watch_at < next ? b->watch_at : next;
    }
    return next;
}
