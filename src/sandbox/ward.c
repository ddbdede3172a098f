/* The loop of the process that holds a pod: the node's messages, its children's ends, time. */

#include "sandbox/ward.h"

#include "sandbox/links.h"
#include "sandbox/state.h"
#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXECS_MS = 10 * 1000, MOST_ANCESTORS = 1024 };

void ward_watch(struct ward *w, struct ward_source *s, uint32_t events)
{
    struct epoll_event ev = { .events = events, .data.ptr = s };

    epoll_ctl(w->ep, EPOLL_CTL_ADD, s->fd, &ev);
}

void ward_unwatch(struct ward *w, struct ward_source *s)
{
    if (s->fd < 0)
        return;
    epoll_ctl(w->ep, EPOLL_CTL_DEL, s->fd, NULL);
    close(s->fd);
    s->fd = -1;
}

/* ---- what is known */

static void add_box(struct buf *b, const struct ward_box *box)
{
    bool failed = box->phase == WARD_FAILED, ended = !failed && !ward_is_live(box);

    record_put(b, { "container", .text = box->start.name.p },
               { "container.attempt", .number = box->start.attempt },
               { "container.pid", .number = box->pid, .none = !box->pid },
               { "container.started_ms", .number = box->started_ms, .none = !box->started_ms },
               { "container.finished_ms", .number = box->finished_ms, .none = !ended && !failed },
               { "container.code", .number = box->code, .none = !ended },
               { "container.signal", .number = box->signo, .none = !ended },
               { "container.oom", .number = 1, .none = !box->oom },
               { "container.failed", .text = box->why, .none = !failed });
}

static void add_state(struct buf *b, const struct ward *w)
{
    record_put(b, { "version", .number = WARDEN_VERSION }, { "uid", .text = w->sandbox.uid.p },
               { "boot_id", .text = w->boot_id.p ? w->boot_id.p : "" }, { "pid", .number = w->pid },
               { "born", .number = w->born },
               { "ip", .text = w->sandbox.ip, .none = !*w->sandbox.ip },
               { "ended_ms", .number = sys_now_ms(), .none = !w->ended },
               { "idle", .number = 1, .none = !w->ended || !w->was_idle },
               { "why", .text = w->end_why, .none = !w->ended || !w->end_why });
    for (size_t i = 0; i < w->boxes.n; i++)
        add_box(b, w->boxes.at[i]);
}

void ward_save(struct ward *w)
{
    AUTO(buf) struct buf b = { 0 };
    struct err e = { 0 };

    add_state(&b, w);
    if (sys_replace_file(w->dirfd, "state", buf_str(&b), &e) < 0)
        fprintf(stderr, "state: %s\n", e.msg);
}

/* ---- the node */

static void hang_up(struct ward *w)
{
    if (w->conn.fd >= 0)
        epoll_ctl(w->ep, EPOLL_CTL_DEL, w->conn.fd, NULL);
    w->conn.fd = -1;
    msgsock_done(&w->wire); /* it comes again, and is told everything */
}

static void mind_writing(struct ward *w)
{
    struct epoll_event ev = { .events = EPOLLIN | (msgsock_waits(&w->wire) ? EPOLLOUT : 0u),
                              .data.ptr = &w->conn };

    epoll_ctl(w->ep, EPOLL_CTL_MOD, w->conn.fd, &ev);
}

void ward_say(struct ward *w, const struct buf *event, int fd)
{
    if (w->conn.fd < 0)
        return;
    if (msgsock_say(&w->wire, buf_str(event), &fd, fd >= 0) < 0)
        hang_up(w);
    else
        mind_writing(w);
}

static void take_signal(struct ward *w, str m)
{
    const struct ward_box *b = ward_find(w, str_of(record_get(m, "name")));
    int64_t signo = record_get_int(m, "signo", 0);

    if (b && b->main_fd >= 0 && signo > 0 && signo < NSIG)
        sys_pidfd_signal(b->main_fd, (int)signo);
}

static bool any_live(const struct ward *w)
{
    for (size_t i = 0; i < w->boxes.n; i++)
        if (w->boxes.at[i]->minder > 0)
            return true;
    return false;
}

static void begin_end(struct ward *w, int64_t grace_ms, const char *why)
{
    int64_t at = sys_tick_ms() + grace_ms;

    if (!w->ending || at < w->end_at)
        w->end_at = at;
    w->end_why = w->end_why ? w->end_why : why;
    w->was_idle = w->ending ? w->was_idle : !any_live(w);
    for (size_t i = 0; !w->ending && i < w->boxes.n; i++)
        if (w->boxes.at[i]->main_fd >= 0)
            sys_pidfd_signal(w->boxes.at[i]->main_fd, SIGTERM);
    w->ending = true;
}

static void take_end(struct ward *w, str m)
{
    int64_t grace = record_get_int(m, "grace_ms", 0);

    begin_end(w, grace < 0 ? 0 : grace > INT32_MAX ? INT32_MAX : grace, "ended by the node");
}

static void take_exec_kill(struct ward *w, str m)
{
    ward_exec_kill(w, record_get_int(m, "id", 0));
}

static void take_message(struct ward *w, str m)
{
    static const struct {
        const char *what;
        void (*take)(struct ward *w, str m);
    } known[] = {
        { "start", ward_start }, { "signal", take_signal },
        { "exec", ward_exec },   { "exec_kill", take_exec_kill },
        { "input", ward_input }, { "input_end", ward_input_end },
        { "end", take_end },
    };
    const char *what = record_get(m, "do");

    for (size_t i = 0; record_is_whole(m) && i < COUNT(known); i++)
        if (strcmp(known[i].what, what) == 0) {
            known[i].take(w, m);
            return;
        }
    fprintf(stderr, "unknown request '%.32s' from the node\n", what);
}

static void on_conn(struct ward *w, void *of)
{
    struct err e = { 0 };
    str message;

    (void)of;
    int rc = msgsock_fill(&w->wire, &e);
    while (w->conn.fd >= 0 && msgsock_next(&w->wire, &message))
        take_message(w, message);
    if (w->conn.fd < 0) /* hung up meanwhile */
        return;
    if (rc == 0)
        rc = msgsock_used(&w->wire, &e);
    if (rc >= 0 && msgsock_flush(&w->wire) >= 0) {
        mind_writing(w);
        return;
    }
    hang_up(w);
    if (w->sandbox.with_node)
        begin_end(w, 0, "its node is gone");
}

static void take_conn(struct ward *w, int fd)
{
    AUTO(buf) struct buf b = { 0 };

    hang_up(w); /* there is one node, and this is it */
    fcntl(fd, F_SETFL, O_NONBLOCK);
    msgsock_init(&w->wire, fd);
    w->conn = (struct ward_source){ .fd = fd, .ready = on_conn };
    ward_watch(w, &w->conn, EPOLLIN);
    record_add(&b, "event", S("hello"));
    add_state(&b, w);
    ward_say(w, &b, -1);
}

static bool is_keeper(const struct ward *w, pid_t pid)
{
    char file[32];
    char name[32];

    snprintf(file, sizeof(file), "%d/comm", (int)pid);
    return sys_read_file(w->proc, file, name, sizeof(name)) > 0 &&
           strncmp(name, WARD_KEEPER "\n", sizeof(WARD_KEEPER)) == 0;
}

/* Whether our keeper descends from it, as it does when muster itself runs in a pod. */
static bool is_above_keeper(const struct ward *w, pid_t pid)
{
    pid_t at = sys_parent(w->proc, getppid());

    while (at > 0 && at != pid)
        at = sys_parent(w->proc, at);
    return at == pid;
}

/* Whether it descends from a keeper, ours or another's; so does one that is gone, or too far down
 * to be looked for. */
static bool descends_from_keeper(const struct ward *w, pid_t pid)
{
    int depth = 0;

    for (; pid > 0 && depth < MOST_ANCESTORS; pid = sys_parent(w->proc, pid), depth++) {
        if (is_keeper(w, pid) && !is_above_keeper(w, pid))
            return true;
        if (pid == 1 || pid == getpid())
            break;
    }
    return pid <= 0 || depth == MOST_ANCESTORS;
}

/* A program of a pod has nothing to ask for, and would take the node's place. In namespaces it has
 * a number in ours, which the node has not; without them it is known by its ancestors, as keepers,
 * wards and minders adopt what pods leave. */
static bool is_stranger(const struct ward *w, int fd)
{
    struct ucred who = { 0 };
    socklen_t n = sizeof(who);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0 || who.uid != geteuid())
        return true;
    return w->sandbox.shared ? descends_from_keeper(w, who.pid) : who.pid != 0;
}

static void on_listen(struct ward *w, void *of)
{
    (void)of;
    int fd = accept4(w->listen.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (is_stranger(w, fd))
        close(fd);
    else
        take_conn(w, fd);
}

/* ---- children */

static void reap(struct ward *w)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
        if (ward_exec_reaped(w, pid))
            continue;
        for (size_t i = 0; i < w->boxes.n; i++)
            if (w->boxes.at[i]->minder == pid) {
                ward_box_reaped(w, w->boxes.at[i], status);
                break;
            }
    }
}

static void on_signal(struct ward *w, void *of)
{
    struct signalfd_siginfo info;

    (void)of;
    while (read(w->signals.fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
        if (info.ssi_signo != SIGCHLD)
            begin_end(w, 0, "the pod's keeper was killed");
    reap(w);
}

/* ---- the end */

__attribute__((noreturn)) static void finish(struct ward *w)
{
    struct warden_cgroup pod = warden_cgroup_of(&w->sandbox, STR_NONE);

    if (w->sandbox.shared)
        sys_kill_all();
    if (!pod.flat)                  /* else we are in it ourselves */
        warden_cgroup_remove(&pod); /* the keeper does all this, too, unless it was killed */
    warden_links_remove(w->dir);
    unlinkat(w->dirfd, "ctl", 0);
    w->ended = true;
    ward_save(w);
    ward_tell(w, -1, "ended", { "version", .number = WARDEN_VERSION });
    _exit(0);
}

/* Each was told to end when its container was gone; who asked for it is to hear how it ended. One
 * that does not is not waited for long: finish() kills it. */
static bool execs_are_over(struct ward *w, int64_t now)
{
    if (w->execs.n && !w->execs_end_at)
        w->execs_end_at = now + EXECS_MS;
    return !w->execs.n || now >= w->execs_end_at;
}

static void go_on_ending(struct ward *w, int64_t now)
{
    if (!any_live(w) && execs_are_over(w, now))
        finish(w);
    if (w->killed || now < w->end_at)
        return;
    w->killed = true;
    ward_exec_kill(w, -1);
    for (size_t i = 0; i < w->boxes.n; i++)
        ward_box_kill(w->boxes.at[i]);
}

static int wait_ms(const struct ward *w, int64_t now, int64_t look_at)
{
    int64_t at = w->ending && !w->killed && w->end_at < look_at ? w->end_at : look_at;

    if (w->execs_end_at && w->execs_end_at < at)
        at = w->execs_end_at;
    if (at == INT64_MAX)
        return -1;
    return at <= now ? 0 : at - now > INT32_MAX ? INT32_MAX : (int)(at - now);
}

__attribute__((noreturn)) static void loop(struct ward *w)
{
    for (;;) {
        struct epoll_event ev[32];
        int64_t now = sys_tick_ms();
        int64_t look_at = ward_look(w, now);
        if (w->ending)
            go_on_ending(w, now);
        int n = epoll_wait(w->ep, ev, COUNT(ev), wait_ms(w, now, look_at));
        for (int i = 0; i < n; i++) {
            struct ward_source *s = ev[i].data.ptr;
            if (s->fd < 0) /* closed by one before */
                continue;
            s->ready(w, s);
            if (s == &w->signals) /* what the others are part of may be gone: look again */
                break;
        }
    }
}

void ward_run(struct warden_sandbox *s, struct arena *a, const char *dir, int listen, int first,
              int host_proc)
{
    static struct ward ward;
    struct ward *w = &ward;
    sigset_t set;

    *w = (struct ward){ .a = a, .dir = dir, .sandbox = *s, .boot_id = warden_boot_id(a) };
    w->ep = epoll_create1(EPOLL_CLOEXEC);
    w->dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    w->proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    w->host_proc = host_proc;
    char pid[16] = "";
    if (readlinkat(host_proc, "self", pid, sizeof(pid) - 1) > 0)
        w->pid = strtol(pid, NULL, 10);
    w->born = sys_birth_ticks(host_proc, "self");
    w->conn.fd = w->wire.fd = -1;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_SETMASK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    w->signals = (struct ward_source){ .fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC),
                                       .ready = on_signal };
    w->listen = (struct ward_source){ .fd = listen, .ready = on_listen };
    ward_watch(w, &w->signals, EPOLLIN);
    ward_watch(w, &w->listen, EPOLLIN);
    if (!s->shared)
        ward_save(w); /* who looks for the pod's namespaces finds them by its pid */
    ward_hide_start(w);
    if (first >= 0)
        take_conn(w, first);
    loop(w);
}
